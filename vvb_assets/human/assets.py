"""What the UI shows of the human study: the ratings with their picture, the agreement tables, votes and pairs."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.human.columns import HUMAN_TABLES
from vvb_assets.human.make import table_names
from vvb_assets.showing import markdown_table, picture, schema
from vvb_resources.store.artifacts import Manifest
from vvb_resources.store.tables import read_parquet

VOTE_COLUMNS = {
    "vote": ("string", "key of the vote: file and its own key"),
    "annotator": ("string", "who voted"),
    "task": ("string", "task whose two videos were shown"),
    "system_a": ("string", "system on side A"),
    "system_b": ("string", "system on side B"),
    "choice": ("string", "A, B, tie or both_bad"),
}
PAIR_COLUMNS = {name: VOTE_COLUMNS[name] for name in ("vote", "task", "system_a", "system_b")}
PAIR_COLUMNS["vote"] = ("string", "key of the comparison, in the order of showing")
_TEXT = ("system", "opponent", "panel", "margin", "choice", "metric", "reason")


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """The picture of the ratings first, then each table."""
    folder = workspace.store.payload(manifest)
    shown: dict[str, dg.MetadataValue] = {}
    if node.key == "human_votes":
        shown["votes"] = markdown_table(read_parquet(folder / "votes.parquet").to_dicts(), list(VOTE_COLUMNS))
    elif node.key == "human_pairs":
        rows = read_parquet(folder / "human_pairs.parquet").to_dicts()
        shown["design"] = markdown_table(rows, list(PAIR_COLUMNS))
        shown["file"] = dg.MetadataValue.path(str(folder / "human_pairs.csv"))
    if (folder / "human_elo.png").is_file():
        shown["picture"] = picture(folder / "human_elo.png", "human Elo with 95% intervals")
    for name in table_names(node.key):
        shown[name] = dg.MetadataValue.md((folder / f"{name}.md").read_text())
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """Name, kind and meaning of each column of the asset's main table."""
    if node.key in HUMAN_TABLES:
        meanings = HUMAN_TABLES[node.key].columns
        return schema({name: ("string" if name in _TEXT else "number", text) for name, text in meanings.items()})
    return schema(VOTE_COLUMNS if node.key == "human_votes" else PAIR_COLUMNS)
