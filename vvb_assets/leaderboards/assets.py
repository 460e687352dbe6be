"""What the UI shows of a table: the table, and of the leaderboard its picture."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.showing import picture, schema
from vvb_resources.store.artifacts import Manifest


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """The table as Markdown; the leaderboard's picture first."""
    folder = workspace.store.payload(manifest)
    shown: dict[str, dg.MetadataValue] = {}
    if (folder / "leaderboard.png").is_file():
        shown["picture"] = picture(folder / "leaderboard.png", "leaderboard")
    if node.key not in TABLES:
        return {"files": dg.MetadataValue.md("\n".join(f"- {path.name}" for path in sorted(folder.iterdir())))}
    shown["table"] = dg.MetadataValue.md((folder / f"{node.key}.md").read_text())
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """Name, kind and meaning of each column."""
    if node.key not in TABLES:
        return None
    kinds = {"system": "string", "panel": "string", "reason": "string"}
    return schema({name: (kinds.get(name, "number"), text) for name, text in TABLES[node.key].columns.items()})
