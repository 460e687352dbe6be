"""What a step does when Dagster's database goes away while it works: it begins again, and only logs what was made.

A failed partition must not be tried again by itself, so Dagster is told never to retry a step that failed
(`retry_on_asset_or_op_failure`). A lost database would fail a step in the same way, and with it the backfill.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

TRIES, PAUSE_SECONDS = 5, 5.0


def is_database_loss(error: BaseException | None) -> bool:
    """Does an error come from a database that cannot be reached (or, SQLite, that others keep locked)."""
    while error is not None:
        lost = isinstance(error, DBAPIError) and error.connection_invalidated
        if lost or isinstance(error, (OperationalError, InterfaceError)):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def outliving_database_loss() -> Iterator[None]:
    """Within a step: a lost database makes Dagster start the step anew; nothing that is stored is made again.

    Dagster's storage has by then tried for about six seconds. When the database stays away, the process of the run
    ends, which the daemon notices once it is back (launching.py).
    """
    try:
        yield
    except Exception as error:
        if is_database_loss(error):
            raise dg.RetryRequested(max_retries=TRIES, seconds_to_wait=PAUSE_SECONDS) from error
        raise
