"""What the UI shows of configuration assets."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.showing import markdown_table
from vvb_resources.store.artifacts import Manifest


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """A task's prompt, a rubric's checks, and the snapshot that this version is kept as."""
    shown: dict[str, dg.MetadataValue] = {
        "snapshot": dg.MetadataValue.path(str(workspace.home.snapshots / f"{manifest.data_version}.json"))
    }
    task = workspace.benchmark.tasks.get(manifest.partition or "")
    if node.key == "task_spec" and task:
        shown["prompt"] = dg.MetadataValue.md(task.prompt)
    if node.key == "rubric" and task:
        rows = [
            {"check": c.id, "title": c.title, "criticality": c.criticality, "modality": c.modality, "pass": c.pass_}
            for c in task.rubric.checks
        ]
        shown["checks"] = markdown_table(rows, ["check", "title", "criticality", "modality", "pass"])
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """Configuration is not a table."""
    return None
