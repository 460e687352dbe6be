"""What the UI shows of L1: a contact sheet, a waveform, and the table of checks."""

from __future__ import annotations

import json
from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.showing import markdown_table, picture, schema
from vvb_resources.store.artifacts import Manifest

CHECK_COLUMNS = {
    "check": ("string", "name of the program check"),
    "applies": ("bool", "does it count for this task"),
    "verdict": ("string", "pass, fail, na or unmeasured"),
    "measured": ("string", "what was measured"),
    "required": ("string", "what the task or the limits ask"),
    "why": ("string", "the reason in words"),
}


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """Previews of the file, or the verdicts on it."""
    folder = workspace.store.payload(manifest)
    shown: dict[str, dg.MetadataValue] = {}
    if node.key == "l1_measurements":
        for name, title in (("contact.jpg", "contact sheet"), ("waveform.png", "waveform")):
            if (folder / name).is_file():
                shown[title] = picture(folder / name, title)
        shown["facts"] = dg.MetadataValue.json(json.loads((folder / "facts.json").read_text()))
    else:
        checks = json.loads((folder / "checks.json").read_text())["checks"]
        rows = [{"check": name, **check} for name, check in checks.items()]
        shown["checks"] = markdown_table(rows, list(CHECK_COLUMNS))
    return shown


def columns(node: Node) -> dg.TableSchema | None:
    """The table of checks."""
    return schema(CHECK_COLUMNS) if node.key == "l1_checks" else None
