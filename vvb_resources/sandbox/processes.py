"""Process trees by /proc (proc(5)), without a dependency: find, measure and end them. Linux."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

MAX_ENTRIES = 200_000  # more files than this in the work folder counts as a full disk
KILL_FOR_S = 10.0
CLOCK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def stat_fields(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the state on (the name before it may hold spaces). [] when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as handle:
            return handle.read().decode("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def identity(pid: int) -> dict[str, Any]:
    """What tells a process from a later one with the same number: its start in clock ticks since boot."""
    fields = stat_fields(pid)
    return {"pid": pid, "ticks": int(fields[19]) if fields else -1}


def descendants(root: int) -> dict[int, list[str]]:
    """Every live descendant of `root`, with its stat fields; zombies are left out."""
    fields = {int(name): stat_fields(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    children: dict[int, list[int]] = {}
    for pid, line in fields.items():
        if line:
            children.setdefault(int(line[1]), []).append(pid)
    found: dict[int, list[str]] = {}
    todo = list(children.get(root, ()))
    while todo:
        pid = todo.pop()
        if pid not in found:
            found[pid] = fields[pid]
            todo += children.get(pid, ())
    return {pid: line for pid, line in found.items() if line[0] not in "ZX"}


def reap_zombies(keep: int) -> None:
    """Wait for what has ended, except for the agent's own process, whose status is still wanted."""
    with contextlib.suppress(ChildProcessError):
        while info := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if info.si_pid == keep:
                return
            os.waitpid(info.si_pid, 0)


def kill_all(keep: int) -> int:
    """Kill every descendant; returns how many there were. Stopping them first keeps a fork bomb from outrunning us."""
    seen: set[int] = set()
    until = time.monotonic() + KILL_FOR_S
    while time.monotonic() < until:
        alive = descendants(os.getpid())
        if not alive:
            break
        fresh = set(alive) - seen
        seen |= fresh
        for pid in fresh:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        if not fresh:
            for pid in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)
        reap_zombies(keep)
    return len(seen)


def usage(alive: dict[int, list[str]]) -> tuple[float, int]:
    """(CPU seconds with those of children waited for, resident bytes without shared pages) of live processes."""
    cpu, resident = 0, 0
    for pid, line in alive.items():
        cpu += sum(int(value) for value in line[11:15])
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as handle:
            pages = handle.read().split()
            resident += max(0, int(pages[1]) - int(pages[2])) * PAGE
    return cpu / CLOCK, resident


def disk_usage(folder: str, enough: int) -> int:
    """Allocated bytes below `folder`; stops as soon as there are `enough`, or more than MAX_ENTRIES entries."""
    total = entries = 0
    todo = [folder]
    while todo:
        try:
            with os.scandir(todo.pop()) as listing:
                for entry in listing:
                    entries += 1
                    with contextlib.suppress(OSError):
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(entry.path)
                    if entries > MAX_ENTRIES:
                        return enough + 1
        except OSError:
            continue
        if total > enough:
            return total
    return total


def threads_of_user() -> int:
    """Threads that this user has running, all sandboxes and everything else together."""
    total = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                total += int(stat_fields(int(name))[17])
    return total
