"""The process between the platform and an agent: starts it, bounds it, and leaves nothing of it running.

Run as a script (`python -I -S supervisor.py`) with the standard library alone; it shares no memory with the platform,
so that it outlives a killed parent by just the moment it needs to end the agent.

- It is a child subreaper (prctl(2)): a daemon that leaves the agent's session and process group by a double fork is
  handed to the supervisor, stays its descendant, and is found and killed.
- Its standard input is a pipe. The first line is the request (never a file: it may hold keys); after it the parent
  writes nothing, and end of file means that the parent is gone, however it went. The parent-death signal says the same
  for the case that another process holds the pipe.
- It drains the agent's output and keeps a bounded head and tail of it.

The request: {argv, cwd, env, deadline, parent, mark, state, outcome, stdout, stderr, log_bytes, memory, processes,
file, disk, cpus, drop_capabilities, user, own_cgroup, kept}; sizes in bytes, `deadline` in Unix time; `{status_fd}` in
argv becomes the number of a pipe whose text is returned as `status`. `user` ([uid, gid] or null) is whom the agent
becomes; `own_cgroup` says that the cgroup seen here is this run's alone (a container), so that its OOM kills are the
run's; `kept` is a folder for a copy of the newest finished video (keeping.py). outcome.json is what `Supervisor.run`
returns.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import resource
import select
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

sys.path.append(str(Path(__file__).resolve().parents[2]))  # isolated mode leaves even the script's own folder out

from vvb_resources.sandbox.bounded_log import Log
from vvb_resources.sandbox.keeping import Keeper
from vvb_resources.sandbox.processes import (
    descendants,
    disk_usage,
    identity,
    kill_all,
    reap_zombies,
    threads_of_user,
    usage,
)

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
REQUEST_WITHIN_S = 10.0
POLL_S = 0.1
MEASURE_EVERY_S = 0.25
DISK_EVERY_S = 2.0
OOM_SCORE = 500
OOM_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
LIBC = ctypes.CDLL(None, use_errno=True)


def bound(request: dict[str, Any]) -> None:
    """Limits and privileges of the agent: runs in the child, between fork and exec."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (request["file"], request["file"]))
    # RLIMIT_AS would count address space that numerical and browser runtimes reserve and never touch.
    resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    if os.getuid() != 0:  # the kernel counts a user's threads everywhere, and exempts root
        most = threads_of_user() + int(request["processes"])
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    cpus = os.sched_getaffinity(0)
    if request["cpus"] and request["cpus"] < len(cpus):
        os.sched_setaffinity(0, random.sample(sorted(cpus), request["cpus"]))
    if request["drop_capabilities"]:  # root without capabilities is bound by file modes like anyone else
        for capability in range(64):
            LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as handle:
        handle.write(str(OOM_SCORE))  # when memory is short, the agent goes before those who watch it
    if request["user"]:
        uid, gid = request["user"]
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def oom_kills() -> int:
    """Processes of this cgroup that the kernel killed for want of memory (cgroup v2, else v1); 0 if it does not say."""
    for path in OOM_COUNTS:
        with contextlib.suppress(OSError), open(path, encoding="ascii") as handle:
            for line in handle:
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count)
    return 0


def write_json(path: str, value: object) -> None:
    """Write `value` durably at `path`."""
    with open(path + ".tmp", "w", encoding="utf-8") as handle:
        json.dump(value, handle)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(path + ".tmp", path)


class Supervisor:
    """One agent from start to end."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.parent_gone = False
        self.limit: str | None = None
        self.cpu_s = self.peak = 0.0
        self.keeper = Keeper(os.path.join(request["cwd"], "delivery"), request["kept"], request["file"])
        self.logs = {name: Log(request[name], request["log_bytes"]) for name in ("stdout", "stderr")}

    def parent_died(self, *_: object) -> None:
        self.parent_gone = True

    def run(self) -> dict[str, Any]:
        request = self.request
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.parent_died)
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != request["parent"]:
            self.parent_gone = True
        write_json(request["state"], {**request["mark"], "supervisor": identity(os.getpid())})
        started_at, start = time.time(), time.monotonic()
        ends = start + (request["deadline"] - started_at)
        if self.parent_gone:
            return {"ended": "parent_gone"}
        status_read, status_write = os.pipe()
        argv = [status_write if part == "{status_fd}" else part for part in request["argv"]]
        agent = subprocess.Popen(
            [str(part) for part in argv],
            cwd=request["cwd"],
            env=request["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(status_write,) if "{status_fd}" in request["argv"] else (),
            preexec_fn=lambda: bound(request),  # noqa: PLW1509 - this process has one thread
        )
        os.close(status_write)
        over = self.watch(agent, ends)
        seconds = time.monotonic() - start
        left = kill_all(agent.pid)
        # An agent that ended its turn delivers what lies there; one that was stopped was perhaps in the middle of it.
        kept = None if over else self.keeper.restore()
        code = agent.wait()
        reap_zombies(0)
        self.drain(agent)
        times = resource.getrusage(resource.RUSAGE_CHILDREN)
        with os.fdopen(status_read, "rb") as status:
            walls = read_available(status)
        return {
            "ended": "parent_gone" if self.parent_gone else "exited" if over else "limit" if self.limit else "deadline",
            "code": code,
            "limit": self.limit,
            "started_at": started_at,
            "seconds": seconds,
            "cpu_s": max(self.cpu_s, times.ru_utime + times.ru_stime),
            "peak_rss": max(self.peak, times.ru_maxrss * 1024),
            "killed": left,
            "kept": kept,
            "oom_kills": oom_kills() if request["own_cgroup"] else 0,
            "stdout_bytes": self.logs["stdout"].total,
            "stderr_bytes": self.logs["stderr"].total,
            "status": walls.decode("utf-8", "replace"),
        }

    def watch(self, agent: subprocess.Popen[bytes], ends: float) -> bool:
        """Wait for the agent, reading its output; True when it ended by itself before deadline and limits."""
        next_poll = next_disk = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ, None)
            for name, stream in streams(agent):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ, self.logs[name])
            while True:
                now = time.monotonic()
                if now >= ends or self.parent_gone:
                    return False
                for key, _ in selector.select(min(POLL_S, ends - now)):
                    data = os.read(key.fd, 1 << 16)
                    if data and key.data:
                        key.data.write(data)
                    elif not data:
                        selector.unregister(key.fileobj)
                        self.parent_gone = self.parent_gone or key.fd == 0
                if os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    return True
                if now >= next_poll:
                    next_poll = now + MEASURE_EVERY_S
                    self.measure(now >= next_disk)
                    self.keeper.look()
                    next_disk = now + DISK_EVERY_S if now >= next_disk else next_disk
                    reap_zombies(agent.pid)
                if self.limit:
                    return False

    def measure(self, disk: bool) -> None:
        """Take the tree's CPU time and memory, and notice a limit that is broken."""
        alive = descendants(os.getpid())
        cpu, resident = usage(alive)
        self.cpu_s, self.peak = max(self.cpu_s, cpu), max(self.peak, resident)
        if len(alive) > self.request["processes"]:
            self.limit = "processes"
        elif resident > self.request["memory"]:
            self.limit = "memory"
        elif disk and disk_usage(self.request["cwd"], self.request["disk"]) > self.request["disk"]:
            self.limit = "disk"

    def drain(self, agent: subprocess.Popen[bytes]) -> None:
        """Take what the pipes still hold; every writer is dead, so this ends."""
        for name, stream in streams(agent):
            os.set_blocking(stream.fileno(), False)
            self.logs[name].write(read_available(stream))
            self.logs[name].close()


def streams(agent: subprocess.Popen[bytes]) -> Iterator[tuple[str, BinaryIO]]:
    """The agent's output pipes by name."""
    for name in ("stdout", "stderr"):
        stream = getattr(agent, name)
        yield name, stream


def read_available(stream: Any) -> bytes:
    """Everything a pipe holds now (at most a pipe's own size, 1 MiB)."""
    os.set_blocking(stream.fileno(), False)
    parts = []
    with contextlib.suppress(BlockingIOError):
        while data := os.read(stream.fileno(), 1 << 16):
            parts.append(data)
    return b"".join(parts)


def main() -> None:
    """Read the request, run the agent, write the outcome."""
    if not select.select([0], [], [], REQUEST_WITHIN_S)[0]:
        sys.exit(f"no request came within {REQUEST_WITHIN_S:g} s")
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit("the parent was gone before it had sent its request")
    request = json.loads(line)
    write_json(request["outcome"], Supervisor(request).run())


if __name__ == "__main__":
    main()
