"""The local sandbox: a supervised process tree on this machine, inside bubblewrap where that works.

Always: a fresh folder, a scrubbed environment, a session of its own, limits on memory, processes, file size and disk, a
wall-clock deadline, bounded logs, and nothing left running. With bubblewrap also: no network and a closed file system.
Without it the outcome says plainly which walls were open. docs/design/sandbox.md has the reasons.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.errors import SandboxError
from vvb_resources.gateway import relay
from vvb_resources.sandbox import supervisor
from vvb_resources.sandbox.base import (
    DISK_FACTOR,
    GatewayPoint,
    Isolation,
    SandboxOutcome,
    SandboxPlace,
    SandboxRequest,
    SandboxView,
    WallsError,
    load_outcome,
    save_outcome,
)
from vvb_resources.sandbox.bubblewrap import GATEWAY_FOLDER, Bubblewrap, find_bubblewrap
from vvb_resources.sandbox.processes import KILL_FOR_S, identity
from vvb_resources.sandbox.reaper import STATE, end_run, mark, reap_stale
from vvb_resources.sandbox.toolchain import TOOLS, agent_tools, fill_bin

LOG_BYTES = 16 << 20
GRACE_S = 30.0  # after the deadline: killing a crowd and syncing takes a moment on a loaded machine
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
NETWORKS: Final = {
    "none": "no network",
    "gateway": "no network but the model gateway",
    "gateway_and_mirrors": "no network but the model gateway (mirrors need the Docker sandbox)",
    "open": "network open by policy",
}
AUTO: Final = "auto"
RELAY_PORT = 8642  # in a network space of its own, so that nothing else has it

__all__ = ["LocalSandbox", "reap_stale"]


class LocalSandbox:
    """`base.Sandbox` on this machine. `bubblewrap`: the walls to use; by default what is here; None for none."""

    outlives = False

    def __init__(self, bubblewrap: Bubblewrap | str | None = AUTO) -> None:
        if isinstance(bubblewrap, str):
            self.bubblewrap, self.why_open = find_bubblewrap()
        else:
            self.bubblewrap, self.why_open = bubblewrap, "" if bubblewrap else "bubblewrap is not used"

    def prepare(self, place: SandboxPlace) -> None:
        """Write python, ffmpeg and tts of this machine into `place.bin`."""
        fill_bin(place.bin)

    def view(self, place: SandboxPlace) -> SandboxView:
        """Paths are the same inside and outside."""
        return SandboxView(
            work=str(place.work),
            agent=str(place.agent),
            python=sys.executable,
            path=":".join([str(place.bin), *(tool.programs for tool in agent_tools()), SYSTEM_PATH]),
            tools=TOOLS,
        )

    @contextlib.contextmanager
    def gateway(self, place: SandboxPlace, policy: SandboxPolicy) -> Iterator[GatewayPoint]:
        """See `base.Sandbox.gateway`. Behind closed walls the gateway is a Unix socket that a relay inside reaches."""
        if policy.network == "none":
            raise SandboxError(
                "the agent calls a model, and the policy allows it no gateway",
                where="benchmark.yaml: sandbox.network",
                remedy="use network: gateway",
            )
        if self.bubblewrap is None or policy.network == "open":
            yield GatewayPoint(url="http://127.0.0.1:{port}", host="127.0.0.1")
            return
        # Not below the run's folder: the path of a socket may have about a hundred bytes.
        folder = Path(tempfile.mkdtemp(prefix="vvb-gateway-"))
        try:
            yield GatewayPoint(url=f"http://127.0.0.1:{RELAY_PORT}", socket=folder / "socket")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def isolation(self, policy: SandboxPolicy) -> Isolation:
        """Which walls stand here, and a sentence that says so, with what the policy asks and this machine lacks."""
        cpus = len(os.sched_getaffinity(0))
        fewer = f"; {policy.cpus} CPUs are asked for, {cpus} are here" if policy.cpus and policy.cpus > cpus else ""
        if self.bubblewrap is None:
            return Isolation(
                network="open",
                filesystem="open",
                statement=f"{self.why_open}: the agent could reach the network and this machine's files; "
                f"its inputs were read-only by their file modes{fewer}",
            )
        return Isolation(
            network="open" if policy.network == "open" else "closed",
            filesystem="closed",
            statement=f"bubblewrap {self.bubblewrap.version}: "
            f"{NETWORKS[policy.network]}, a closed file system, "
            f"processes of its own{fewer}",
        )

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """See `base.Sandbox.run`. An interrupt of the caller ends the agent before it is passed on."""
        place = request.place
        command = _resolved(request.command, self.view(place).path, place)
        place.logs.mkdir(exist_ok=True)
        if self.bubblewrap:
            self.bubblewrap.prepare(place)
            socket = request.gateway.socket if request.gateway else None
            if socket is not None:
                script = shutil.copyfile(relay.__file__, place.bin / "relay.py")
                inside = f"{GATEWAY_FOLDER}/{socket.name}"
                command = (sys.executable, "-I", "-S", str(script), inside, str(RELAY_PORT), *command)
            argv = self.bubblewrap.wrap(
                place,
                command,
                network=request.policy.network == "open",
                shown=tuple(tool.root for tool in agent_tools()),
                socket=socket,
            )
        else:
            argv = list(command)
        spec = _supervisor_request(request, argv, drop_capabilities=self.bubblewrap is None)
        outcome = _supervise(place.root, spec, request.deadline)
        read = self._read(outcome, request)
        save_outcome(place, read)
        return read

    def resume(self, place: SandboxPlace) -> SandboxOutcome | None:
        """What a run left that was over; an agent that was still at work died with its platform, and is run again."""
        return load_outcome(place)

    def _read(self, outcome: dict[str, Any], request: SandboxRequest) -> SandboxOutcome:
        place, code, cause = request.place, outcome.get("code"), outcome["ended"]
        if cause == "parent_gone":
            raise SandboxError("the run was interrupted", where=str(place.root), remedy="run it again")
        signal: int | None = None
        if cause == "exited" and self.bubblewrap:
            code = _exit_code(outcome["status"])
            if code is None:
                raise WallsError(
                    f"bubblewrap could not start the agent: {_last_line(place.logs / 'stderr.txt')}",
                    where=str(place.root),
                    remedy="check the system's command and that bubblewrap works (vvb doctor)",
                )
            signal = code - 128 if 128 < code <= 128 + 64 else None
        elif isinstance(code, int) and code < 0:
            signal, code = -code, None
        ended = {"exited": "self" if code == 0 else "error", "limit": "error", "deadline": "timed_out"}[cause]
        own = cause == "exited"  # otherwise code and signal are our own SIGKILL
        return SandboxOutcome(
            ended=ended,  # type: ignore[arg-type]
            exit_code=code if own else None,
            signal=signal if own else None,
            limit=outcome["limit"],
            started_at=outcome["started_at"],
            seconds=outcome["seconds"],
            cpu_s=outcome["cpu_s"],
            peak_rss_mb=outcome["peak_rss"] / 2**20,
            killed=outcome["killed"],
            stdout_bytes=outcome["stdout_bytes"],
            stderr_bytes=outcome["stderr_bytes"],
            isolation=self.isolation(request.policy),
            kept=outcome["kept"],
        )


def _resolved(command: tuple[str, ...], path: str, place: SandboxPlace) -> tuple[str, ...]:
    """The command with its program as a path. Raises SandboxError when there is none: a fault of the configuration."""
    program = shutil.which(command[0], path=path)
    if program is None:
        raise SandboxError(
            f"the agent's program {command[0]!r} is not to be found",
            where=str(place.root),
            remedy="correct `command` in the system's file",
        )
    return (program, *command[1:])


def _supervisor_request(request: SandboxRequest, argv: list[str], *, drop_capabilities: bool) -> dict[str, Any]:
    place, policy = request.place, request.policy
    return {
        "argv": argv,
        "cwd": str(place.work),
        "env": request.env,
        "deadline": request.deadline,
        "parent": os.getpid(),
        "mark": mark(place.root),
        "state": str(place.root / STATE),
        "outcome": str(place.root / "outcome.json"),
        "stdout": str(place.logs / "stdout.txt"),
        "stderr": str(place.logs / "stderr.txt"),
        "log_bytes": LOG_BYTES,
        "memory": policy.memory_mb << 20,
        "processes": policy.processes,
        "file": policy.file_mb << 20,
        "disk": DISK_FACTOR * policy.file_mb << 20,
        "cpus": policy.cpus,
        "drop_capabilities": drop_capabilities,
        "user": None,
        "own_cgroup": False,
        "kept": str(place.root / "kept"),
    }


def _supervise(root: Path, spec: dict[str, Any], deadline: float) -> dict[str, Any]:
    """Run the supervisor and read its outcome; whatever happens here, nothing of the run stays alive."""
    with (root / "supervisor.txt").open("wb") as messages:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__],
            cwd=root,
            env={"LANG": "C.UTF-8", "PATH": SYSTEM_PATH},
            stdin=subprocess.PIPE,
            stdout=messages,
            stderr=messages,
            start_new_session=True,
        )
    assert process.stdin is not None
    known = identity(process.pid)
    try:
        with contextlib.suppress(BrokenPipeError):  # it ended at once: told by the missing outcome
            process.stdin.write(json.dumps(spec).encode() + b"\n")
            process.stdin.flush()
        process.wait(max(0.0, deadline - time.time()) + GRACE_S)
    except subprocess.TimeoutExpired:
        pass  # told from a proper end by the missing outcome
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()  # the supervisor takes this for the end of its parent, and ends the agent
        if process.poll() is None:
            _end(process, root, known)
    outcome = root / "outcome.json"
    if process.returncode != 0 or not outcome.exists():
        end_run(root, None)
        raise WallsError(
            f"the supervisor ended with {process.returncode}: {_last_line(root / 'supervisor.txt')}",
            where=str(root),
            remedy="run it again; the folder of this attempt is kept",
        )
    (root / STATE).unlink(missing_ok=True)
    content: dict[str, Any] = json.loads(outcome.read_text())
    return content


def _end(process: subprocess.Popen[bytes], root: Path, known: dict[str, Any]) -> None:
    """Give the supervisor a moment to end the agent by itself, then end both."""
    try:
        process.wait(KILL_FOR_S + 2)
    except subprocess.TimeoutExpired:
        end_run(root, known)
        process.wait()


def _exit_code(status: str) -> int | None:
    """The agent's exit code as bwrap reports it; None if the agent never started."""
    for line in status.splitlines():
        report = json.loads(line)
        if "exit-code" in report:
            return int(report["exit-code"])
    return None


def _last_line(path: Path) -> str:
    """The last line of a log, for an error message."""
    lines = path.read_bytes()[-4000:].decode("utf-8", "replace").strip().splitlines() if path.exists() else []
    return lines[-1] if lines else "no message"
