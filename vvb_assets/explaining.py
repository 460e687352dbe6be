"""A score traced down: run, program checks, panel, check, verdict, interval, frame, raw reply, versions."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image

from vvb_assets.graph import Workspace, run_key
from vvb_assets.panels.make import load_judgment, reply_store
from vvb_resources.errors import VvbError
from vvb_resources.judges.providers.base import provider_module
from vvb_resources.judges.reply_json import parse_document
from vvb_resources.judges.types import RawReply
from vvb_resources.media.blinding import BlindedMedia
from vvb_resources.media.frames import read_frames
from vvb_resources.store.artifacts import Manifest
from vvb_resources.store.atomic import write_bytes
from vvb_resources.store.tables import read_parquet

FRAME_SIDE = 1280


def explain_run(workspace: Workspace, system: str, task: str) -> dict[str, Any]:
    """A run from its outcome to its scores by panel. What was not made yet is null."""
    partition = run_key(system, task)
    rollout = workspace.store.load("rollout", partition)
    l1 = workspace.store.load("l1_checks", partition)
    panels = {panel: _panel(workspace, panel, partition) for panel in workspace.benchmark.panels}
    return {
        "system": system,
        "task": task,
        "rollout": _facts(rollout) if rollout else None,
        "delivery": str(workspace.store.payload(rollout) / "delivery") if rollout else None,
        "l1": json.loads((workspace.store.payload(l1) / "checks.json").read_text()) if l1 else None,
        "panels": panels,
        "versions": versions(workspace, partition),
    }


def _facts(manifest: Manifest) -> dict[str, Any]:
    return {"made_at": manifest.made_at, **manifest.summary}


def versions(workspace: Workspace, partition: str) -> dict[str, str]:
    """Data versions of what the run's scores hang on, as the artifacts recorded them."""
    recorded: dict[str, str] = {}
    for key in ("rollout", "l1_checks", *(f"{panel}/judgment" for panel in workspace.benchmark.panels)):
        manifest = workspace.store.load(key, partition)
        if manifest is not None:
            recorded.update(manifest.inputs)
            recorded[key] = manifest.data_version
    return dict(sorted(recorded.items()))


def _panel(workspace: Workspace, panel: str, partition: str) -> dict[str, Any] | None:
    verdicts = workspace.store.load(f"{panel}/l2_verdicts", partition)
    scores = workspace.store.load(f"{panel}/l3_scores", partition)
    if verdicts is None or scores is None:
        return None
    table = read_parquet(workspace.store.payload(verdicts) / "verdicts.parquet")
    quality = read_parquet(workspace.store.payload(scores) / "scores.parquet")
    return {"verdicts": table.to_dicts(), "scores": quality.to_dicts()}


def explain_check(workspace: Workspace, system: str, task: str, check_id: str) -> dict[str, Any]:
    """One check over all panels: what it asks, what each judge answered on which evidence, and from which reply.

    Raises VvbError when the rubric has no such check.
    """
    partition = run_key(system, task)
    checks = {check.id: check for check in workspace.benchmark.tasks[task].rubric.checks}
    if check_id not in checks:
        raise VvbError(f"no check {check_id!r}", where=f"the rubric of {task}", remedy=f"it has: {', '.join(checks)}")
    answers: dict[str, Any] = {}
    for panel in workspace.benchmark.panels:
        manifest = workspace.store.load(f"{panel}/l2_verdicts", partition)
        if manifest is None:
            answers[panel] = None
            continue
        table = read_parquet(workspace.store.payload(manifest) / "verdicts.parquet")
        rows = table.filter(pl.col("check") == check_id).to_dicts()
        answers[panel] = _evidence(workspace, panel, partition, rows[0]) if rows else None
    return {
        "system": system,
        "task": task,
        "check": checks[check_id].model_dump(mode="json", by_alias=True),
        "panels": answers,
        "versions": versions(workspace, partition),
    }


def _evidence(workspace: Workspace, panel: str, partition: str, row: dict[str, Any]) -> dict[str, Any]:
    """A verdict with the frame at the middle of its interval, and the reply it was read from."""
    media, folder = workspace.payload("blinded_media", partition)
    delivered = media.summary["delivered"]
    frame = None
    if delivered and row["start_s"] is not None and row["channel"] != "audio":
        middle = (row["start_s"] + (row["end_s"] if row["end_s"] is not None else row["start_s"])) / 2
        name = "~".join([panel, *partition.split("|"), str(row["check"])])
        frame = str(_save_frame(BlindedMedia.load(folder), middle, workspace.home.exports / "frames" / f"{name}.jpg"))
    reply = None
    if row["reply_key"]:
        replies = reply_store(workspace)
        raw = replies.complete(row["reply_key"])
        judge = next((j for j in load_judgment(workspace, panel, partition).judges if j.judge == row["judge"]), None)
        reply = {
            "key": row["reply_key"],
            "file": str(replies.root / replies.reference(row["reply_key"])),
            "said": _said(raw, str(row["check"])),
            "parts": replies.parts(row["reply_key"]),
            "model": judge.model if judge else None,
        }
    return {**row, "frame": frame, "reply": reply}


def _said(raw: RawReply | None, check_id: str) -> Any:
    """The row of a raw reply as the judge wrote it; null when it is not there."""
    text = provider_module(raw.provider).reply_text(raw.body) if raw else ""
    rows = [row for row in parse_document(text).checks if isinstance(row, dict)]
    return next((row for row in rows if row.get("id") == check_id), None)


def _save_frame(media: BlindedMedia, instant: float, path: Path) -> Path:
    for _, picture in read_frames(media.video, (instant,), FRAME_SIDE):
        buffer = io.BytesIO()
        Image.fromarray(picture).save(buffer, format="JPEG", quality=88)
        write_bytes(path, buffer.getvalue())
    return path
