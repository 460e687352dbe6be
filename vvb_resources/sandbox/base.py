"""What every sandbox promises, whatever its walls are made of: the request, the outcome, and the protocol.

A caller prepares a `SandboxPlace` (folders on this machine), asks the sandbox for the `SandboxView` (where the agent
will find the same things: the same paths locally, others in a container), builds the agent's command from the view, and
runs it. A failure of the walls themselves raises `SandboxError`; whatever the agent does is a `SandboxOutcome`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.errors import SandboxError

Ended = Literal["self", "timed_out", "error"]
Limit = Literal["memory", "processes", "disk"]
Wall = Literal["closed", "open"]


class WallsError(SandboxError):
    """The sandbox broke in the middle of a run: the run is lost, and another attempt may succeed."""


@dataclass(frozen=True)
class SandboxPlace:
    """Folders of one rollout on this machine, all below `root`, a fresh folder that nobody else uses.

    `work` is the agent's current folder; `work/inputs`, `bin` and `agent` are shown to it read-only; `logs` is filled
    by the sandbox. The agent sees nothing else of `root`.
    """

    root: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def inputs(self) -> Path:
        return self.work / "inputs"

    @property
    def delivery(self) -> Path:
        return self.work / "delivery"

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def agent(self) -> Path:
        return self.root / "agent"

    @property
    def logs(self) -> Path:
        return self.root / "logs"


@dataclass(frozen=True)
class SandboxView:
    """The same things as the agent finds them: absolute paths inside the sandbox, as text."""

    work: str
    agent: str
    python: str
    path: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables every agent has: PATH, HOME, TMPDIR and LANG, and no others."""
        return {"PATH": self.path, "HOME": f"{self.work}/home", "TMPDIR": f"{self.work}/tmp", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class GatewayPoint:
    """Where the model gateway of one run listens on this machine, and where the agent finds it.

    Exactly one of `socket` (the path of a Unix socket to be made) and `host` (an address of this machine; the port is
    chosen by the kernel) is given. `url` is the base URL as the agent sees it; `{port}` in it stands for that port.
    """

    url: str
    socket: Path | None = None
    host: str | None = None

    def __post_init__(self) -> None:
        assert (self.socket is None) != (self.host is None)

    def base_url(self, port: int | None) -> str:
        """The agent's base URL once the gateway listens on `port` (None for a Unix socket)."""
        return self.url.replace("{port}", str(port))


@dataclass(frozen=True)
class SandboxRequest:
    """One run of an agent. `deadline` is Unix time in seconds; `env` is the agent's whole environment.

    `gateway` is the point that `Sandbox.gateway` gave, when a model gateway listens there; None without one.
    """

    place: SandboxPlace
    command: tuple[str, ...]
    env: dict[str, str]
    policy: SandboxPolicy
    deadline: float
    gateway: GatewayPoint | None = None


class Isolation(BaseModel):
    """Which walls stood during a run, with a sentence for a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    network: Wall
    filesystem: Wall
    statement: str


class SandboxOutcome(BaseModel):
    """How an agent's run ended.

    `ended`: `self` the command exited with 0; `error` it exited otherwise, died of a signal or was ended for `limit`;
    `timed_out` it was killed at the deadline. `started_at` is Unix time; `seconds` wall-clock; `cpu_s` CPU seconds of
    all its processes; `peak_rss_mb` the largest sum over its live processes that was seen. `killed` counts processes
    that the supervisor had to end: at the deadline or a limit, or left behind by a command that was over (where the
    walls give the agent a process space of its own, the kernel ends those and they are not counted).
    `stdout_bytes` and `stderr_bytes` are what was written, of which the logs keep a bounded part.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    ended: Ended
    exit_code: int | None
    signal: int | None
    limit: Limit | None
    started_at: float
    seconds: float = Field(ge=0)
    cpu_s: float = Field(ge=0)
    peak_rss_mb: float = Field(ge=0)
    killed: int = Field(ge=0)
    stdout_bytes: int = Field(ge=0)
    stderr_bytes: int = Field(ge=0)
    isolation: Isolation


@dataclass(frozen=True)
class Reaped:
    """What `reap` found of a run whose parent was killed: its folder and the processes that were ended."""

    root: Path
    ended: tuple[int, ...]

    def __str__(self) -> str:
        ended = f"ended processes {', '.join(map(str, self.ended))}" if self.ended else "nothing was running any more"
        return f"{self.root.name}: {ended}"


class Sandbox(Protocol):
    """A place to run an agent in. Implementations: `local.LocalSandbox`."""

    def view(self, place: SandboxPlace) -> SandboxView:
        """Where the agent finds its folders, before anything runs."""
        ...

    def isolation(self, policy: SandboxPolicy) -> Isolation:
        """The walls that a run under `policy` will have."""
        ...

    def gateway(self, place: SandboxPlace, policy: SandboxPolicy) -> AbstractContextManager[GatewayPoint]:
        """Make ready for a model gateway: the point where it has to listen, for as long as the context is open.

        Entered before the gateway starts and left after `run`, whatever happened between. Whatever is made for it
        (a network, a folder of the socket) is removed at its end. Raises SandboxError when the policy allows none.
        """
        ...

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """Run the agent until it ends or its deadline passes; nothing of it runs on afterwards.

        Raises SandboxError when the configuration is at fault, WallsError when the sandbox is; never for what the
        agent does.
        """
        ...
