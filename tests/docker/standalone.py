"""A platform process to be killed: one rollout in a container, as the graph makes it. Arguments: folder, step, agent.

`step` names the moment at which it stops and waits to be killed: the file `at-<step>` then appears in the folder.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.docker.conftest import SIZE
from tests.docker.engine import SMALL
from tests.rollouts.conftest import make_config, make_spec, make_system
from vvb_assets.rollouts import rollout
from vvb_assets.rollouts.record import RolloutRecord
from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import BenchmarkConfig, SystemConfig
from vvb_resources.sandbox.docker import container, ending, leftovers, sandbox

# Where a run can be cut: (module, function, before or after it).
STEPS: dict[str, tuple[Any, str, str]] = {
    "before-volumes": (container, "create", "before"),
    "created": (container, "create", "after"),
    "sent": (container, "send", "after"),
    "working": (ending, "_wait", "before"),
    "ended": (ending, "_wait", "after"),
    "fetched": (ending, "_fetch", "after"),
    "put-away": (leftovers, "save_outcome", "after"),
    "removed": (sandbox, "put_away", "after"),
    "recorded": (rollout, "_collected", "after"),
}


def parts(folder: Path, code: str, seconds: float) -> tuple[BenchmarkConfig, SystemConfig, Task]:
    """The benchmark's parts, the same for every process that works on `folder`."""
    config = make_config(kind="docker", image=SMALL, network="none", deadline_s=seconds, **SIZE)
    if not (folder / "agents").exists():
        system = make_system(folder, code)
    else:
        system = SystemConfig.model_validate_json((folder / "system.json").read_text())
    (folder / "system.json").write_text(system.model_dump_json())
    task = Task(id="BALL", folder=folder, spec=make_spec(), prompt="Show a ball.\n", rubric=None, assets=())  # type: ignore[arg-type]
    return config, system, task


def make(folder: Path, code: str, seconds: float) -> RolloutRecord:
    """One rollout into a fresh folder below `folder`/out."""
    config, system, task = parts(folder, code, seconds)
    out = folder / "out" / str(time.time_ns())
    out.mkdir(parents=True)
    return rollout.run_rollout(folder, config, system, task, out, folder / "state")


def stop_at(folder: Path, step: str) -> None:
    """Let the process stand still at `step`."""
    module, name, when = STEPS[step]
    original: Callable[..., Any] = getattr(module, name)

    def stopped(*arguments: Any, **options: Any) -> Any:
        if when == "before":
            wait()
        result = original(*arguments, **options)
        if when == "after":
            wait()
        return result

    def wait() -> None:
        (folder / f"at-{step}").touch()
        time.sleep(600)

    setattr(module, name, stopped)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    stop_at(place, sys.argv[2])
    make(place, sys.argv[3], float(sys.argv[4]))
