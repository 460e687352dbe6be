"""What a harness is to the platform: how an agent is started, and where it leaves its own account of the run.

A harness is one file of this package with a module-level `HARNESS`; `get_harness` finds it by its id.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from typing import Protocol, cast

from vvb_resources.benchmark.models import SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxView


@dataclass(frozen=True)
class Launch:
    """How to start an agent: argument list, variables beside those of every sandbox, its log and the log's parser.

    `log` is relative to the agent's current folder (a file or a folder); None when it keeps none.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    log: str | None
    parser: str | None


class Harness(Protocol):
    """An agent harness. `id` is the name that systems/*.yaml use."""

    @property
    def id(self) -> str:
        """The name of this harness in a system's file."""
        ...

    def launch(self, system: SystemConfig, instruction: str, view: SandboxView) -> Launch:
        """The command for `system`, given the fixed instruction and where things are in the sandbox."""
        ...


def harness_ids() -> tuple[str, ...]:
    """Ids of the harnesses that are there, sorted: the modules of this package other than this one."""
    import vvb_resources.harnesses as package

    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name != "base"))


def get_harness(harness_id: str) -> Harness:
    """The harness of that id. Raises SandboxError for an unknown one, and names those that are known."""
    known = harness_ids()
    if harness_id not in known:
        raise SandboxError(
            f"there is no harness {harness_id!r}", where="systems", remedy=f"use one of: {', '.join(known)}"
        )
    module = importlib.import_module(f"vvb_resources.harnesses.{harness_id}")
    return cast(Harness, module.HARNESS)
