"""What judging cost, by panel, judge and system: from the judgments as they stand, whenever their replies were paid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from vvb_assets.graph import Made, Node, Workspace, split_run
from vvb_assets.panels.columns import COST_SPEC
from vvb_assets.panels.make import load_judgment
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.judges.pricing import TOKEN_KINDS
from vvb_resources.store.digests import digest_value
from vvb_resources.store.tables import FORMATS, write_table

NOTHING_JUDGED = "no panel has judged a video"


def cost_nodes(benchmark: Benchmark) -> list[Node]:
    """The table of judging costs, made with the other tables of the benchmark."""
    return [
        Node(
            key="judging_costs",
            stage="leaderboards",
            dims="none",
            inputs=tuple(f"{panel}/judgment" for panel in benchmark.panels),
            code_version="1",
            make=_make,
            description="What judging cost: tokens and USD by panel, judge and system, of the replies that count.",
            group="leaderboards",
            kinds=("polars", "table"),
            partial=True,
            op="tables",
        )
    ]


def _make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    table = judging_costs(workspace)
    if table.is_empty():
        table = pl.DataFrame([{"reason": NOTHING_JUDGED}], schema=table.schema)
    write_table(table, out, node.key, FORMATS, COST_SPEC)
    known = table["usd"].null_count() == 0
    return Made(
        digest_value(table.to_dicts()), summary={"rows": table.height, "usd": table["usd"].sum() if known else None}
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
    why = pl.when(pl.col("usd").is_null()).then(pl.lit("a reply without a known price"))
    return table.with_columns(usd_per_run=pl.col("usd") / pl.col("runs"), reason=why).select(list(COST_SPEC.columns))
