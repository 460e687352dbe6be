"""Configuration assets: digests of the benchmark's files. Their data version is their content (no file, no asset).

Each version that was ever used is kept as a snapshot under its digest, so that an old score can be traced to the
rubric, prompt or panel that held then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vvb_assets.graph import Made, Node, Workspace
from vvb_resources.benchmark import digests
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.benchmark.models import PanelConfig
from vvb_resources.media.engines import chosen_model, model_identity
from vvb_resources.store.atomic import write_json
from vvb_resources.store.digests import digest_value

Version = Callable[[Benchmark, "str | None"], str]
Content = Callable[[Benchmark, "str | None"], Any]


def nodes(benchmark: Benchmark) -> list[Node]:
    """Nodes of the stage: a task's two files, a system's file, and the benchmark's own settings."""
    return [
        _source(
            "task_spec",
            "task",
            "What the agent is given and L1 checks: prompt, delivery spec, audio policy, assets.",
            lambda b, p: digests.task_digest(b.tasks[_known(p)]),
            _task_content,
        ),
        _source(
            "rubric",
            "task",
            "Goals, L2 checks and L3 anchors of a task.",
            _once(lambda b, p: digests.rubric_digest(b.tasks[_known(p)])),
            lambda b, p: b.tasks[_known(p)].rubric.model_dump(mode="json", by_alias=True),
        ),
        _source(
            "system_config",
            "system",
            "An agent system: its model, harness, effort, and the files of a scripted one.",
            lambda b, p: digests.system_digest(b, _known(p)),
            lambda b, p: b.systems[_known(p)].model_dump(mode="json"),
        ),
        _source(
            "sandbox_policy",
            "none",
            "What a rollout may use: deadline, memory, network.",
            lambda b, p: digests.sandbox_digest(b.config),
            lambda b, p: b.config.sandbox.model_dump(mode="json"),
        ),
        _source(
            "l1_limits",
            "none",
            "Tolerances and limits of the program checks.",
            lambda b, p: digests.limits_digest(b.config),
            lambda b, p: b.config.limits.model_dump(mode="json"),
        ),
        _source(
            "speech_model",
            "none",
            "The model that names the language of narration: by its weights, wherever they lie.",
            lambda b, p: digest_value(_speech_model(b, p)),
            _speech_model,
        ),
        _source(
            "study_design",
            "none",
            "The human study: pairs of systems a task, and the seed.",
            lambda b, p: digests.study_digest(b.config),
            lambda b, p: b.config.study.model_dump(mode="json"),
        ),
        _source(
            "catalogue",
            "none",
            "Names, categories and languages that the tables show.",
            lambda b, p: digest_value(_catalogue(b, p)),
            _catalogue,
        ),
    ]


def panel_config_node(panel: PanelConfig) -> Node:
    """The configuration asset at the head of a panel's family."""
    return _source(
        f"{panel.id}/panel_config",
        "none",
        f"Who judges in panel {panel.id}, how they see and hear, and what is routed to whom.",
        _once(lambda b, p: digests.panel_digest(b.panels[panel.id])),
        lambda b, p: b.panels[panel.id].model_dump(mode="json"),
        group=panel.id,
    )


def _once(version: Version) -> Version:
    """A version that follows from the opened benchmark alone: a run asks for it again with each of its judgments.

    (Where files are read for it, as a task's assets are, they have to be read each time.)
    """
    known: dict[str | None, tuple[Benchmark, str]] = {}

    def asked(benchmark: Benchmark, partition: str | None) -> str:
        found = known.get(partition)
        if found is None or found[0] is not benchmark:
            found = known[partition] = (benchmark, version(benchmark, partition))
        return found[1]

    return asked


def _source(key: str, dims: Any, description: str, version: Version, content: Content, group: str = "tasks") -> Node:
    def make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
        value = content(workspace.benchmark, partition)
        digest = version(workspace.benchmark, partition)
        workspace.store.snapshot(digest, value)
        write_json(out / "content.json", value)
        return Made(digest, summary=_summary(value))

    return Node(
        key=key,
        stage="tasks",
        dims=dims,
        inputs=(),
        code_version="1",
        make=make,
        description=description,
        group=group,
        kinds=("yaml",),
        version_of=version,
        batch=100,
    )


def _summary(value: Any) -> dict[str, Any]:
    """Figures worth showing beside a configuration: the scalars of its top level, and sizes of its lists."""
    scalars = {k: v for k, v in value.items() if isinstance(v, str | int | float | bool) and len(str(v)) < 200}
    return scalars | {f"{k} (count)": len(v) for k, v in value.items() if isinstance(v, list)}


def _task_content(benchmark: Benchmark, partition: str | None) -> dict[str, Any]:
    task = benchmark.tasks[_known(partition)]
    return {
        **task.spec.model_dump(mode="json"),
        "prompt": task.prompt,
        "assets": [asset.relative_to(task.folder).as_posix() for asset in task.assets],
    }


def _speech_model(benchmark: Benchmark, _: str | None) -> dict[str, Any]:
    return {"model": model_identity(chosen_model(benchmark.config.speech.model, benchmark.root))}


def _catalogue(benchmark: Benchmark, _: str | None) -> dict[str, Any]:
    return {
        "benchmark": benchmark.config.name,
        "tasks": {
            task.id: {
                "title": task.spec.title,
                "category": task.spec.category,
                "subcategories": list(task.spec.subcategories),
                "language": task.spec.language,
                "kind": task.spec.kind,
            }
            for task in benchmark.tasks.values()
        },
        "systems": {s.id: {"name": s.name, "lab": s.lab, "harness": s.harness} for s in benchmark.systems.values()},
        "bootstrap": benchmark.config.bootstrap,
        "seed": benchmark.config.seed,
    }


def _known(partition: str | None) -> str:
    assert partition is not None
    return partition
