"""kill -9 of every process of a deployment, and a crash of its database, each in the middle of a backfill."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.deployment import Deployment
from tests.deploy.middle import EACH, Disturbance, Gate, kill_tree, mark_held
from tests.deploy.server import PostgresServer
from tests.e2e.asked import judged_platform
from tests.standin.server import StandIn
from vvb_assets.running import open_instance
from vvb_assets.settings import Settings
from vvb_resources.store.home import Home

pytestmark = pytest.mark.xdist_group("kills")

AWAY_SECONDS = 10.0


@pytest.fixture
def disturbed(shared_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disturbance]:
    """A deployment on PostgreSQL whose four runs wait to be judged."""
    with StandIn(video_s=1.0) as service:
        platform = judged_platform(tmp_path, service, extra={"VVB_BACKFILL_SECONDS": "1"})
        mark_held(platform)
        for name, value in platform.environment.items():
            monkeypatch.setenv(name, value)
        with open_instance(Settings.resolve().open().home):
            pass  # DAGSTER_HOME is set, and its dagster.yaml is the one for PostgreSQL
        only = [word for stage in ("tasks", "rollouts", "l1", "media") for word in ("--only", stage)]
        assert platform.json("run", *only)["failed"] == {}
        gate, running = Gate(service), Deployment(tmp_path)
        try:
            for name in ("code", "webserver", "daemon"):
                running.start(name)
            running.wait_for("the code location", lambda: running.stats("rubric") is not None)
            running.switch_off("tables")  # it looks after dead runs, too: here the daemon has to do without
            yield Disturbance(running, platform, gate, running.wait_for)
        finally:
            gate.open()
            for name in list(running.processes):
                running.end(name, signal.SIGTERM)


def test_a_backfill_outlives_each_process_and_its_database(disturbed: Disturbance, postgres: PostgresServer) -> None:
    deployment = disturbed.server
    assert isinstance(deployment, Deployment)

    def restart(name: str) -> None:
        deployment.end(name, signal.SIGKILL)
        deployment.start(name)

    def crash(workers: list[int]) -> None:
        postgres.crash()
        disturbed.gate.open()  # the replies come while nobody can be told
        time.sleep(AWAY_SECONDS)
        postgres.start()

    def restart_both(_: list[int]) -> None:
        restart("daemon")
        restart("webserver")

    if EACH:
        disturbed.during("daemon", lambda _: restart("daemon"), again=0)
        disturbed.during("webserver", lambda _: restart("webserver"), again=0)
    else:
        disturbed.during("daemon and webserver", restart_both, again=0)
    disturbed.during("one run", lambda workers: kill_tree(workers[0]), again=1)
    disturbed.during("code location and all runs", lambda _: restart("code"), again=2)
    disturbed.during("database", crash, again=0)
    print({what: round(seconds, 1) for what, seconds in disturbed.seconds.items()})
