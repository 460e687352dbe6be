"""Which process executes a run, and whether it still lives.

Dagster's own watch over a run ends with the code server that launched it: after a crash of both, or of the database at
the wrong moment, the run would stay started for ever, and whoever waits for it with it. So a run carries the process
that executes it in its tags. Whoever is on the same machine can look: `launching.py` for the daemon, `end_dead_runs`
for sensors and the command line.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.storage.tags import GRPC_INFO_TAG

PID_TAG, STARTED_TAG, HOST_TAG, RUN_TAG = "vvb/pid", "vvb/started", "vvb/host", "vvb/run"
ACTIVE = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED]
KILLED = "its process was killed; what it had finished is kept"


@dataclass(frozen=True)
class RunProcess:
    """A process by its id, when it started (ids are used again; clock ticks since boot) and the name of its machine."""

    pid: int
    started: str
    host: str

    @property
    def is_here(self) -> bool:
        """Does it run on this machine, so that one can see whether it lives."""
        return self.host == socket.gethostname()

    @property
    def is_alive(self) -> bool:
        """Is it there; only for one that is here."""
        now = _started(self.pid)
        return now is not None and (not self.started or now == self.started)


def process_tags(run_id: str) -> dict[str, str]:
    """Tags that say that this process executes run `run_id`."""
    pid = os.getpid()
    return {PID_TAG: str(pid), STARTED_TAG: _started(pid) or "", HOST_TAG: socket.gethostname(), RUN_TAG: run_id}


def process_of(run: dg.DagsterRun) -> RunProcess | None:
    """The process that executes a run; None while none has begun.

    A retry inherits the tags of the run that it repeats, the killed process among them: they count for their own run.
    """
    pid = run.tags.get(PID_TAG, "")
    if not pid.isdigit() or run.tags.get(RUN_TAG) != run.run_id:
        return None
    return RunProcess(int(pid), run.tags.get(STARTED_TAG, ""), run.tags.get(HOST_TAG, ""))


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs as failed whose process was killed on this machine; returns a line for each."""
    told = []
    for run in instance.get_runs(dg.RunsFilter(statuses=ACTIVE)):
        process = process_of(run)
        if process is None and not _has_lost_server(run):
            continue
        if process is not None and (not process.is_here or process.is_alive):
            continue
        now = instance.get_run_by_id(run.run_id)
        if now is None or now.is_finished:
            continue  # it ended between the two looks
        instance.report_run_failed(now, KILLED)
        told.append(f"marked run {run.run_id[:8]} as failed: its process was killed")
    return told


def _has_lost_server(run: dg.DagsterRun) -> bool:
    """Was it started by a code server on a socket of this machine (`vvb ui`) that nobody listens on any more."""
    try:
        place = json.loads(run.tags.get(GRPC_INFO_TAG, "{}")).get("socket")
    except ValueError:
        return False
    if not place:
        return False
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(5)
        try:
            caller.connect(place)
        except (FileNotFoundError, ConnectionRefusedError):
            return True
        except OSError:
            return False
    return False


def _started(pid: int) -> str | None:
    """When a process was started, in clock ticks since boot; None when there is none (or it is a zombie)."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else fields[18]
