"""The daemon's pause between two looks at a backfill, measured in Dagster's own loop."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest
from dagster._daemon import backfill, controller

from vvb_assets import daemon
from vvb_resources.errors import StoreError


class Clock(threading.Event):
    """Notes how long the loop wants to wait, and does not wait."""

    waits: list[float]

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits.append(timeout)
        return True


def test_the_loop_of_the_pinned_release_reads_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(daemon.VARIABLE, "7")
    monkeypatch.setattr(controller, "DEFAULT_DAEMON_INTERVAL_SECONDS", 30)  # put back afterwards
    monkeypatch.setattr(daemon, "dagster_daemon", lambda: None)
    daemon.main()
    monkeypatch.setattr(backfill, "execute_backfill_iteration", lambda *_, **__: iter(()))
    clock, context = Clock(), object()
    clock.waits = []
    loop: Any = backfill.execute_backfill_iteration_loop(context, logging.getLogger(__name__), clock)  # type: ignore[arg-type]
    while not clock.waits:
        next(loop)
    assert 6 < clock.waits[0] <= 7


@pytest.mark.parametrize("given", ["", "soon", "0", "-5"])
def test_a_pause_that_is_no_number_is_one_line(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(daemon.VARIABLE, given)
    with pytest.raises(StoreError, match="is no number of seconds -- set a whole number above 0"):
        daemon.pause_seconds()
    with pytest.raises(SystemExit, match="vvb: VVB_BACKFILL_SECONDS"):
        daemon.main()
