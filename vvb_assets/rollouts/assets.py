"""What the UI shows of a rollout."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.rollouts.make import load_record
from vvb_assets.showing import markdown_table
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
    if record.post_mortem is not None:
        shown["post mortem"] = dg.MetadataValue.json(record.post_mortem.model_dump(mode="json"))
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """A rollout is a folder, not a table."""
    return None
