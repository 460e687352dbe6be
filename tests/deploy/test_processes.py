"""Code location, webserver and daemon as processes of their own on PostgreSQL, started as compose.yaml starts them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.deployment import Deployment
from tests.deploy.server import PostgresServer
from vvb_assets.running import open_instance
from vvb_assets.settings import Settings
from vvb_resources.store.home import CHECKOUT, Home

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def deployment(shared_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setenv("VVB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VVB_BENCHMARK", str(CHECKOUT / "tests" / "data" / "benchmark" / "small"))
    with open_instance(Settings.resolve().open().home):
        pass  # DAGSTER_HOME is set, and its dagster.yaml is the one for PostgreSQL
    running = Deployment(tmp_path)
    try:
        for name in ("code", "webserver", "daemon"):
            running.start(name)
        yield running
    finally:
        for name in list(running.processes):
            running.end(name, signal.SIGTERM)


def test_a_backfill_outlives_a_killed_daemon_and_a_crashed_database(
    deployment: Deployment, postgres: PostgresServer
) -> None:
    deployment.wait_for("the code location", lambda: deployment.stats("rubric") is not None)
    whole = {"numMaterialized": 2, "numFailed": 0, "numPartitions": 2}

    deployment.end("daemon", signal.SIGKILL)
    backfill = deployment.launch(["rubric"])
    assert deployment.status(backfill) == "REQUESTED"
    postgres.crash()
    postgres.start()
    deployment.start("daemon")
    deployment.wait_for("the backfill", lambda: deployment.status(backfill) not in (None, "REQUESTED"))
    assert deployment.status(backfill) == "COMPLETED_SUCCESS"
    deployment.wait_for("the counts", lambda: deployment.stats("rubric") == whole)

    store = Settings.resolve().open().store
    assert sorted(str(m.partition) for m in store.every() if m.asset == "rubric") == ["BRIDGE", "LESSON"]
