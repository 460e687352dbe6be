"""What each system cost. An unpriced run is null and shown as such; a total over part of the runs is never a total."""

from __future__ import annotations

import polars as pl

COST_COLUMNS = ("total_usd", "mean_usd", "median_usd", "p90_usd", "max_usd")


def cost_table(runs: pl.DataFrame, overall: pl.DataFrame | None = None) -> pl.DataFrame:
    """USD per system: totals, mean, median, 90th percentile (linear interpolation), maximum, per playable video.

    `runs` has system, task, delivered (null = not made) and usd (null = unpriced), one row a run. `overall` has system
    and overall_nv0; with it come `overall_per_usd` = overall_nv0 / mean_usd and `pareto` (null without both). A system
    with an unpriced or missing run has null amounts and says so in `reason`; `priced_usd` is what its priced runs cost.
    Sorted as the runs are.
    """
    made = runs.filter(pl.col("delivered").is_not_null())
    counts = runs.group_by(pl.col("system").cast(pl.String), maintain_order=True).agg(
        tasks=pl.len().cast(pl.Int64), runs=pl.col("delivered").count().cast(pl.Int64)
    )
    usd = pl.col("usd")
    sums = made.group_by(pl.col("system").cast(pl.String)).agg(
        priced=usd.count().cast(pl.Int64),
        playable=pl.col("delivered").sum().cast(pl.Int64),
        priced_usd=usd.sum(),
        total_usd=usd.sum(),
        mean_usd=usd.mean(),
        median_usd=usd.median(),
        p90_usd=usd.quantile(0.9, interpolation="linear"),
        max_usd=usd.max(),
    )
    table = counts.join(sums, on="system", how="left", maintain_order="left")
    table = table.with_columns(pl.col("priced", "playable").fill_null(0))
    whole = (pl.col("priced") == pl.col("tasks")) & (pl.col("tasks") > 0)
    table = table.with_columns(pl.when(whole).then(pl.col(c)).alias(c) for c in COST_COLUMNS)
    table = table.with_columns(
        priced_usd=pl.when(pl.col("priced") > 0).then(pl.col("priced_usd")),
        usd_per_playable=per_playable(pl.col("total_usd"), pl.col("playable")),
    )
    known = table.select("system").with_columns(overall_nv0=pl.lit(None, pl.Float64))
    if overall is not None:
        known = overall.select(pl.col("system").cast(pl.String), "overall_nv0")
    table = table.join(known, on="system", how="left", maintain_order="left")
    table = table.with_columns(overall_per_usd=per_usd(pl.col("overall_nv0"), pl.col("mean_usd")))
    placed = pl.col("mean_usd").is_not_null() & pl.col("overall_nv0").is_not_null()
    table = table.with_columns(pareto=pl.when(placed).then(pl.col("system").is_in(pareto_frontier(table))))
    return table.with_columns(reason=_reason())


def per_playable(total_usd: pl.Expr, playable: pl.Expr) -> pl.Expr:
    """USD for each playable video: total / playable; null where nothing is playable."""
    return pl.when(playable > 0).then(total_usd / playable)


def per_usd(overall: pl.Expr, mean_usd: pl.Expr) -> pl.Expr:
    """Overall score for each USD a task; null where a run costs nothing."""
    return pl.when(mean_usd > 0).then(overall / mean_usd)


def pareto_frontier(table: pl.DataFrame) -> list[str]:
    """Systems that no other one dominates on (lower `mean_usd`, higher `overall_nv0`), in name order.

    Dominated = another is at least as good on both and better on one; equals both stay. Rows with a null are left out.
    """
    rows = table.drop_nulls(["mean_usd", "overall_nv0"]).select("system", "mean_usd", "overall_nv0").rows()
    return sorted(
        name
        for name, usd, score in rows
        if not any(u <= usd and s >= score and (u < usd or s > score) for _, u, s in rows)
    )


def _reason() -> pl.Expr:
    made, priced, tasks = pl.col("runs"), pl.col("priced"), pl.col("tasks")
    parts = [
        pl.when(made < tasks).then(pl.format("{} of {} runs not made", tasks - made, tasks)),
        pl.when(priced < made).then(pl.format("{} of {} runs unpriced", made - priced, made)),
        pl.when((made > 0) & (pl.col("playable") == 0)).then(pl.lit("nothing playable")),
    ]
    text = pl.concat_str(parts, separator="; ", ignore_nulls=True)
    return pl.when(text != "").then(text)
