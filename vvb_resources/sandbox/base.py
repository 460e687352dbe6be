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
from vvb_resources.store.atomic import write_json

Ended = Literal["self", "timed_out", "error"]
Limit = Literal["memory", "processes", "disk"]
Wall = Literal["closed", "open"]

DISK_FACTOR = 4  # the work folder as a whole may hold this many times the largest file


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
    """The same things as the agent finds them: absolute paths inside the sandbox, as text.

    For ENVIRONMENT.md: `tools` are (name, description) of what there is to work with, `memory_mb` the MiB that the run
    really has (None: what its policy says).
    """

    work: str
    agent: str
    python: str
    path: str
    tools: tuple[tuple[str, str], ...] = ()
    memory_mb: int | None = None

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

    `keep` are paths below the work folder that are wanted beside the delivery (the agent's own log).
    `gateway` is the point that `Sandbox.gateway` gave, when a model gateway listens there; None without one.
    """

    place: SandboxPlace
    command: tuple[str, ...]
    env: dict[str, str]
    policy: SandboxPolicy
    deadline: float
    keep: tuple[str, ...] = ()
    gateway: GatewayPoint | None = None


class Isolation(BaseModel):
    """Which walls stood during a run, with a sentence for a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    network: Wall
    filesystem: Wall
    statement: str


class Resources(BaseModel):
    """What a run asked for and what the machine gave: CPUs (None: no bound was asked for) and MiB of memory.

    `comparable` is False when it got less than the benchmark asks for: its result must not stand beside others.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cpus_asked: int | None
    cpus: int
    memory_mb_asked: int
    memory_mb: int
    comparable: bool


class KeptVideo(BaseModel):
    """A finished video that was kept while the agent worked on, and put back when the run was stopped without one.

    `name` is relative to the delivery, `saved_at` Unix time, `cut_bytes` the size of the file whose place it took
    (None: there was none).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    saved_at: float
    bytes: int
    cut_bytes: int | None


class PostMortem(BaseModel):
    """What is known of a container that is gone. Times are Unix seconds of the engine's clock.

    `oom_kills` counts processes that the kernel ended for want of memory, `oom_killed` is the engine's own word for it;
    `killed_from_outside` says that the deadline had to be enforced on the container. `image` is the content id.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    image: str
    exit_code: int
    oom_killed: bool
    oom_kills: int
    killed_from_outside: bool
    started_at: float | None
    finished_at: float | None
    last_output: str


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
    resources: Resources | None = None
    post_mortem: PostMortem | None = None
    kept: KeptVideo | None = None


OUTCOME = "sandbox_outcome.json"


def save_outcome(place: SandboxPlace, outcome: SandboxOutcome) -> None:
    """Say durably that the run is over and what it left lies in `place`: from here on it need not be run again."""
    write_json(place.root / OUTCOME, outcome.model_dump(mode="json"))


def load_outcome(place: SandboxPlace) -> SandboxOutcome | None:
    """The outcome of a run that is over; None when it is not, or was never begun."""
    path = place.root / OUTCOME
    return SandboxOutcome.model_validate_json(path.read_text()) if path.exists() else None


@dataclass(frozen=True)
class Reaped:
    """What `reap` found of a run whose parent was killed: its folder and the processes that were ended."""

    root: Path
    ended: tuple[int, ...]

    def __str__(self) -> str:
        ended = f"ended processes {', '.join(map(str, self.ended))}" if self.ended else "nothing was running any more"
        return f"{self.root.name}: {ended}"


class Sandbox(Protocol):
    """A place to run an agent in. Implementations: `local.LocalSandbox`, `docker.sandbox.DockerSandbox`."""

    @property
    def outlives(self) -> bool:
        """Does an agent go on when the platform is killed? Then what serves it has to as well (helpers.py)."""
        ...

    def prepare(self, place: SandboxPlace) -> None:
        """Put the sandbox's own tools into the existing empty folder `place.bin`. Raises SandboxError without them."""
        ...

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

        What it leaves in `delivery/` and in the paths of `request.keep` then lies below `request.place.work` on this
        machine. Raises SandboxError when the configuration is at fault, WallsError when the sandbox is; never for what
        the agent does.
        """
        ...

    def resume(self, place: SandboxPlace) -> SandboxOutcome | None:
        """Go on with a run whose platform was killed, if the sandbox can; None when a fresh start loses nothing.

        The caller knows that nobody else owns `place`. Raises WallsError when the run is lost.
        """
        ...
