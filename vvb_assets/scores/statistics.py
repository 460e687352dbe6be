"""Sufficient statistics: one columnar pass from verdicts and scores to one row per (panel, system, task).

Polars does it because the rows are already there as integer-coded Enums: a streaming join with the checks and one hash
aggregation, without leaving the process or copying. Every figure of every table is computed from the rows made here.
"""

from __future__ import annotations

import polars as pl

from vvb_assets.scores.results import Results
from vvb_resources.benchmark.models import DIMENSIONS

COUNTS = ("n_pass", "n_fail", "n_unknown", "n_na", "n_error")
CORE_COUNTS = ("core_pass", "core_fail", "core_unknown", "core_error")


def verdict_counts(results: Results) -> pl.DataFrame:
    """Count verdicts by (panel, system, task) and, where `checks.modality` is there, by modality.

    Columns: the keys, COUNTS over all checks and CORE_COUNTS over core checks. The only pass over the verdict rows.
    """
    extra = ["modality"] if "modality" in results.checks.columns else []
    checks = results.checks.lazy().select("task", "check", "core", *extra)
    verdict, core = pl.col("verdict"), pl.col("core")
    names = {"pass": "pass", "fail": "fail", "unknown": "unknown", "na": "na", "judge_error": "error"}
    totals = [(verdict == v).sum().cast(pl.Int64).alias(f"n_{n}") for v, n in names.items()]
    cores = [
        ((verdict == v) & core).sum().cast(pl.Int64).alias(f"core_{n}")
        for v, n in names.items()
        if f"core_{n}" in CORE_COUNTS
    ]
    return (
        results.verdicts.lazy()
        .join(checks, on=["task", "check"], how="left")
        .group_by("panel", "system", "task", *extra)
        .agg(*totals, *cores)
        .collect(engine="streaming")
    )


def run_statistics(results: Results, counts: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row per (panel, system, task), for every pair that should exist; `results` must be validated.

    `counts` is `verdict_counts(results)`, if it is at hand. Columns:

    - `delivered` bool; null = the run has not been made. `panel` null = no panel has judged anything.
    - `n_checks`, `n_core` of the task; COUNTS, CORE_COUNTS (0 where nothing was judged); `n_missing` = checks of a
      delivered run without a verdict row. A missing run's checks count as fails in the nv0 figures, from `n_checks`.
    - `strict`, `all_core`, `clean` bool: no core check failed and one passed; every core check passed or n/a and one
      passed; no check of any kind failed and one passed. A missing run is false. Null while a judge error or a missing
      verdict leaves it open (a failed core check settles it all the same), or the run is not made.
    - `VQ` ... `AQ` score 1-5 or null; `run_overall` the mean of the known ones, 0 for a missing run, null if none.
    - `l2_judged`, `l3_judged`: the panel has left verdicts (scores) for the run, or there is nothing to judge.
    - `complete`: made, and every check has a verdict other than judge_error and every dimension its row.
    - `spec_pass` bool: from `runs.spec_pass`, else from `l1`; a missing run is false; null if not known.
    - `usd` of the run or null.

    Ids are text. Sorted by panel, system and task in the order of the results. Source: the paper's L2, L3 and spec
    compliance.
    """
    counts = verdict_counts(results) if counts is None else counts
    keys = ["panel", "system", "task"]
    summed = counts.group_by(keys).agg(pl.col(*COUNTS, *CORE_COUNTS).sum())
    grid = _grid(results).join(summed, on=keys, how="left", maintain_order="left")
    grid = grid.join(_dimension_rows(results), on=keys, how="left", maintain_order="left")
    rated = pl.col("dim_rows").fill_null(0)
    judged = pl.col("n_pass").is_not_null()
    grid = grid.with_columns(
        l2_judged=~pl.col("delivered") | judged | (pl.col("n_checks") == 0),
        l3_judged=~pl.col("delivered") | (rated > 0),
    ).with_columns(pl.col(*COUNTS, *CORE_COUNTS).fill_null(0), dims_missing=_if_delivered(len(DIMENSIONS) - rated))
    answered = pl.sum_horizontal(*COUNTS)
    grid = grid.with_columns(n_missing=_if_delivered(pl.col("n_checks") - answered))
    return grid.with_columns(*_outcomes(), pl.col(keys).cast(pl.String)).drop("dim_rows")


def _if_delivered(value: pl.Expr) -> pl.Expr:
    return pl.when(pl.col("delivered").fill_null(False)).then(value.cast(pl.Int64)).otherwise(0)


def _outcomes() -> list[pl.Expr]:
    """Success of three kinds, the run overall and completeness, from the counts of a run."""
    made = pl.col("delivered")
    open_ = (pl.col("n_error") + pl.col("n_missing")) > 0

    def success(refuted: pl.Expr, shown: pl.Expr) -> pl.Expr:
        settled = pl.when(refuted).then(False).when(open_).then(None).otherwise(shown)
        return pl.when(made).then(settled).when(~made).then(False)

    overall = pl.mean_horizontal(*DIMENSIONS)
    whole = ~open_ & (pl.col("dims_missing") == 0)
    return [
        success(pl.col("core_fail") > 0, pl.col("n_pass") > 0).alias("strict"),
        success((pl.col("core_fail") + pl.col("core_unknown")) > 0, pl.col("core_pass") > 0).alias("all_core"),
        success(pl.col("n_fail") > 0, pl.col("n_pass") > 0).alias("clean"),
        pl.when(made).then(overall).when(~made).then(0.0).alias("run_overall"),
        pl.when(made).then(whole).when(~made).then(True).otherwise(False).alias("complete"),
    ]


def _grid(results: Results) -> pl.DataFrame:
    """Every (panel, system, task) with what is known of the run; ids as the results' own types, in their order."""
    types = {"panel": results.verdicts.schema["panel"]}
    types |= {c: results.runs.schema[c] for c in ("system", "task")}
    panels = pl.DataFrame({"panel": results.panel_ids or pl.Series([None])}, schema={"panel": types["panel"]})
    systems = pl.DataFrame({"system": results.system_ids}, schema={"system": types["system"]})
    tasks = pl.DataFrame({"task": results.task_ids}, schema={"task": types["task"]})
    sizes = results.checks.group_by("task").agg(
        n_checks=pl.len().cast(pl.Int64), n_core=pl.col("core").sum().cast(pl.Int64)
    )
    tasks = tasks.join(sizes, on="task", how="left", maintain_order="left")
    tasks = tasks.with_columns(pl.col("n_checks", "n_core").fill_null(0))
    runs = systems.join(tasks, how="cross", maintain_order="left").join(
        _run_facts(results), on=["system", "task"], how="left", maintain_order="left"
    )
    return panels.join(runs, how="cross", maintain_order="left")


def _run_facts(results: Results) -> pl.DataFrame:
    runs = results.runs
    if "usd" not in runs.columns:
        runs = runs.with_columns(usd=pl.lit(None, pl.Float64))
    if "spec_pass" not in runs.columns:
        if results.l1 is None:
            runs = runs.with_columns(spec_pass=pl.lit(None, pl.Boolean))
        else:
            runs = runs.join(_spec_from_l1(results.l1), on=["system", "task"], how="left", maintain_order="left")
    spec = pl.when(pl.col("delivered")).then(pl.col("spec_pass")).otherwise(False)
    return runs.select("system", "task", "delivered", spec.alias("spec_pass"), "usd")


def _spec_from_l1(l1: pl.DataFrame) -> pl.DataFrame:
    """Does the run pass every applicable program check: n/a counts as fail; an unmeasured one leaves it open."""
    verdict = pl.col("verdict")
    failed = verdict.is_in(["fail", "na"]).any()
    passed = pl.when(failed).then(False).when((verdict == "unmeasured").any()).then(None).otherwise(True)
    return l1.filter("applies").group_by("system", "task").agg(spec_pass=passed)


def _dimension_rows(results: Results) -> pl.DataFrame:
    """Scores with a column a dimension, and the number of score rows (null scores included)."""
    dims = [pl.col("score").filter(pl.col("dim") == d).first().alias(d) for d in DIMENSIONS]
    return results.scores.group_by("panel", "system", "task").agg(*dims, dim_rows=pl.len().cast(pl.Int64))
