"""What the UI shows of a table: the table, and its picture if it has one."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.leaderboards.columns import STORED_TABLES
from vvb_assets.showing import picture, schema
from vvb_resources.store.artifacts import Manifest

TEXT_COLUMNS = (
    *("system", "name", "lab", "harness", "panel", "panels", "missing_panels", "reason", "category", "language"),
    *("subcategory", "dim", "judge", "level", "part", "check", "next_system", "system_a", "system_b", "panel_a"),
    *("panel_b", "compared", "method", "measure", "human_reason", "model"),
)


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """The table as Markdown; its picture first."""
    folder = workspace.store.payload(manifest)
    shown: dict[str, dg.MetadataValue] = {}
    for path in sorted(folder.glob("*.png")):
        shown["picture" if path.stem == node.key else path.stem] = picture(path, path.stem)
    if node.key not in STORED_TABLES:
        return {"files": dg.MetadataValue.md("\n".join(f"- {path.name}" for path in sorted(folder.iterdir())))}
    shown["table"] = dg.MetadataValue.md((folder / f"{node.key}.md").read_text())
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """Name, kind and meaning of each column."""
    if node.key not in STORED_TABLES:
        return None
    kinds = dict.fromkeys(TEXT_COLUMNS, "string") | dict.fromkeys(("complete", "pareto", "exact", "own"), "bool")
    return schema({name: (kinds.get(name, "number"), text) for name, text in STORED_TABLES[node.key].columns.items()})
