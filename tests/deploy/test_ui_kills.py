"""kill -9 of the processes of `vvb ui` (SQLite, nothing set up), each in the middle of a backfill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.deploy.middle import EACH, Disturbance, Gate, children_of, kill_tree, mark_held
from tests.e2e.asked import judged_platform
from tests.e2e.ui import Ui, ui_of
from tests.standin.server import StandIn

pytestmark = pytest.mark.xdist_group("ui kills")


@pytest.fixture
def disturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disturbance]:
    """`vvb ui` on a benchmark whose four runs wait to be judged."""
    monkeypatch.setenv("DAGSTER_HOME", "")  # restored after the test: opening an instance sets it
    with StandIn(video_s=1.0) as service:
        platform = judged_platform(tmp_path, service, extra={"VVB_BACKFILL_SECONDS": "1"})
        mark_held(platform)
        for name, value in platform.environment.items():
            monkeypatch.setenv(name, value)
        only = [word for stage in ("tasks", "rollouts", "l1", "media") for word in ("--only", stage)]
        assert platform.json("run", *only)["failed"] == {}
        gate = Gate(service)
        with ui_of(platform, tmp_path / "ui.log") as ui:
            ui.switch_off("tables")

            def wait(what: str, ready: Callable[[], bool]) -> None:
                ui.wait_for(ready, 240)

            try:
                yield Disturbance(ui, platform, gate, wait)
            finally:
                gate.open()


def test_a_backfill_outlives_a_run_the_daemon_and_the_webserver(disturbed: Disturbance) -> None:
    ui = disturbed.server
    assert isinstance(ui, Ui)

    def kill(name: str) -> None:
        """`vvb ui` ends with any of its processes, and says which it was; a person starts it again."""
        (pid,) = [pid for pid in children_of(ui.process.pid) if name in Path(f"/proc/{pid}/cmdline").read_text()]
        kill_tree(pid)
        disturbed.gate.open()
        assert ui.process.wait(60) == 1
        assert "has ended by itself" in ui.log.read_text()
        ui.start()

    disturbed.during("one run", lambda workers: kill_tree(workers[0]), again=1)
    disturbed.during("daemon", lambda _: kill("vvb_assets.daemon"), again=0)
    if EACH:
        disturbed.during("webserver", lambda _: kill("dagster_webserver"), again=0)
    print({what: round(seconds, 1) for what, seconds in disturbed.seconds.items()})
