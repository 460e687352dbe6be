"""Loading a benchmark folder: all of it, or every structural problem at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vvb_resources.benchmark.files import Refused
from vvb_resources.benchmark.folder import RESERVED_PANEL_IDS, read_folder
from vvb_resources.benchmark.models import (
    BenchmarkConfig,
    PanelConfig,
    Price,
    PriceList,
    Rubric,
    SystemConfig,
    TaskFacts,
    TaskSpec,
)
from vvb_resources.benchmark.problems import BenchmarkProblems, Problem
from vvb_resources.benchmark.validate import parse
from vvb_resources.benchmark.yaml_source import read_yaml

__all__ = [
    "RESERVED_PANEL_IDS",
    "Benchmark",
    "BenchmarkProblems",
    "Problem",
    "Task",
    "load_benchmark",
    "load_task_facts",
]


@dataclass(frozen=True)
class Task:
    """One task: what the agent is given (`spec`, `prompt`, `assets`) and what judges are given (`rubric`).

    `folder` is tasks/<id>; `assets` are absolute files, sorted. An agent sees them under inputs/ by their names
    relative to `assets_root`.
    """

    id: str
    folder: Path
    spec: TaskSpec
    prompt: str
    rubric: Rubric
    assets: tuple[Path, ...]

    @property
    def assets_root(self) -> Path:
        """The folder the assets lie in (it need not exist where there are none)."""
        return self.folder / "assets"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark folder, whole. The dictionaries are in the order of their ids; `prices` is the newest list.

    `votes` are the files of the human study, absolute, in name order; their rows are read where votes are imported.
    """

    root: Path
    config: BenchmarkConfig
    tasks: dict[str, Task]
    systems: dict[str, SystemConfig]
    panels: dict[str, PanelConfig]
    prices: PriceList | None
    votes: tuple[Path, ...] = ()

    @property
    def model_prices(self) -> dict[str, Price]:
        """The newest list prices by the names that logs and calls use: entries of the list, and models of systems."""
        listed = self.prices.models if self.prices is not None else {}
        systems = {s.model: listed[s.price] for s in self.systems.values() if s.model and s.price in listed}
        return {**systems, **listed}


def load_benchmark(root: Path, panels_dir: Path | None = None) -> Benchmark:
    """Load the benchmark folder `root`, with the panels of `panels_dir` instead of its own if given.

    A benchmark may have no task yet. Raises BenchmarkProblems with every structural problem of the folder: bad YAML,
    unknown or mistyped fields, missing files, paths and links that leave the folder, repeated or misplaced ids. The
    authoring rules are the linter's (`linter.lint`).
    """
    folder = read_folder(root, panels_dir)
    if folder.problems or folder.config is None:
        raise BenchmarkProblems(folder.root, folder.problems)
    tasks = {
        task_id: Task(task_id, task.folder, task.spec, task.prompt, task.rubric, task.assets)
        for task_id, task in folder.tasks.items()
        if task.spec is not None and task.prompt is not None and task.rubric is not None
    }
    return Benchmark(
        folder.root, folder.config, tasks, folder.systems, folder.panels, folder.newest_prices, folder.votes
    )


def load_task_facts(path: Path) -> TaskFacts:
    """What L1 needs of a task, from a whole task.yaml or a file with just id, kind, language, delivery and audio.

    Raises BenchmarkProblems with every problem of the file. Fields that belong to neither form are refused.
    """
    path = path.absolute()
    root = path.parent
    try:
        source = read_yaml(root, path, within=path.resolve().parent)
        whole = isinstance(source.value, dict) and bool(
            source.value.keys() & TaskSpec.model_fields.keys() - TaskFacts.model_fields.keys()
        )
        if not whole:
            return parse(source, TaskFacts)
        spec = parse(source, TaskSpec)
    except Refused as refused:
        raise BenchmarkProblems(root, refused.problems) from None
    return TaskFacts(**{name: getattr(spec, name) for name in TaskFacts.model_fields})
