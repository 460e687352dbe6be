"""What the UI shows of run scores and results."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from vvb_assets.graph import Node, Workspace
from vvb_assets.showing import markdown_table, schema
from vvb_resources.benchmark.models import DIMENSIONS
from vvb_resources.store.artifacts import Manifest
from vvb_resources.store.tables import read_parquet

RUN_COLUMNS: dict[str, tuple[str, str]] = {
    "panel": ("string", "judge panel"),
    "n_pass": ("int", "checks passed"),
    "n_fail": ("int", "checks failed"),
    "n_unknown": ("int", "checks answered unknown"),
    "n_na": ("int", "checks not applicable"),
    "n_error": ("int", "checks without a readable verdict"),
    "core_fail": ("int", "core checks failed"),
    "strict": ("bool", "no core check failed and one check passed"),
    **dict.fromkeys(DIMENSIONS, ("float", "quality score 1 to 5")),
    "run_overall": ("float", "mean of the known dimensions; 0 without a video"),
    "complete": ("bool", "judged whole"),
}


def describe(workspace: Workspace, node: Node, manifest: Manifest) -> Mapping[str, dg.MetadataValue]:
    """The run's statistics by panel."""
    rows = read_parquet(workspace.store.payload(manifest) / "statistics.parquet").to_dicts()
    return {"by panel": markdown_table(rows, list(RUN_COLUMNS))}


def columns(node: Node) -> dg.TableSchema | None:
    """Column schema of run scores."""
    return schema(RUN_COLUMNS) if node.key == "run_scores" else None
