"""What the UI shows of judging: the table of verdicts, the raw replies, and where each came from."""

from __future__ import annotations

import json
from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace, split_run
from vvb_assets.panels.make import load_judgment, reply_store
from vvb_assets.showing import markdown_table, schema
from vvb_resources.judges.providers.base import provider_module
from vvb_resources.store.artifacts import Manifest
from vvb_resources.store.tables import read_parquet

VERDICT_COLUMNS = {
    "check": ("string", "id of the rubric's check"),
    "core": ("bool", "core or detail"),
    "modality": ("string", "visual, audio or audio_visual"),
    "judge": ("string", "the judge of the panel it was routed to"),
    "verdict": ("string", "pass, fail, unknown, na or judge_error"),
    "start_s": ("float", "start of the evidence, seconds"),
    "end_s": ("float", "end of the evidence, seconds"),
    "channel": ("string", "picture or sound"),
    "reason": ("string", "the judge's reason"),
    "reply_key": ("string", "key of the raw reply in the store"),
}
SCORE_COLUMNS = {
    "dim": ("string", "VQ, VA, CL, TM or AQ"),
    "judge": ("string", "the judge of the panel it was routed to"),
    "score": ("int", "1 to 5, or null for insufficient evidence"),
    "reason": ("string", "the judge's reason"),
    "strengths": ("string", "strengths named"),
    "defects": ("string", "defects named"),
    "reply_key": ("string", "key of the raw reply in the store"),
}
REPLY_CHARACTERS = 6000


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """A preview of the table and links to what it was read from."""
    folder, partition = workspace.store.payload(manifest), manifest.partition
    if node.key == "blinded_media" or partition is None:
        return {}
    panel, _, part = node.key.partition("/")
    shown: dict[str, dg.MetadataValue] = {}
    if part == "l2_verdicts":
        rows = read_parquet(folder / "verdicts.parquet").to_dicts()
        shown["verdicts"] = markdown_table(rows, list(VERDICT_COLUMNS)[:-1])
    if part == "l3_scores":
        rows = read_parquet(folder / "scores.parquet").to_dicts()
        shown["scores"] = markdown_table(rows, list(SCORE_COLUMNS)[:-1])
    return {**shown, **_sources(workspace, panel, partition)}


def _sources(workspace: Workspace, panel: str, partition: str) -> dict[str, dg.MetadataValue]:
    """Task, rubric, panel and video versions, and each judge's raw reply."""
    system, task = split_run(partition)
    store, replies = workspace.store, reply_store(workspace)
    judgment = load_judgment(workspace, panel, partition)
    rows = []
    shown: dict[str, dg.MetadataValue] = {}
    for judge in judgment.judges:
        rows.append(
            {
                "judge": judge.judge,
                "provider": judge.provider,
                "model": judge.model,
                "replies": len(judge.replies),
                "tokens": json.dumps(dict(judge.usage)),
                "usd": judge.usd,
                "missing": ", ".join(judge.missing),
                "reply": judge.key,
            }
        )
        reply = replies.complete(judge.key)
        if reply is not None:
            text = provider_module(reply.provider).reply_text(reply.body)
            cut = "" if len(text) <= REPLY_CHARACTERS else f"\n… {len(text) - REPLY_CHARACTERS} more characters"
            shown[f"raw reply of {judge.judge}"] = dg.MetadataValue.md(
                "```json\n" + text[:REPLY_CHARACTERS].replace("```", "'''") + cut + "\n```"
            )
    versions = {
        name: found.data_version
        for name, found in (
            ("task_spec", store.load("task_spec", task)),
            ("rubric", store.load("rubric", task)),
            ("panel_config", store.load(f"{panel}/panel_config", None)),
            ("blinded_media", store.load("blinded_media", partition)),
            ("rollout", store.load("rollout", partition)),
        )
        if found is not None
    }
    media = store.load("blinded_media", partition)
    shown["judges"] = markdown_table(
        rows, ["judge", "provider", "model", "replies", "tokens", "usd", "missing", "reply"]
    )
    shown["sources"] = dg.MetadataValue.json(versions)
    if media is not None:
        shown["video"] = dg.MetadataValue.path(str(store.payload(media) / "video.mp4"))
    shown["explain"] = dg.MetadataValue.text(f"vvb explain {system} {task}")
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """Column schemas of verdicts and scores."""
    if node.key.endswith("/l2_verdicts"):
        return schema(VERDICT_COLUMNS)
    return schema(SCORE_COLUMNS) if node.key.endswith("/l3_scores") else None
