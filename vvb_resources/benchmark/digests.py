"""Content digests of a benchmark's parts: the data versions of the graph.

Each is taken over canonical model content (indentation, comments, key order and spelt-out defaults change nothing) and
over bytes where bytes are what is used. A digest covers exactly what a change of which makes its artifacts stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from vvb_resources.benchmark.files import collect
from vvb_resources.benchmark.loader import Benchmark, Task
from vvb_resources.benchmark.models import BenchmarkConfig, JudgeConfig, PanelConfig, PriceList
from vvb_resources.benchmark.problems import BenchmarkProblems, Problem
from vvb_resources.store.digests import digest_file, digest_value

_TAXONOMY = ("category", "subcategories")
# Labels, and what prices tokens after the fact: editing them must not make hours of rollouts stale.
_SYSTEM_LABELS = {"name", "lab", "family", "price"}
# What cannot change a judge's reply. Of the limits only the cap on the output can.
_JUDGE_LABELS = {"limits", "price", "family", "system", "key", "batch"}


def _content(model: BaseModel, exclude: set[str] | None = None) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude=exclude)


def task_digest(task: Task) -> str:
    """What the agent is given and L1 uses: spec without taxonomy, prompt, names and bytes of the assets."""
    assets = {file.relative_to(task.assets_root).as_posix(): digest_file(file) for file in task.assets}
    return digest_value({"spec": _content(task.spec, set(_TAXONOMY)), "prompt": task.prompt, "assets": assets})


def taxonomy_digest(task: Task) -> str:
    """Category and subcategories: used by tables only."""
    return digest_value({name: _content(task.spec)[name] for name in _TAXONOMY})


def rubric_digest(task: Task) -> str:
    """The whole rubric: goals, requirements, checks, quality anchors, in their order."""
    return digest_value(_content(task.rubric))


def system_digest(benchmark: Benchmark, system_id: str) -> str:
    """What a system is run with: its configuration without labels, and names and bytes of its agent files.

    Raises KeyError for an unknown system, BenchmarkProblems if an agent file vanished or became unusable.
    """
    system = benchmark.systems[system_id]
    files: dict[str, str] = {}
    problems: list[Problem] = []
    for entry in system.agent:
        path = benchmark.root / entry
        if not path.exists():
            problems.append(Problem(entry, None, f"agent file of {system_id} is missing", "restore it"))
            continue
        members = (path,) if path.is_file() else collect(benchmark.root, path, problems)
        for file in members:
            files[_shown_as(path, file)] = digest_file(file)
    if problems:
        raise BenchmarkProblems(benchmark.root, problems)
    return digest_value({"config": _content(system, _SYSTEM_LABELS), "files": files})


def _shown_as(entry: Path, file: Path) -> str:
    """The name below {agent}/ under which the agent sees `file` of `entry`."""
    return entry.name if file == entry else f"{entry.name}/{file.relative_to(entry).as_posix()}"


def _judge_content(judge: JudgeConfig) -> dict[str, Any]:
    return {**_content(judge, _JUDGE_LABELS), "max_output_tokens": judge.limits.max_output_tokens}


def panel_digest(panel: PanelConfig) -> str:
    """What could change a reply of the panel: its id and its judges in order, without labels, prices and pacing."""
    return digest_value({"id": panel.id, "judges": [_judge_content(judge) for judge in panel.judges]})


def prices_digest(prices: PriceList | None) -> str:
    """The whole price list; None (no list) has a digest of its own."""
    return digest_value(None if prices is None else _content(prices))


def votes_digest(benchmark: Benchmark) -> str:
    """The human study: names and bytes of its files, and the ids that their rows may name.

    Without files the ids do not count: a new task then makes nothing stale.
    """
    if not benchmark.votes:
        return digest_value(None)
    files = {path.name: digest_file(path) for path in benchmark.votes}
    return digest_value({"files": files, "tasks": list(benchmark.tasks), "systems": list(benchmark.systems)})


def study_digest(config: BenchmarkConfig) -> str:
    """The design of the human study: pairs a task, and the seed."""
    return digest_value(_content(config.study))


def limits_digest(config: BenchmarkConfig) -> str:
    """The tolerances and limits of L1."""
    return digest_value(_content(config.limits))


def sandbox_digest(config: BenchmarkConfig) -> str:
    """What a rollout may use: sandbox kind, deadline, network, memory and so on."""
    return digest_value(_content(config.sandbox))
