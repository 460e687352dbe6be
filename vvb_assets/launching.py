"""Dagster's default launcher, whose runs the daemon can watch; named by dagster.yaml and deploy/dagster-postgres.yaml.

The stock one starts each run as a child of the code server, which alone looks after it: when the code server was killed
with its runs, or could not reach the database when a run's process died, nobody marks the run as failed, and neither
`run_monitoring` (it asks launchers that can tell) nor `run_retries` ever takes it up.
"""

from __future__ import annotations

import time

from dagster import DagsterRun
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value

from vvb_assets.processes import KILLED, process_of

GRACE_SECONDS = 60.0  # from "started" to the first line of our code, which names the process; seconds even under load


class WatchedRunLauncher(DefaultRunLauncher):
    """Starts runs as the default launcher does, and can tell whether a run's process is still there."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Yes: `run_monitoring` asks about every started run."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Is the process of a started run alive; in doubt, yes.

        A dead one counts as running while its code server cannot be reached: a run that failed then could not be
        started again, and Dagster tries that only once.
        """
        process = process_of(run)
        if process is not None and (not process.is_here or process.is_alive):
            return _running("its process is alive" if process.is_here else "its process is on another machine")
        known = self._is_known_to_server(run.run_id)
        if known is None:
            return _running("its code server cannot be reached")
        if process is not None:
            return CheckRunHealthResult(WorkerStatus.FAILED, KILLED)
        if known or not self._has_started_long_ago(run.run_id):
            return _running("its process has not named itself yet")
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "its process was killed before it did anything")

    def _is_known_to_server(self, run_id: str) -> bool | None:
        """Does the code server that was asked to start it have it under way; None: the server cannot be reached.

        A run that no code server started (`vvb run`) is known to none.
        """
        client = self._get_grpc_client_for_termination(run_id)  # type: ignore[no-untyped-call]
        if client is None:
            return False
        try:
            answer = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run_id))
        except DagsterUserCodeUnreachableError:
            return None
        return bool(deserialize_value(answer, CanCancelExecutionResult).can_cancel)

    def _has_started_long_ago(self, run_id: str) -> bool:
        record = self._instance.get_run_record_by_id(run_id)
        return record is not None and record.start_time is not None and time.time() - record.start_time > GRACE_SECONDS


def _running(why: str) -> CheckRunHealthResult:
    return CheckRunHealthResult(WorkerStatus.RUNNING, why)
