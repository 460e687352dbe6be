"""Which process executes a run, and whether it still lives.

Dagster's own watch over a run ends with the process that launched it: after a crash of both, the run would stay
started for ever, and whoever waits for it with it.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import dagster as dg

PID_TAG, STARTED_TAG, HOST_TAG = "vvb/pid", "vvb/started", "vvb/host"
ACTIVE = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED]


def process_tags() -> dict[str, str]:
    """Tags of a run that this process executes: its id, when it started (ids are used again), and its machine."""
    pid = os.getpid()
    return {PID_TAG: str(pid), STARTED_TAG: _started(pid) or "", HOST_TAG: socket.gethostname()}


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs as failed whose process was killed on this machine; returns a line for each."""
    told = []
    for run in instance.get_runs(dg.RunsFilter(statuses=ACTIVE)):
        pid = run.tags.get(PID_TAG, "")
        if not pid.isdigit() or run.tags.get(HOST_TAG) != socket.gethostname():
            continue
        if _is_alive(int(pid), run.tags.get(STARTED_TAG)):
            continue
        instance.report_run_failed(run, "its process was killed; what it had finished is kept")
        told.append(f"marked run {run.run_id[:8]} as failed: its process was killed")
    return told


def _is_alive(pid: int, started: str | None) -> bool:
    now = _started(pid)
    return now is not None and (not started or now == started)


def _started(pid: int) -> str | None:
    """When a process was started, in clock ticks since boot; None when there is none (or it is a zombie)."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else fields[18]
