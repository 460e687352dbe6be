"""What a harness is to the platform: how an agent is started, and where it leaves its own account of the run.

A harness is one file of this package with a module-level `HARNESS`; `get_harness` finds it by its id. `launch` is pure:
it reads nothing of this machine, and every path and address in its answer comes from the context, so that the same
harness runs in any sandbox.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from vvb_resources.benchmark.models import SystemConfig, Wire
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxView

GATEWAY_PATHS: dict[Wire, str] = {
    "anthropic": "/anthropic",
    "openai_chat": "/openai/v1",
    "openai_responses": "/openai/v1",
    "gemini": "/gemini",
}
"""Below the gateway's base URL: what takes the place of a service's own base URL, by wire format."""


@dataclass(frozen=True)
class ModelAccess:
    """How the agent reaches its model: the gateway's base URL as the agent sees it, and the token of this run alone.

    The token opens the gateway until the deadline and nothing else; the service's key never comes here.
    """

    base_url: str
    token: str

    def url(self, wire: Wire) -> str:
        """The base URL that a client of this wire format is given."""
        return self.base_url.rstrip("/") + GATEWAY_PATHS[wire]


@dataclass(frozen=True)
class LaunchContext:
    """All that a launch depends on. `access` is None for an agent without a model; `deadline` is Unix time."""

    system: SystemConfig
    instruction: str
    view: SandboxView
    access: ModelAccess | None
    deadline: float


@dataclass(frozen=True)
class Launch:
    """How to start an agent: argument list, variables beside those of every sandbox, its log and the log's parser.

    `files` (configuration, by path) and `log` (a file or a folder; None when it keeps none) are relative to the agent's
    current folder. `parser` is the id of the harness whose log format it is. `stdout_is_log`: its standard output
    belongs to its log, and is put beside it before it is read.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    log: str | None
    parser: str | None
    files: dict[str, str] = field(default_factory=dict)
    stdout_is_log: bool = False


class Options(BaseModel):
    """Base of a harness's typed options: strict, so that a typo in a system's file is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Harness(Protocol):
    """An agent harness. `id` is the name that systems/*.yaml use, `options` the model of its `options`."""

    @property
    def id(self) -> str:
        """The name of this harness in a system's file."""
        ...

    @property
    def options(self) -> type[Options]:
        """The typed options that a system may set."""
        ...

    def wire(self, system: SystemConfig) -> Wire | None:
        """The wire format in which it calls its model; None for an agent that calls none through the gateway."""
        ...

    def launch(self, context: LaunchContext) -> Launch:
        """The command for `context.system`. Raises SandboxError for options that do not hold."""
        ...


O = TypeVar("O", bound=Options)  # noqa: E741 - a type variable


def read_options(model: type[O], system: SystemConfig) -> O:
    """The options of `system` as `model`. Raises SandboxError that names the first field at fault."""
    try:
        return model.model_validate(system.options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(["options", *map(str, first["loc"])])
        raise SandboxError(
            f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}",
            where=f"system {system.id}",
            remedy=f"harness {system.harness} knows: {', '.join(sorted(model.model_fields)) or 'no options'}",
        ) from error


def needed_access(context: LaunchContext) -> ModelAccess:
    """The model access of a harness that cannot do without. Raises SandboxError when the run has none."""
    if context.access is None:
        raise SandboxError("this harness needs a model gateway", where=f"system {context.system.id}")
    return context.access


def needed_model(context: LaunchContext) -> str:
    """The model's name. Raises SandboxError when the system names none."""
    if context.system.model is None:
        raise SandboxError(
            "names no model", where=f"system {context.system.id}", remedy="set `model` in the system's file"
        )
    return context.system.model


def harness_ids() -> tuple[str, ...]:
    """Ids of the harnesses that are there, sorted: the modules of this package other than this one."""
    import vvb_resources.harnesses as package

    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name != "base" and not m.ispkg))


def get_harness(harness_id: str) -> Harness:
    """The harness of that id. Raises SandboxError for an unknown one, and names those that are known."""
    known = harness_ids()
    if harness_id not in known:
        raise SandboxError(
            f"there is no harness {harness_id!r}", where="systems", remedy=f"use one of: {', '.join(known)}"
        )
    module = importlib.import_module(f"vvb_resources.harnesses.{harness_id}")
    return cast(Harness, module.HARNESS)
