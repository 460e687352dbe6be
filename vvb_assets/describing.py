"""What a person sees of an artifact in the UI: each stage describes its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.history import history_rows
from vvb_assets.human import assets as human
from vvb_assets.l1 import assets as l1
from vvb_assets.leaderboards import assets as leaderboards
from vvb_assets.panels import assets as panels
from vvb_assets.rollouts import assets as rollouts
from vvb_assets.scores import assets as scores
from vvb_assets.showing import markdown_table
from vvb_assets.tasks import assets as tasks
from vvb_resources.store.artifacts import Manifest

STAGES: Mapping[str, Any] = {
    "tasks": tasks,
    "rollouts": rollouts,
    "l1": l1,
    "media": panels,
    "panels": panels,
    "scores": scores,
    "human": human,
    "leaderboards": leaderboards,
}


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """Metadata of an artifact's event: its figures, then what its stage adds (previews, links, pictures)."""
    figures = {name: figure(value) for name, value in manifest.summary.items() if value is not None}
    before: dict[str, dg.MetadataValue] = {}
    if workspace.store.was_remade(node.key, manifest.partition):
        # not `history`: a rollout has a figure of that name, its attempts
        columns = ("at", "moved", "because", "versions")
        before = {"changes": markdown_table(history_rows(workspace, manifest), columns)}
    return {**STAGES[node.stage].describe(workspace, node, manifest), **figures, **before}


def columns(node: Node) -> dg.TableSchema | None:
    """Column schema of a node's table, if it is one."""
    found: dg.TableSchema | None = STAGES[node.stage].columns(node)
    return found


def figure(value: Any) -> dg.MetadataValue:
    """A JSON scalar as Dagster metadata; booleans as words, since Dagster takes them for numbers."""
    if isinstance(value, bool):
        return dg.MetadataValue.bool(value)
    if isinstance(value, int):
        return dg.MetadataValue.int(value)
    if isinstance(value, float):
        return dg.MetadataValue.float(value)
    if isinstance(value, str):
        return dg.MetadataValue.text(value)
    return dg.MetadataValue.json(value)
