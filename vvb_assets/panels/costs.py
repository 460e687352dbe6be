"""What judging cost, by panel, judge and system: from the judgments as they stand, whenever their replies were paid."""

from __future__ import annotations

from typing import Any

import polars as pl

from vvb_assets.graph import Workspace, split_run
from vvb_assets.panels.make import load_judgment
from vvb_resources.judges.pricing import TOKEN_KINDS
from vvb_resources.store.tables import TableSpec

COST_SPEC = TableSpec(
    "Cost of judging",
    {
        "panel": "id of the judge panel",
        "judge": "the judge of the panel",
        "model": "the judge's model",
        "system": "id of the agent system that was judged",
        "runs": "delivered runs judged",
        "replies": "replies the judgments rest on",
        **{f"{kind}_tokens": f"tokens billed as {kind}" for kind in TOKEN_KINDS},
        "usd": "cost of these replies, USD; null while one has no known price",
        "usd_per_run": "usd / runs",
    },
)


def judging_costs(workspace: Workspace) -> pl.DataFrame:
    """A row for each (panel, judge, system) with a judgment of a delivered video; columns as in `COST_SPEC`.

    What failed calls cost on the way is in the ledger, not here: these are the replies that count. Raises StoreError
    for a judgment that cannot be read.
    """
    rows: list[dict[str, Any]] = []
    for panel in workspace.benchmark.panels:
        node = workspace.graph.nodes[f"{panel}/judgment"]
        for partition in workspace.store.manifests(node.key, workspace.graph.partitions(node)):
            assert partition is not None
            judgment = load_judgment(workspace, panel, partition)
            for record in judgment.judges:
                rows.append(
                    {
                        "panel": panel,
                        "judge": record.judge,
                        "model": record.model,
                        "system": split_run(partition)[0],
                        "replies": len(record.replies),
                        **{f"{kind}_tokens": record.usage.get(kind, 0) for kind in TOKEN_KINDS},
                        "usd": record.usd,
                    }
                )
    counts: dict[str, Any] = {"replies": pl.Int64, **{f"{kind}_tokens": pl.Int64 for kind in TOKEN_KINDS}}
    texts: dict[str, Any] = dict.fromkeys(("panel", "judge", "model", "system"), pl.String)
    frame = pl.DataFrame(rows, schema={**texts, **counts, "usd": pl.Float64})
    known = pl.col("usd").null_count() == 0
    table = frame.group_by("panel", "judge", "model", "system", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("runs"),
        *(pl.col(name).sum() for name in counts),
        pl.when(known).then(pl.col("usd").sum()).alias("usd"),
    )
    return table.with_columns(usd_per_run=pl.col("usd") / pl.col("runs")).select(list(COST_SPEC.columns))
