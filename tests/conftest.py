"""A skip whose reason is not on this short list fails the run: a check must not pass because nothing ran."""

from __future__ import annotations

import pytest

ALLOWED = {
    "VVB_REFERENCE is not set": "reference material that a user does not have",
    "no PostgreSQL": "its programs are missing and could not be installed",
    "no Docker engine": "none could be installed or started here; containers alone need it",
    "no npm": "the vendors' agent programs come from its registry",
}


# They mostly wait (for a daemon's ticks, for a deadline): begun last, they would make the run that much longer.
FIRST = (
    *(
        "tests/e2e/test_automation.py",
        "tests/docker/test_deadline.py",
        "tests/e2e/test_backfill.py",
        "tests/e2e/test_ui.py",
        "tests/e2e/test_kill.py",
    ),
    # judges a copy of the starter's home: before the tests that edit it
    *("tests/e2e/test_starter.py", "tests/e2e/test_model_panels_whole.py", "tests/e2e/test_staleness.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first; the workers take groups in this order (--no-loadscope-reorder)."""
    place = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.nodeid.split("::")[0], len(FIRST)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn the exit code of a run with an unlisted skip to failure, and say which it was."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    reasons = {str(report.longrepr[2]) for report in reporter.stats.get("skipped", []) if report.longrepr}
    unlisted = sorted(r for r in reasons if not any(allowed in r for allowed in ALLOWED))
    if unlisted:
        reporter.write_line(f"skipped without a listed reason: {'; '.join(unlisted)}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
