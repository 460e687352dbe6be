"""What the daemon's run monitoring is told about a run: dead only when that is certain, and when it can be repeated."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import dagster as dg
import pytest
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.launcher import WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.types import CanCancelExecutionResult
from dagster._serdes import serialize_value

from vvb_assets.launching import GRACE_SECONDS, WatchedRunLauncher
from vvb_assets.processes import HOST_TAG, PID_TAG, STARTED_TAG, end_dead_runs, process_tags

RUN = "11111111-1111-4111-8111-111111111111"
SERVER = {GRPC_INFO_TAG: json.dumps({"host": "localhost", "port": 4000})}
ALIVE = process_tags(RUN)
GONE = {**ALIVE, PID_TAG: "4194304", STARTED_TAG: "1"}  # beyond the largest process id
RUNNING, FAILED, NOT_FOUND = WorkerStatus.RUNNING, WorkerStatus.FAILED, WorkerStatus.NOT_FOUND


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    launcher = {"module": "vvb_assets.launching", "class": "WatchedRunLauncher"}
    with dg.instance_for_test(overrides={"run_launcher": launcher}) as made:
        yield made


@pytest.mark.parametrize(
    ("tags", "known", "seconds", "expected"),
    [
        (ALIVE, False, 0, RUNNING),
        (GONE, False, 0, FAILED),
        (GONE, None, 0, RUNNING),  # its retry could not be started now
        ({**GONE, HOST_TAG: "another machine"}, False, 999, RUNNING),
        ({}, True, 999, RUNNING),
        ({}, False, GRACE_SECONDS / 2, RUNNING),
        ({}, False, GRACE_SECONDS + 5, NOT_FOUND),
    ],
)
def test_a_run_is_dead_only_for_certain(
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    tags: dict[str, str],
    known: bool | None,
    seconds: float,
    expected: WorkerStatus,
) -> None:
    def answer(self: DagsterGrpcClient, request: object) -> str:
        if known is None:
            raise DagsterUserCodeUnreachableError("down")
        return serialize_value(CanCancelExecutionResult(can_cancel=known))

    monkeypatch.setattr(DagsterGrpcClient, "can_cancel_execution", answer)
    run = dg.DagsterRun("make_x", RUN, status=dg.DagsterRunStatus.STARTED, tags={**SERVER, **tags})
    instance.add_run(run)
    record = instance.get_run_record_by_id(RUN)
    assert record is not None
    aged = record._replace(start_time=time.time() - seconds)
    monkeypatch.setattr(type(instance), "get_run_record_by_id", lambda self, run_id: aged)
    launcher = instance.run_launcher
    assert isinstance(launcher, WatchedRunLauncher)
    assert launcher.supports_check_run_worker_health
    assert launcher.check_run_worker_health(run).status == expected


def test_a_run_whose_server_was_on_a_socket_dies_with_it(
    instance: dg.DagsterInstance, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`vvb ui` was killed before the run's process had named itself: the next start sees that nobody listens."""
    place = tmp_path_factory.mktemp("s") / "code"
    tags = {GRPC_INFO_TAG: json.dumps({"host": "localhost", "socket": str(place)})}
    instance.add_run(dg.DagsterRun("make_x", RUN, status=dg.DagsterRunStatus.STARTED, tags=tags))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        server.listen()
        assert end_dead_runs(instance) == []
    assert end_dead_runs(instance) == ["marked run 11111111 as failed: its process was killed"]
    assert instance.get_run_by_id(RUN).status == dg.DagsterRunStatus.FAILURE  # type: ignore[union-attr]
