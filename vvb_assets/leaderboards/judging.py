"""Tables about the judging: dimensions, core against detail checks, ways to fail, unknowns and judge errors."""

from __future__ import annotations

import polars as pl

from vvb_assets.scores.counts import COUNTS, VerdictCounts
from vvb_assets.scores.figures import active_panels, panel_mean, percent
from vvb_assets.scores.results import Results
from vvb_resources.benchmark.models import DIMENSIONS

ALL_PANELS = "mean"  # the name of the rows that average the panels


def dimensions(stats: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """Mean score per (panel, system, dimension), delivered and no video = 0, and the mean over panels (panel 'mean').

    `figures` is `panel_figures(stats)`. `known` and `delivered` count scores; in the mean rows they are null. Sorted by
    panel, system, dimension.
    """
    keys = ["panel", "system", "delivered"]
    figures = figures.with_columns(pl.col("delivered").cast(pl.Int64))
    means = panel_mean(figures, active_panels(stats), [*DIMENSIONS, *(f"{d}_nv0" for d in DIMENSIONS)])
    means = means.with_columns(panel=pl.lit(ALL_PANELS), delivered=pl.lit(None, pl.Int64))
    rows = [
        frame.select(*keys, pl.lit(d).alias("dim"), mean_deliv=pl.col(d), mean_nv0=pl.col(f"{d}_nv0"))
        for frame in (figures, means)
        for d in DIMENSIONS
    ]
    known = stats.drop_nulls("panel").group_by("panel", "system").agg(pl.col(d).count() for d in DIMENSIONS)
    known = known.unpivot(on=DIMENSIONS, index=["panel", "system"], variable_name="dim", value_name="known")
    order = pl.Enum(DIMENSIONS)
    table = pl.concat(rows).join(known, on=["panel", "system", "dim"], how="left", maintain_order="left")
    table = table.with_columns(pl.col("known").cast(pl.Int64), reason=_dimension_reason())
    places = {s: i for i, s in enumerate(stats["system"].unique(maintain_order=True).to_list())}
    last = pl.col("panel") == ALL_PANELS
    table = table.sort(
        last, "panel", pl.col("system").replace_strict(places, return_dtype=pl.Int64), pl.col("dim").cast(order)
    )
    return table.select("panel", "system", "dim", "mean_deliv", "mean_nv0", "known", "delivered", "reason")


def _dimension_reason() -> pl.Expr:
    lacking = pl.col("mean_deliv").is_null() | pl.col("mean_nv0").is_null()
    return (
        pl.when(lacking & (pl.col("panel") == ALL_PANELS))
        .then(pl.lit("a panel has no figure"))
        .when(lacking & (pl.col("delivered") == 0))
        .then(pl.lit("nothing delivered"))
        .when(lacking & (pl.col("known").fill_null(0) == 0))
        .then(pl.lit("no known score"))
        .when(lacking)
        .then(pl.lit("not all delivered runs judged"))
    )


def _with_mean(stats: pl.DataFrame, figures: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Panel rows and mean rows of some figures of `panel_figures`, with the reason for nulls."""
    means = panel_mean(figures, active_panels(stats), columns).with_columns(
        panel=pl.lit(ALL_PANELS), reason=pl.when(_any_null(columns)).then(pl.lit("a panel has no figure"))
    )
    chosen = ["panel", "system", *columns, "reason"]
    return pl.concat([figures.select(chosen), means.select(chosen)])


def _any_null(columns: list[str]) -> pl.Expr:
    return pl.any_horizontal(pl.col(columns).is_null())


def core_vs_detail(stats: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """Pass rate of core and of detail checks, delivered runs, per (panel, system) and mean over panels; percent."""
    table = _with_mean(stats, figures, ["core_pass_deliv_pct", "detail_pass_deliv_pct"])
    gap = pl.col("core_pass_deliv_pct") - pl.col("detail_pass_deliv_pct")
    return table.select(
        "panel", "system", "core_pass_deliv_pct", "detail_pass_deliv_pct", gap.alias("gap_pts"), "reason"
    )


def failed_any_check(stats: pl.DataFrame, figures: pl.DataFrame) -> pl.DataFrame:
    """Share of tasks by what the run fails, per (panel, system) and mean over panels; percent of all tasks.

    no_failed_check_pct: no check of any kind failed and one passed; strict_pct: no core check failed and one passed;
    only_detail_pct: strict, but a detail check failed; no_video_pct: nothing playable; failed_delivered_pct: delivered
    but not strict. The last three and no_failed_check_pct add up to 100.
    """
    table = _with_mean(stats, figures, ["clean_pct", "strict_pct"])
    missing = stats.unique(["system", "task"]).group_by("system")
    share = missing.agg(no_video_pct=percent((~pl.col("delivered")).sum(), pl.col("delivered").count()))
    table = table.join(share, on="system", how="left", maintain_order="left")
    return table.select(
        "panel",
        "system",
        pl.col("clean_pct").alias("no_failed_check_pct"),
        "strict_pct",
        (pl.col("strict_pct") - pl.col("clean_pct")).alias("only_detail_pct"),
        (100 - pl.col("strict_pct") - pl.col("no_video_pct")).alias("failed_delivered_pct"),
        "no_video_pct",
        "reason",
    )


def judge_errors(results: Results, counts: VerdictCounts, stats: pl.DataFrame) -> pl.DataFrame:
    """Unknown and error rates per panel, judge and part: a modality of L2 checks, or a dimension of L3 scores.

    `counts` is `verdict_counts(results)`. `asked` = checks (scores) of delivered runs that the panel has judged;
    missing = those without a row. A judge is named where `panels` routes the part to one (modalities, dims); without
    `checks.modality` the checks are one part, 'all'. An error of a score leaves it null and counts as unknown.
    """
    l2 = _l2_parts(results, counts, stats)
    judged = stats.drop_nulls("panel").filter(pl.col("delivered") & pl.col("l3_judged"))
    l3 = judged.group_by("panel", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("asked"), *(pl.col(d).null_count().cast(pl.Int64).alias(d) for d in DIMENSIONS)
    )
    l3 = l3.unpivot(on=DIMENSIONS, index=["panel", "asked"], variable_name="part", value_name="unknown")
    l3 = l3.with_columns(level=pl.lit("L3"), judge_errors=pl.lit(None, pl.Int64), missing=pl.lit(None, pl.Int64))
    columns = ["panel", "level", "part", "asked", "unknown", "judge_errors", "missing"]
    table = pl.concat([l2.select(columns), l3.select(columns)])
    judges = pl.DataFrame(_routes(results), schema=["panel", "part", "judge"], orient="row", infer_schema_length=None)
    judges = judges.cast(dict.fromkeys(judges.columns, pl.String))
    table = table.join(judges, on=["panel", "part"], how="left", maintain_order="left")
    return table.sort("panel", "level", maintain_order=True).select(
        "panel",
        "judge",
        *columns[1:],
        percent(pl.col("unknown"), pl.col("asked")).alias("unknown_pct"),
        percent(pl.col("judge_errors"), pl.col("asked")).alias("judge_error_pct"),
        pl.when(pl.col("judge").is_null()).then(pl.lit("panels name no single judge for it")).alias("reason"),
    )


def _l2_parts(results: Results, counts: VerdictCounts, stats: pl.DataFrame) -> pl.DataFrame:
    checks = results.checks.with_columns(pl.col("task").cast(pl.String))
    modality = pl.col("modality").cast(pl.String) if "modality" in checks.columns else pl.lit("all")
    sizes = checks.group_by("task", modality.alias("part")).agg(size=pl.len().cast(pl.Int64))
    judged = stats.drop_nulls("panel").filter(pl.col("delivered") & pl.col("l2_judged"))
    times = judged.group_by("panel", "task").agg(runs=pl.len().cast(pl.Int64))
    asked = times.join(sizes, on="task").group_by("panel", "part").agg(asked=(pl.col("runs") * pl.col("size")).sum())
    table = asked.join(counts.parts, on=["panel", "part"], how="left").with_columns(pl.col(COUNTS).fill_null(0))
    answered = pl.sum_horizontal(COUNTS)
    table = table.with_columns(
        level=pl.lit("L2"),
        unknown=pl.col("n_unknown"),
        judge_errors=pl.col("n_error"),
        missing=pl.col("asked") - answered,
    )
    return table.sort("panel", "part")


def _routes(results: Results) -> list[tuple[str, str, str]]:
    """(panel, part, judge) where exactly one judge of the panel has the part; a panel of one judge has every part."""
    if results.panels is None:
        return []
    name = "judge" if "judge" in results.panels.columns else "judge_system"
    if name not in results.panels.columns:
        return []
    parts = [*DIMENSIONS, "visual", "audio", "audio_visual", "all"]
    routes: dict[tuple[str, str], set[str | None]] = {}
    rows = results.panels.to_dicts()
    alone = {p for p in {r["panel"] for r in rows} if sum(r["panel"] == p for r in rows) == 1}
    for row in rows:
        named = parts if row["panel"] in alone else [*(row.get("dims") or ()), *(row.get("modalities") or ())]
        for part in named:
            routes.setdefault((str(row["panel"]), part), set()).add(row[name])
    return [(p, part, next(iter(j)) or "") for (p, part), j in routes.items() if len(j) == 1 and next(iter(j))]
