"""The plan as an asset of its own: materialise `plan` in the UI and see what is stale before anything is made.

It looks and makes nothing. Its metadata: sums, a table a kind, reasons, orphans, and a picture with a cell a (system,
task) and panel. Its data version is the digest of what it lists.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg

from vvb_assets.breakdown import KINDS, document
from vvb_assets.graph import Graph, split_run
from vvb_assets.leaderboards.canvas import INK, MUTED, SMALL, nothing, picture
from vvb_assets.orphans import by_reason, left_behind
from vvb_assets.panels.estimates import with_estimates
from vvb_assets.plan import Plan, make_plan
from vvb_assets.settings import Settings
from vvb_assets.showing import markdown_table
from vvb_resources.store.digests import digest_value

MOST_CELLS = 250  # tasks (or systems) that a picture shows at most; the tables have all
SUMS = ("partitions", "calls", "input_tokens", "output_tokens", "usd", "wall_seconds")


def plan_asset(settings: Settings) -> dg.AssetsDefinition:
    """The asset `plan`; each materialisation reads files and store anew."""

    @dg.asset(
        name="plan",
        group_name="plan",
        description="What is missing or stale, why, and what making it would take. Looks, and makes nothing.",
        kinds={"table"},
        code_version="1",
    )
    def plan() -> dg.MaterializeResult[Any]:
        workspace = settings.open()
        found = with_estimates(workspace, make_plan(workspace))
        told = document(workspace.graph, found)
        left = by_reason(left_behind(workspace))
        return dg.MaterializeResult(
            metadata=shown(workspace.graph, found, told, left),
            data_version=dg.DataVersion(digest_value([told["stale"], told["held"]])),
        )

    return plan


def shown(
    graph: Graph, plan: Plan, told: Mapping[str, Any], left: Mapping[str, tuple[int, int]]
) -> dict[str, dg.MetadataValue]:
    """The plan's metadata; `told` is its document, `left` artifacts and bytes of orphans by reason."""
    totals = {name: value for name, value in told["totals"].items() if value is not None}
    found: dict[str, dg.MetadataValue] = {
        name: dg.MetadataValue.float(float(value)) if isinstance(value, float) else dg.MetadataValue.int(value)
        for name, value in totals.items()
    }
    for kind in KINDS:
        found[f"by {kind}"] = markdown_table(told["by"][kind], (kind, *SUMS))
    reasons = Counter((item.asset, "missing" if item.missing else _why(item)) for item in (*plan.stale, *plan.held))
    rows = [{"asset": asset, "why": why, "partitions": count} for (asset, why), count in reasons.items()]
    found["reasons"] = markdown_table(rows, ("asset", "why", "partitions"))
    orphans = [{"why": why, "artifacts": count, "bytes": size} for why, (count, size) in left.items()]
    found["orphans"] = markdown_table(orphans, ("why", "artifacts", "bytes"))
    image = base64.b64encode(heat_map(graph, plan)).decode()
    found["heat map"] = dg.MetadataValue.md(
        f"![stale artifacts by system, task and panel](data:image/png;base64,{image})"
    )
    return found


def _why(item: Any) -> str:
    return ", ".join(reason.input for reason in item.reasons)


def counts(graph: Graph, plan: Plan) -> dict[str, dict[tuple[str, str], int]]:
    """Stale and held artifacts of each run: those that every panel shares under "shared", then by panel."""
    panels = dict.fromkeys(key.split("/")[0] for key in graph.nodes if "/" in key)
    found: dict[str, dict[tuple[str, str], int]] = {name: {} for name in ("shared", *panels)}
    for item in (*plan.stale, *plan.held):
        if graph.nodes[item.asset].dims != "run" or item.partition is None:
            continue
        cells = found[item.asset.split("/")[0] if "/" in item.asset else "shared"]
        run = split_run(item.partition)
        cells[run] = cells.get(run, 0) + 1
    return found


def heat_map(graph: Graph, plan: Plan) -> bytes:
    """PNG: a block a panel (and one for what all share), a row a system, a column a task; dark: more is stale."""
    blocks = {name: cells for name, cells in counts(graph, plan).items() if cells}
    title = "Stale artifacts by system and task"
    if not blocks:
        return nothing(title, "nothing of a run is missing or stale")
    systems, tasks = graph.systems[:MOST_CELLS], graph.tasks[:MOST_CELLS]
    row_px = 22 if len(systems) <= 20 else 10
    block_px = row_px * len(systems) + 44
    height_px = 70 + block_px * len(blocks)

    def paint(figure: Any, height: int) -> None:
        for place, (name, cells) in enumerate(blocks.items()):
            bottom = height - 60 - block_px * place - row_px * len(systems) - 20
            axes = figure.add_axes((0.14, bottom / height, 0.83, row_px * len(systems) / height))
            grid = [[cells.get((system, task), 0) for task in tasks] for system in systems]
            axes.imshow(grid, aspect="auto", cmap="Blues", vmin=0, vmax=5 if name == "shared" else 3)
            if row_px >= 20:
                axes.set_yticks(range(len(systems)), systems, fontsize=SMALL, color=INK)
            else:
                axes.set_yticks([])
            axes.set_xticks([])
            axes.tick_params(length=0)
            told = (
                f"{name}: {sum(cells.values())} artifacts in {len(cells)} runs, {len(tasks)} tasks from left to right"
            )
            axes.set_title(told, fontsize=SMALL, color=MUTED, loc="left")

    return picture(height_px, title, paint)
