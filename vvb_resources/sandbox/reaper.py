"""Runs whose parent was killed: their state file, and the reaper that ends what they left.

Before an agent starts, its supervisor writes `<root>/state.json`: the folder, this boot of the machine, and the
identities (process id and start tick) of itself and its parent. A run is stale when its parent is gone. A process is
signalled only through a descriptor that was checked against the recorded start tick, so a recycled process id is never
killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import Reaped
from vvb_resources.sandbox.processes import descendants, identity, stat_fields

STATE = "state.json"
REAP_FOR_S = 10.0


def boot_id() -> str:
    """Identity of this boot of the machine: process ids and start ticks of another one mean nothing."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def mark(root: Path) -> dict[str, Any]:
    """What the state file of a run in `root` says beside the supervisor's identity."""
    return {"root": str(root), "boot": boot_id(), "parent": identity(os.getpid())}


def alive(process: dict[str, Any]) -> bool:
    """Is this very process (pid and start tick) still running?"""
    fields = stat_fields(int(process["pid"]))
    return bool(fields) and fields[0] not in "ZX" and int(fields[19]) == process["ticks"]


def kill_exactly(process: dict[str, Any]) -> bool:
    """SIGKILL `process` if it is still the one that was recorded; True if it was."""
    try:
        handle = os.pidfd_open(int(process["pid"]))
    except ProcessLookupError:
        return False
    try:
        if not alive(process):
            return False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    finally:
        os.close(handle)


def strays(root: Path) -> list[int]:
    """Processes that belong to the run in `root` by their HOME or current folder, wherever they hang in the tree."""
    home, work = f"HOME={root}/work/home".encode(), f"{root}/work"
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to another user
            cwd = os.readlink(f"/proc/{name}/cwd")
            environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            if home in environment or cwd == work or cwd.startswith(work + "/"):
                found.append(int(name))
    return found


def end_run(root: Path, supervisor: dict[str, Any] | None) -> tuple[int, ...]:
    """Kill a run's supervisor, its descendants and strays; returns their process ids.

    Raises SandboxError when something survives for ten seconds.
    """
    ended: set[int] = set()
    until = time.monotonic() + REAP_FOR_S
    while time.monotonic() < until:
        live = strays(root)
        if supervisor and alive(supervisor):
            # The agent first: with its subreaper gone, its daemons would move to another parent.
            live += list(descendants(int(supervisor["pid"])))
            if not live and kill_exactly(supervisor):
                ended.add(int(supervisor["pid"]))
                continue
        if not live:
            return tuple(sorted(ended))
        for process in [identity(pid) for pid in set(live)]:
            if kill_exactly(process):
                ended.add(int(process["pid"]))
        time.sleep(0.01)
    raise SandboxError(
        f"processes of an earlier run could not be ended: {strays(root)}", where=str(root), remedy="end them by hand"
    )


def reap_stale(state_dir: Path) -> list[Reaped]:
    """End what runs below `state_dir` left behind when their parent was killed; their folders stay as evidence.

    A run whose parent is alive is another `vvb run` at work and is left alone. Raises SandboxError when a leftover
    process cannot be ended.
    """
    reaped = []
    for state in sorted(state_dir.resolve().glob(f"*/{STATE}")):
        try:
            content = json.loads(state.read_text())
            same_boot = content["boot"] == boot_id()
            if same_boot and alive(content["parent"]):
                continue
            supervisor = content["supervisor"] if same_boot else None
        except (ValueError, KeyError, TypeError):  # never half-written by us: some other hand; strays tell the truth
            supervisor = None
        reaped.append(Reaped(root=state.parent, ended=end_run(state.parent, supervisor)))
        state.unlink(missing_ok=True)
    return reaped
