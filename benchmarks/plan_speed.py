"""How long the plan takes at the paper's size, beside the floor of reading every manifest: `make bench`.

Prints a Markdown table (docs/performance.md, section "Plan"). Everything is measured in one process on one store:

- first load: the benchmark's files, parsed and validated; load: the same with what the first one has parsed (this is
  what every later command and step does first)
- floor: each manifest's bytes read and parsed as JSON, nothing else
- plan: `make_plan`, everything fresh
- edited: `make_plan` after one rubric changed
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.synthetic_store import fill_store, write_benchmark
from vvb_assets.graph import Workspace
from vvb_assets.plan import make_plan
from vvb_assets.settings import Settings
from vvb_resources.store.artifacts import MANIFEST

ROUNDS = 5  # the best of them: what else the machine does meanwhile only adds


@dataclass(frozen=True)
class Measured:
    """Figures of one size; CPU seconds (user and system), the best of ROUNDS (first load: once).

    CPU rather than wall: what the store holds is in the page cache, and a shared machine's wall says little.
    `plan_wall` is the wall time of the fastest plan.
    """

    size: str
    manifests: int
    first_load: float
    load: float
    floor: float
    plan: float
    plan_wall: float
    edited: float
    stale: int


def _timed(action: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, float, Any]:
    """Best CPU seconds, best wall seconds, and the last result."""
    cpu, wall, result = [], [], None
    for _ in range(rounds):
        before = time.process_time(), time.perf_counter()
        result = action()
        cpu.append(time.process_time() - before[0])
        wall.append(time.perf_counter() - before[1])
    return min(cpu), min(wall), result


def read_all(paths: list[Path]) -> int:
    """The floor: read and parse each manifest; return how many say anything."""
    return sum(1 for path in paths if json.loads(path.read_bytes()))


def edit_rubric(workspace: Workspace, task_id: str) -> Workspace:
    """The same workspace with another title for the first check of a task's rubric."""
    task = workspace.benchmark.tasks[task_id]
    first, *rest = task.rubric.checks
    checks = (first.model_copy(update={"title": first.title + " (edited)"}), *rest)
    edited = replace(task, rubric=task.rubric.model_copy(update={"checks": checks}))
    benchmark = replace(workspace.benchmark, tasks={**workspace.benchmark.tasks, task_id: edited})
    return Workspace(benchmark, workspace.home, workspace.graph)


def measure(tasks: int, where: Path) -> Measured:
    """Figures at nine systems, `tasks` tasks and three panels; the store is built below `where`."""
    folder = write_benchmark(where / "benchmark", tasks)
    settings = Settings(folder, None, where / "home")
    first_load, _, _ = _timed(settings.open, rounds=1)
    load, _, workspace = _timed(settings.open)
    written = fill_store(workspace)
    paths = [
        workspace.store.folder(node.key, partition) / MANIFEST
        for node in workspace.graph.nodes.values()
        for partition in workspace.graph.partitions(node)
    ]
    floor, _, found = _timed(lambda: read_all(paths))
    assert found == written, f"{found} of {written} manifests were read"
    plan, plan_wall, fresh = _timed(lambda: make_plan(workspace))
    assert fresh.fresh == written, "a store that was just filled is fresh"
    changed = edit_rubric(workspace, next(iter(workspace.benchmark.tasks)))
    edited, _, after = _timed(lambda: make_plan(changed))
    size = f"{len(workspace.graph.systems)} x {tasks} x {len(workspace.benchmark.panels)}"
    return Measured(size, written, first_load, load, floor, plan, plan_wall, edited, len(after.stale))


def table(rows: list[Measured]) -> str:
    """The figures as a Markdown table."""
    columns = ("systems x tasks x panels", "manifests", "first load", "load", "floor", "plan", "plan / floor")
    lines = [
        "| " + " | ".join((*columns, "plan, wall", "edited", "stale")) + " |",
        "|---|" + "---:|" * (len(columns) + 2),
    ]
    for row in rows:
        seconds = [f"{value:.2f}" for value in (row.first_load, row.load, row.floor, row.plan, row.plan / row.floor)]
        cells = [row.size, f"{row.manifests:,}", *seconds, f"{row.plan_wall:.2f}", f"{row.edited:.2f}", str(row.stale)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, nargs="+", default=[24, 239], help="numbers of tasks (default: 24 239)")
    sizes = parser.parse_args().tasks
    rows = []
    for tasks in sizes:
        with tempfile.TemporaryDirectory(prefix="vvb-bench-") as where:
            rows.append(measure(tasks, Path(where)))
    print(table(rows))


if __name__ == "__main__":
    main()
