"""Dagster's daemon with a shorter pause between the steps of a backfill: `python -m vvb_assets.daemon run -w FILE`.

A backfill starts the runs of its next stage only when it is looked at again, every 30 s; through the eight stages of
this graph that is minutes of waiting. The pause is a constant of the pinned release without a setting, read anew by
each loop that uses it (dagster/_daemon/backfill.py), so it is set here before Dagster's own command takes over.
`tests/graph/test_daemon.py` sees to it that it is still so in the release in use.
"""

from __future__ import annotations

import os
import sys

from dagster._daemon import controller
from dagster._daemon.cli import main as dagster_daemon

from vvb_resources.errors import StoreError

VARIABLE, SECONDS = "VVB_BACKFILL_SECONDS", 5


def pause_seconds() -> int:
    """Seconds between two looks at a backfill ($VVB_BACKFILL_SECONDS, else 5); raises StoreError for no number."""
    given = os.environ.get(VARIABLE, str(SECONDS))
    if not given.isdigit() or int(given) < 1:
        raise StoreError(f"{given!r} is no number of seconds", where=VARIABLE, remedy="set a whole number above 0")
    return int(given)


def main() -> None:
    """Dagster's daemon command line (`run`, `liveness-check`, ...)."""
    try:
        controller.DEFAULT_DAEMON_INTERVAL_SECONDS = pause_seconds()
    except StoreError as error:
        sys.exit(f"vvb: {error}")
    dagster_daemon()


if __name__ == "__main__":
    main()
