"""From run statistics to a panel's figures, and from panels' figures to their mean. Panels are never pooled.

A figure that does not exist is null, never NaN, and `reason` says why. Figures over delivered runs are given as far as
a panel has come; figures over all tasks (nv0, strict, all-core) are null until the panel has judged every delivered
run, for over part of them they would look smaller than they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from vvb_resources.benchmark.models import DIMENSIONS

L2_FIGURES = ("l2_pass_deliv_pct", "l2_pass_nv0_pct", "core_pass_deliv_pct", "detail_pass_deliv_pct")
SUCCESS_FIGURES = tuple(f"{s}{e}_pct" for s in ("strict", "all_core", "clean") for e in ("", "_low", "_high"))
L3_FIGURES = (*DIMENSIONS, *(f"{d}_nv0" for d in DIMENSIONS), "overall_deliv", "overall_nv0", "run_overall")
MEAN_FIGURES = (*L2_FIGURES, *SUCCESS_FIGURES, *L3_FIGURES, "unknown_pct", "judge_error_pct")
COUNTED = ("judge_errors", "incomplete_runs")


def percent(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """100 * part / whole; null where whole is 0."""
    return pl.when(whole > 0).then(100.0 * part / whole)


def ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """part / whole; null where whole is 0."""
    return pl.when(whole > 0).then(part / whole)


def counted(number: pl.Expr, one: str, many: str) -> pl.Expr:
    """'3 runs open', '1 run open': the number with the wording that fits; null where it is 0."""
    return pl.when(number > 0).then(
        pl.format("{} {}", number, pl.when(number == 1).then(pl.lit(one)).otherwise(pl.lit(many)))
    )


def active_panels(stats: pl.DataFrame) -> list[str]:
    """Panels that have judged a delivered run; all panels if no system has delivered anything."""
    panels = stats.drop_nulls("panel")
    judged = pl.col("l2_judged") & (pl.col("n_checks") > 0) | pl.col("l3_judged")
    at_work = panels.filter(pl.col("delivered") & judged) if panels["delivered"].any() else panels
    return at_work["panel"].cast(pl.String).unique(maintain_order=True).to_list()


def panel_figures(stats: pl.DataFrame, by: Sequence[str] = ()) -> pl.DataFrame:
    """Every figure of each (panel, system, *by), from `run_statistics` rows (with the columns of `by` joined).

    Percentages 0-100, scores 1-5 (0 for nothing delivered, in nv0 figures). Columns: keys, counts (tasks, runs,
    missing_runs, delivered, judged_runs, unjudged_l2, unjudged_l3, incomplete_runs, judge_errors), L2, success and L3
    figures, unknown_pct and judge_error_pct (of all checks of judged delivered runs), complete, reason.
    """
    keys = ["panel", "system", *by]
    sums = stats.drop_nulls("panel").group_by(keys, maintain_order=True).agg(*_counts(), *_sums())
    figures = sums.with_columns(*_l2(), *_success(), *_l3_dimensions())
    figures = figures.with_columns(
        overall_deliv=_mean_of(DIMENSIONS), overall_nv0=_mean_of([f"{d}_nv0" for d in DIMENSIONS])
    )
    figures = figures.with_columns(
        complete=(pl.col("missing_runs") == 0) & (pl.col("incomplete_runs") == 0), reason=_reason()
    )
    counts = ("tasks", "runs", "missing_runs", "delivered", "judged_runs", "unjudged_l2", "unjudged_l3", *COUNTED)
    return figures.select(pl.col("panel", "system").cast(pl.String), *by, *counts, *MEAN_FIGURES, "complete", "reason")


def _made() -> pl.Expr:
    return pl.col("delivered").fill_null(False)


def _counts() -> list[pl.Expr]:
    made, missing = _made(), (~pl.col("delivered")).fill_null(False)
    judged = made & pl.col("l2_judged").fill_null(False) & pl.col("l3_judged").fill_null(False)
    counts = {
        "tasks": pl.len(),
        "runs": pl.col("delivered").count(),
        "missing_runs": pl.col("delivered").null_count(),
        "delivered": made.sum(),
        "undelivered": missing.sum(),
        "judged_runs": judged.sum(),
        "unjudged_l2": (made & ~pl.col("l2_judged").fill_null(False)).sum(),
        "unjudged_l3": (made & ~pl.col("l3_judged").fill_null(False)).sum(),
        "incomplete_runs": (pl.col("delivered").is_not_null() & ~pl.col("complete")).sum(),
        "judge_errors": pl.col("n_error").cast(pl.Int64).sum(),
    }
    return [expr.cast(pl.Int64).alias(name) for name, expr in counts.items()]


def _sums() -> list[pl.Expr]:
    made, missing = _made(), (~pl.col("delivered")).fill_null(False)
    judged = made & pl.col("l2_judged").fill_null(False)
    columns = ("n_pass", "n_fail", "n_unknown", "core_pass", "core_fail")
    sums = [pl.col(c).cast(pl.Int64).filter(made).sum().alias(f"sum_{c}") for c in columns]
    sums += [pl.col("n_checks").cast(pl.Int64).filter(judged).sum().alias("checks_judged")]
    sums += [pl.col("n_checks").cast(pl.Int64).filter(missing).sum().alias("checks_missing")]
    for s in ("strict", "all_core", "clean"):
        sums += [pl.col(s).sum().cast(pl.Int64).alias(f"{s}_true")]
        sums += [(made & pl.col(s).is_null()).sum().cast(pl.Int64).alias(f"{s}_open")]
    for d in DIMENSIONS:
        sums += [pl.col(d).filter(made).count().alias(f"known_{d}"), pl.col(d).filter(made).sum().alias(f"sum_{d}")]
    return [*sums, pl.col("run_overall").mean().alias("mean_run_overall")]


def _l2() -> list[pl.Expr]:
    passed, failed = pl.col("sum_n_pass"), pl.col("sum_n_fail")
    core_passed, core_failed = pl.col("sum_core_pass"), pl.col("sum_core_fail")
    nv0 = percent(passed, passed + failed + pl.col("checks_missing"))
    return [
        percent(passed, passed + failed).alias("l2_pass_deliv_pct"),
        pl.when(pl.col("unjudged_l2") == 0).then(nv0).alias("l2_pass_nv0_pct"),
        percent(core_passed, core_passed + core_failed).alias("core_pass_deliv_pct"),
        percent(passed - core_passed, passed - core_passed + failed - core_failed).alias("detail_pass_deliv_pct"),
        percent(pl.col("sum_n_unknown"), pl.col("checks_judged")).alias("unknown_pct"),
        percent(pl.col("judge_errors"), pl.col("checks_judged")).alias("judge_error_pct"),
    ]


def _success() -> list[pl.Expr]:
    """Share of runs that succeed; while some are open it is null, and lies between `_low` and `_high`."""
    columns = []
    for s in ("strict", "all_core", "clean"):
        true, open_, runs = pl.col(f"{s}_true"), pl.col(f"{s}_open"), pl.col("runs")
        columns += [
            pl.when(open_ == 0).then(percent(true, runs)).alias(f"{s}_pct"),
            percent(true, runs).alias(f"{s}_low_pct"),
            percent(true + open_, runs).alias(f"{s}_high_pct"),
        ]
    return columns


def _l3_dimensions() -> list[pl.Expr]:
    judged = pl.col("unjudged_l3") == 0
    columns = []
    for d in DIMENSIONS:
        total, known = pl.col(f"sum_{d}"), pl.col(f"known_{d}")
        columns += [
            ratio(total, known).alias(d),
            pl.when(judged).then(ratio(total, known + pl.col("undelivered"))).alias(f"{d}_nv0"),
        ]
    return [*columns, pl.when(judged).then(pl.col("mean_run_overall")).alias("run_overall")]


def _mean_of(columns: Sequence[str]) -> pl.Expr:
    """Mean of the columns; null if one of them is null (a dimension without a known score has no mean)."""
    return pl.when(~pl.any_horizontal(pl.col(*columns).is_null())).then(pl.mean_horizontal(*columns))


def _reason() -> pl.Expr:
    """Why a figure is null or the row incomplete; null if nothing is wanting."""
    delivered = pl.col("delivered")
    unjudged = pl.max_horizontal("unjudged_l2", "unjudged_l3")
    unknown = [pl.when((delivered > 0) & (pl.col(f"known_{d}") == 0)).then(pl.lit(d)) for d in DIMENSIONS]
    dims = pl.concat_str(unknown, separator=", ", ignore_nulls=True)
    partly = pl.col("incomplete_runs") - unjudged
    parts = [
        pl.when(pl.col("missing_runs") > 0).then(pl.format("{} of {} runs not made", "missing_runs", "tasks")),
        pl.when((pl.col("runs") > 0) & (delivered == 0)).then(pl.lit("nothing delivered")),
        pl.when(unjudged > 0).then(pl.format("{} of {} delivered runs not judged", unjudged, delivered)),
        counted(pl.col("judge_errors"), "judge error", "judge errors"),
        pl.when(pl.col("judge_errors") == 0).then(counted(partly, "run judged in part", "runs judged in part")),
        pl.when((unjudged == 0) & (dims != "")).then(pl.format("no known score: {}", dims)),
    ]
    text = pl.concat_str(parts, separator="; ", ignore_nulls=True)
    return pl.when(text != "").then(text)


def panel_mean(
    figures: pl.DataFrame, panels: Sequence[str], columns: Sequence[str] = MEAN_FIGURES, by: Sequence[str] = ("system",)
) -> pl.DataFrame:
    """Unweighted mean of each column over `panels`, one row per key of `by`.

    `figures` has `panel`, the keys and the columns. A mean over fewer than all `panels` would not be comparable: it is
    null as soon as one panel's figure is null or its row is absent. Source: panel figures first, then equal weight.
    """
    inside = figures.filter(pl.col("panel").is_in(list(panels))).sort("panel", maintain_order=True)
    means = [pl.when(pl.col(c).count() == len(panels)).then(pl.col(c).mean()).otherwise(None).alias(c) for c in columns]
    averaged = inside.group_by(list(by), maintain_order=True).agg(*means)
    keys = figures.select(by).unique(maintain_order=True)
    return keys.join(averaged, on=list(by), how="left", maintain_order="left")
