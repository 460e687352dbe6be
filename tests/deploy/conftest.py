"""A real PostgreSQL for the tests of a shared deployment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.server import PostgresServer, find_programs, install_programs
from vvb_assets.event_storage import EVENTS_AT_ONCE
from vvb_resources.store.home import CHECKOUT, Home


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server. Skips, by name, only where PostgreSQL is neither there nor can be installed."""
    programs, said = find_programs(), ""
    if programs is None:
        said = install_programs()
        programs = find_programs()
    if programs is None:
        pytest.skip(f"no PostgreSQL: {said}")
    server = PostgresServer(programs)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def shared_home(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A data home whose Dagster storage is an empty schema of the server, chosen by the environment alone."""
    postgres.empty()
    for name, value in postgres.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VVB_DAGSTER_YAML", str(CHECKOUT / "deploy" / "dagster-postgres.yaml"))
    monkeypatch.setenv("DAGSTER_HOME", "")  # restored after the test: opening an instance sets it
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", str(EVENTS_AT_ONCE))
    return Home(tmp_path, "world")
