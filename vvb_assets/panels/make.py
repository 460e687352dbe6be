"""Judging: the video without its traces, made once for all panels; then a family of three assets a panel."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from vvb_assets.graph import Made, Moot, Node, Workspace, split_run
from vvb_assets.l1.make import load_facts
from vvb_assets.panels.batching import ask_in_batches
from vvb_assets.panels.desk import call_desk, paid_judges, reply_store
from vvb_assets.panels.judging import judge_run
from vvb_assets.panels.judgment import Judgment, undelivered_judgment
from vvb_assets.panels.reading import read_judgment
from vvb_assets.tasks.make import panel_config_node
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.benchmark.models import PanelConfig
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.prompt import PROMPT_VERSION
from vvb_resources.judges.providers.base import delete_orphans, provider_module, provider_names
from vvb_resources.judges.reading import READER_VERSION
from vvb_resources.judges.uploads import UploadList
from vvb_resources.media.blinding import BlindedMedia, blind
from vvb_resources.media.delivery import find_delivery
from vvb_resources.store.atomic import write_json, write_parquet
from vvb_resources.store.digests import digest_value
from vvb_resources.store.tables import read_parquet

log = logging.getLogger(__name__)
UNDELIVERED = digest_value("undelivered")
NO_JUDGMENT = Judgment("", False, ()).digest  # of a run without a video: whoever the panel is, it asked nobody


def media_nodes(benchmark: Benchmark) -> list[Node]:
    """The blinded video, shared by all panels."""
    return [
        Node(
            key="blinded_media",
            stage="media",
            dims="run",
            inputs=("rollout", "l1_checks"),
            code_version="1",
            make=_blind,
            uses={"l1_checks": "delivered"},
            description="The video without metadata, encoder traces and name: what judges see.",
            group="media",
            kinds=("video",),
            batch=25,
            workers=benchmark.config.budgets.workers,
        )
    ]


def panel_nodes(panel: PanelConfig) -> list[Node]:
    """The family of one panel; its id is the key prefix and the group."""
    # Instruments use this machine's cores; models are waited for, as many at once as their limits allow.
    workers = max([2, *(judge.limits.concurrency for judge in paid_judges(panel))])
    shared = {"stage": "panels", "dims": "run", "group": panel.id, "batch": 11, "op": f"panel_{panel.id}"}
    inputs = ("blinded_media", "rubric", "task_spec", f"{panel.id}/panel_config")

    def judge(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
        return _judge(panel.id, workspace, partition, out)

    def prepare(workspace: Workspace, partitions: Sequence[str]) -> None:
        _delete_orphans(workspace.home.uploads)
        ask_in_batches(workspace, workspace.benchmark.panels[panel.id], partitions)

    def verdicts(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
        return _verdicts(panel.id, workspace, partition, out)

    def scores(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
        return _scores(panel.id, workspace, partition, out)

    return [
        panel_config_node(panel),
        Node(
            key=f"{panel.id}/judgment",
            inputs=inputs,
            code_version=_judging_version(panel),
            make=judge,
            description="The raw replies of the panel's judges to one video.",
            kinds=("json",),
            judges=len(panel.judges),
            moot=Moot("blinded_media", UNDELIVERED, ("rubric", "task_spec")),
            workers=workers,
            prepare=prepare,
            checks=(("complete", "Every judge of the panel answered everything it was asked."),),
            **shared,  # type: ignore[arg-type]
        ),
        Node(
            key=f"{panel.id}/l2_verdicts",
            inputs=(f"{panel.id}/judgment", "rubric"),
            code_version=f"1, reader {READER_VERSION}",
            make=verdicts,
            description="A verdict for each check of the rubric, with interval, channel and reason (L2).",
            kinds=("parquet",),
            workers=workers,
            moot=Moot(f"{panel.id}/judgment", NO_JUDGMENT, ("rubric",)),
            remember=_verdicts_said,
            checks=(("no_judge_errors", "No check was left without a readable verdict."),),
            **shared,  # type: ignore[arg-type]
        ),
        Node(
            key=f"{panel.id}/l3_scores",
            inputs=(f"{panel.id}/judgment", "rubric"),
            code_version=f"1, reader {READER_VERSION}",
            make=scores,
            description="Five quality scores against the task's anchors (L3).",
            kinds=("parquet",),
            workers=workers,
            moot=Moot(f"{panel.id}/judgment", NO_JUDGMENT, ("rubric",)),
            **shared,  # type: ignore[arg-type]
        ),
    ]


def _judging_version(panel: PanelConfig) -> str:
    """What in our own code could change a reply or what is asked again: prompt, reader, each provider's part.

    A new reader finds the stored replies and asks for nothing but what it cannot read in them.
    """
    names = sorted({judge.provider for judge in panel.judges})
    known = provider_names()  # a panel may name a provider that is not installed: told when the judge is asked
    parts = [f"{name} {provider_module(name).VERSION}" for name in names if name in known]
    return ", ".join(["1", f"prompt {PROMPT_VERSION}", f"reader {READER_VERSION}", *parts])


def _blind(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    checks, _ = workspace.payload("l1_checks", partition)
    _, rollout = workspace.payload("rollout", partition)
    if not checks.summary["delivered"]:
        write_json(out / "undelivered.json", {"delivered": False})
        return Made(UNDELIVERED, summary={"delivered": False})
    video = find_delivery(rollout / "delivery").video
    assert video is not None, "a delivered run has a video"
    media = blind(video, out)
    return Made(
        media.digest,
        summary={
            "delivered": True,
            "duration_s": media.duration_s,
            "width": media.width,
            "height": media.height,
            "fps": media.fps,
            "sound": media.has_audio,
        },
    )


@lru_cache(maxsize=4)
def _delete_orphans(path: Path) -> None:
    """Once a process, before its first judgment by models: what killed ones have left with services."""
    for line in delete_orphans(UploadList(path)):
        log.info(line)


def _judge(panel_id: str, workspace: Workspace, partition: str | None, out: Path) -> Made:
    assert partition is not None
    judgment = judge_partition(workspace, panel_id, partition)
    judgment.save(out / "judgment.json")
    return Made(
        judgment.digest,
        summary={
            "judges": ", ".join(judge.judge for judge in judgment.judges) or "none (no video)",
            "calls": sum(judge.calls for judge in judgment.judges),
            "stored replies used": sum(judge.cached for judge in judgment.judges),
            "usd": judgment.usd,
            "complete": judgment.complete,
        },
        checks={
            "complete": {
                "passed": judgment.complete,
                "severity": "ERROR",
                "description": "; ".join(f"{j.judge}: {j.outcome}" for j in judgment.judges) or "no video to judge",
            }
        },
    )


def judge_partition(workspace: Workspace, panel_id: str, partition: str, sample_index: int = 0) -> Judgment:
    """The panel's judgment of a run, from stored replies and calls; of one without a video, the judgment that says so.

    `sample_index`: which repetition. Raises what `judge_run` raises.
    """
    panel, task = workspace.benchmark.panels[panel_id], workspace.benchmark.tasks[split_run(partition)[1]]
    manifest, folder = workspace.payload("blinded_media", partition)
    if not manifest.summary["delivered"]:
        return undelivered_judgment(panel)
    return judge_run(
        panel,
        task.rubric,
        task.spec,
        task.prompt,
        BlindedMedia.load(folder),
        reply_store(workspace),
        ObservationCache(workspace.home.observations),
        desk=call_desk(workspace),
        sample_index=sample_index,
    )


def load_judgment(workspace: Workspace, panel_id: str, partition: str) -> Judgment:
    """A panel's judgment of a run."""
    _, folder = workspace.payload(f"{panel_id}/judgment", partition)
    return Judgment.load(folder / "judgment.json")


def _verdicts(panel_id: str, workspace: Workspace, partition: str | None, out: Path) -> Made:
    assert partition is not None
    judgment = load_judgment(workspace, panel_id, partition)
    rubric = workspace.benchmark.tasks[split_run(partition)[1]].rubric
    frame, _ = read_judgment(judgment, rubric, reply_store(workspace))
    write_parquet(out / "verdicts.parquet", frame)
    counts = {str(k): int(v) for k, v in frame.get_column("verdict").value_counts().iter_rows()}
    errors = counts.get("judge_error", 0)
    return Made(
        digest_value(frame.to_dicts()),
        summary={name: counts.get(name, 0) for name in ("pass", "fail", "unknown", "na", "judge_error")},
        checks={
            "no_judge_errors": {
                "passed": errors == 0,
                "severity": "ERROR",
                "description": f"{errors} of {frame.height} checks without a readable verdict",
            }
        },
    )


def _verdicts_said(folder: Path) -> Mapping[str, Any]:
    """Verdict by check, for the history: the replies stay, the table that read them does not."""
    table = read_parquet(folder / "verdicts.parquet")
    return {"verdicts": dict(zip(table["check"].to_list(), table["verdict"].to_list(), strict=True))}


def _scores(panel_id: str, workspace: Workspace, partition: str | None, out: Path) -> Made:
    assert partition is not None
    judgment = load_judgment(workspace, panel_id, partition)
    rubric = workspace.benchmark.tasks[split_run(partition)[1]].rubric
    _, frame = read_judgment(judgment, rubric, reply_store(workspace))
    write_parquet(out / "scores.parquet", frame)
    return Made(digest_value(frame.to_dicts()), summary={row["dim"]: row["score"] for row in frame.to_dicts()})


__all__ = ["load_facts", "load_judgment", "media_nodes", "panel_nodes", "reply_store"]
