"""Sufficient statistics: from verdicts and scores to one row per (panel, system, task).

Verdicts are counted in numpy, from the array of bytes that reading them has left (cube.py, counts.py): a streaming join
with the checks and a hash aggregation take three times the CPU in Polars or DuckDB (docs/performance.md). The rest is
Polars. Every figure of every table is computed from the rows made here.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from vvb_assets.scores.counts import CORE_COUNTS, COUNTS, VerdictCounts, verdict_counts
from vvb_assets.scores.cube import codes, size_of
from vvb_assets.scores.results import Results
from vvb_resources.benchmark.models import DIMENSIONS


def run_statistics(results: Results, counts: VerdictCounts | None = None) -> pl.DataFrame:
    """One row per (panel, system, task), for every pair that should exist; `results` must be validated.

    `counts` is `verdict_counts(results)`, if it is at hand. Columns:

    - `delivered` bool; null = the run has not been made. `panel` null = no panel has judged anything.
    - `n_checks`, `n_core` of the task; COUNTS, CORE_COUNTS (0 where nothing was judged); `n_missing` = checks of a
      delivered run without a verdict row. A missing run's checks count as fails in the nv0 figures, from `n_checks`.
      Counts have 32 bits: sum them as 64.
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
    runs = _runs(results)
    panels: list[str | None] = [*results.panel_ids] or [None]
    frame = pl.concat([runs.select(pl.lit(panel, pl.String).alias("panel"), pl.all()) for panel in panels])
    if results.panel_ids:
        frame = frame.with_columns(*(pl.Series(name, values.ravel()) for name, values in counts.runs.items()))
        frame = frame.with_columns(*_dimensions(results, len(panels)))
    else:
        frame = frame.with_columns(
            *(pl.lit(0, pl.Int32).alias(c) for c in (*COUNTS, *CORE_COUNTS, "dim_rows")),
            *(pl.lit(None, pl.Float64).alias(d) for d in DIMENSIONS),
        )
    answered = pl.sum_horizontal(*COUNTS)
    frame = frame.with_columns(
        l2_judged=~pl.col("delivered") | (answered > 0) | (pl.col("n_checks") == 0),
        l3_judged=~pl.col("delivered") | (pl.col("dim_rows") > 0),
        dims_missing=_if_delivered(len(DIMENSIONS) - pl.col("dim_rows")),
        n_missing=_if_delivered(pl.col("n_checks") - answered),
    )
    return frame.with_columns(*_outcomes()).drop("dim_rows")


def _if_delivered(value: pl.Expr) -> pl.Expr:
    return pl.when(pl.col("delivered").fill_null(False)).then(value.cast(pl.Int32)).otherwise(pl.lit(0, pl.Int32))


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


def _runs(results: Results) -> pl.DataFrame:
    """Every (system, task), ids as text in the order of the Enums: the task's sizes and what is known of the run."""
    systems, tasks = (results.runs.schema[c].categories for c in ("system", "task"))  # type: ignore[attr-defined]
    sizes = results.checks.group_by("task").agg(
        n_checks=pl.len().cast(pl.Int32), n_core=pl.col("core").sum().cast(pl.Int32)
    )
    sizes = pl.DataFrame({"task": tasks}, schema={"task": results.runs.schema["task"]}).join(
        sizes, on="task", how="left", maintain_order="left"
    )
    sizes = sizes.with_columns(pl.col("n_checks", "n_core").fill_null(0))
    grid = pl.DataFrame({"system": systems}, schema={"system": results.runs.schema["system"]}).join(
        sizes, how="cross", maintain_order="left"
    )
    grid = grid.join(_run_facts(results), on=["system", "task"], how="left", maintain_order="left")
    return grid.with_columns(pl.col("system", "task").cast(pl.String))


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


def _dimensions(results: Results, panels: int) -> list[pl.Series]:
    """Scores with a column a dimension, and the number of score rows (null scores included), for every run."""
    scores = results.scores
    systems, tasks = size_of(results.runs["system"]), size_of(results.runs["task"])
    place = (codes(scores["panel"]) * systems + codes(scores["system"])) * tasks + codes(scores["task"])
    dim, size = codes(scores["dim"]), panels * systems * tasks
    values = scores["score"].fill_null(float("nan")).to_numpy()
    columns = []
    for number, name in enumerate(DIMENSIONS):
        column = np.full(size, np.nan)
        column[place[dim == number]] = values[dim == number]
        columns.append(pl.Series(name, column, nan_to_null=True))
    rows = np.bincount(place, minlength=size).astype(np.int32)
    return [*columns, pl.Series("dim_rows", rows)]
