"""What the UI shows of a rollout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.rollouts.make import load_record
from vvb_assets.rollouts.record import RolloutRecord
from vvb_assets.showing import markdown_table
from vvb_resources.harnesses.trajectory.types import Tokens
from vvb_resources.store.artifacts import Manifest


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """The delivery's files, how it ended, and how closed the sandbox was."""
    assert manifest.partition is not None
    record, folder = load_record(workspace, manifest.partition)
    rows = [{"path": f.path, "bytes": f.bytes, "sha256": f.sha256} for f in record.files]
    shown: dict[str, dg.MetadataValue] = {
        "files delivered": markdown_table(rows, ["path", "bytes", "sha256"]),
        "delivery": dg.MetadataValue.path(str(folder / "delivery")),
        "log": dg.MetadataValue.path(str(folder / "logs")),
        "sandbox": dg.MetadataValue.text(record.isolation.statement),
    }
    if record.history:
        past = [attempt.model_dump(mode="json") for attempt in record.history]
        shown["attempts that did not count"] = markdown_table(past, ["kind", "why", "run", "seconds", "calls", "usd"])
    if record.gateway is not None or record.trajectory is not None:
        shown["tokens"] = markdown_table(_accounts(record), ["account", "model", *Tokens.model_fields])
    if record.gateway is not None:
        shown["gateway log"] = dg.MetadataValue.path(str(folder / "logs" / "gateway"))
    if record.trajectory is not None:
        shown["trajectory"] = dg.MetadataValue.path(str(folder / "trajectory.json"))
        shown["trajectory in figures"] = dg.MetadataValue.json(record.trajectory.model_dump(mode="json"))
    if record.origin is not None:
        shown["imported from"] = dg.MetadataValue.json(record.origin.model_dump(mode="json", exclude_none=True))
    if record.post_mortem is not None:
        shown["post mortem"] = dg.MetadataValue.json(record.post_mortem.model_dump(mode="json"))
    return shown


def _accounts(record: RolloutRecord) -> list[dict[str, Any]]:
    """The gateway's tokens by model, and the harness's own in all, as rows."""
    rows = []
    if record.gateway is not None:
        models = record.gateway.models.items()
        rows += [{"account": "gateway", "model": name, **tokens.model_dump()} for name, tokens in models]
        if record.gateway.cut:
            cut = record.gateway.cut_tokens.model_dump()
            rows.append({"account": f"gateway, {record.gateway.cut} cut replies", "model": None, **cut})
    if record.trajectory is not None:
        rows.append({"account": "harness's log", "model": None, **record.trajectory.tokens.model_dump()})
    return rows


def columns(node: Node) -> dg.TableSchema | None:
    """A rollout is a folder, not a table."""
    return None
