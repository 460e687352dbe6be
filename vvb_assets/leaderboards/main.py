"""The leaderboard and the tables cut from the same figures: per panel, category, language, subcategory."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from vvb_assets.scores.figures import (
    COUNTED,
    MEAN_FIGURES,
    active_panels,
    counted,
    panel_figures,
    panel_mean,
    percent,
)
from vvb_resources.benchmark.models import DIMENSIONS

RANK_DECIMALS = 9  # equal sums added in another order stay equal
SLICE_FIGURES = ("l2_pass_deliv_pct", "l2_pass_nv0_pct", "strict_pct", "all_core_pct", "overall_deliv", "overall_nv0")


def per_panel(figures: pl.DataFrame) -> pl.DataFrame:
    """`panel_figures` in each panel's no-video = 0 order (as the paper's table of panels), with the rank."""
    ranked = figures.with_columns(rank=rank(pl.col("overall_nv0")).over("panel"))
    ranked = ranked.sort("panel", "rank", "system", nulls_last=True, maintain_order=True)
    return ranked.select("panel", "rank", pl.exclude("panel", "rank"))


def rank(score: pl.Expr) -> pl.Expr:
    """1 = highest; equals share the better rank; null stays null."""
    return score.round(RANK_DECIMALS).rank("min", descending=True).cast(pl.Int64)


def leaderboard(
    stats: pl.DataFrame, systems: pl.DataFrame | None = None, figures: pl.DataFrame | None = None
) -> pl.DataFrame:
    """One row per system: the unweighted mean of the panels' figures, and what the runs alone tell.

    `systems` adds name, lab and harness; `figures` is `panel_figures(stats)`, if at hand. Judged figures are means over
    all panels at work (those that have judged any delivered run); they are null for a system that one of them has not
    judged whole. Ranked by overall_nv0; without it, or with runs not made, a system has no rank. `complete` is true if
    every run is made and judged by every panel, without a judge error. Columns are described in `columns.TABLES`.
    """
    figures, panels = panel_figures(stats) if figures is None else figures, active_panels(stats)
    table = run_figures(stats).join(panel_mean(figures, panels), on="system", how="left", maintain_order="left")
    table = table.join(_by_panel(figures), on="system", how="left", maintain_order="left")
    table = table.with_columns(_null_columns(table, (*MEAN_FIGURES, *COUNTED)))
    names = pl.DataFrame({"system": []}, schema={"system": pl.String}) if systems is None else systems
    names = names.with_columns(pl.col("system").cast(pl.String))
    names = names.with_columns(pl.lit(None, pl.String).alias(c) for c in ("name", "lab", "harness") if c not in names)
    table = table.join(names.select("system", "name", "lab", "harness"), on="system", how="left", maintain_order="left")
    whole = (pl.col("missing_runs") == 0) & pl.lit(bool(panels))
    table = table.with_columns(
        rank=rank(pl.when(whole).then(pl.col("overall_nv0"))),
        panels=pl.lit(", ".join(panels)),
        complete=whole & (pl.col("missing_panels") == "") & (pl.col("incomplete_runs") == 0),
        reason=_join_reasons(["run_reason", "panel_reason"], bool(panels)),
    ).with_columns(pl.when(pl.col("missing_panels") != "").then(pl.col("missing_panels")).alias("missing_panels"))
    table = table.sort("rank", "system", nulls_last=True, maintain_order=True)
    return table.select(LEADERBOARD_COLUMNS)


def with_human_elo(board: pl.DataFrame, ratings: pl.DataFrame) -> pl.DataFrame:
    """The leaderboard with people's preference beside it, from the `bradley_terry` table of the votes.

    Added: HUMAN_COLUMNS (Elo and rank with their 95% intervals); `human_reason` says why a system has none of them,
    or why one of its bounds is null.
    """
    source = {c: c.removeprefix("human_") for c in HUMAN_COLUMNS}
    named = ratings.select("system", *(pl.col(name).alias(c) for c, name in source.items()))
    why = ratings["reason"].first() if ratings["system"].null_count() else "no votes"
    table = board.join(named, on="system", how="left", maintain_order="left")
    unrated = pl.col("human_elo").is_null() & pl.col("human_reason").is_null()
    return table.with_columns(human_reason=pl.when(unrated).then(pl.lit(why)).otherwise("human_reason"))


HUMAN_COLUMNS = (
    *("human_elo", "human_elo_low", "human_elo_high"),
    *("human_rank", "human_rank_low", "human_rank_high", "human_reason"),
)
LEADERBOARD_COLUMNS = (
    *("rank", "system", "name", "lab", "harness", "tasks", "runs", "delivered", "delivery_pct"),
    *("spec_pct", "spec_low_pct", "spec_high_pct", "l2_pass_deliv_pct", "l2_pass_nv0_pct"),
    *("strict_pct", "strict_low_pct", "strict_high_pct", "all_core_pct", *DIMENSIONS),
    *("overall_deliv", "overall_nv0", "run_overall", "unknown_pct", "usd_per_task", "panels", "complete"),
    *("missing_runs", "missing_panels", "incomplete_runs", "judge_errors", "reason"),
)


def run_figures(stats: pl.DataFrame, by: Sequence[str] = ()) -> pl.DataFrame:
    """Per (system, *by), what no judge is needed for: delivery, spec compliance, mean USD.

    Percentages are over the runs made (all tasks once none is missing); a missing video fails the spec. While the spec
    of some runs is open spec_pct is null and lies between spec_low_pct and spec_high_pct. usd_per_task is null while a
    run is unpriced. `run_reason` says what is wanting ('' if nothing).
    """
    runs = stats.unique(["system", "task", *by], keep="first", maintain_order=True)
    spec, made = pl.col("spec_pass"), pl.col("delivered")
    sums = runs.group_by("system", *by, maintain_order=True).agg(
        tasks=pl.len().cast(pl.Int64),
        runs=made.count().cast(pl.Int64),
        missing_runs=made.null_count().cast(pl.Int64),
        delivered=made.sum().cast(pl.Int64),
        spec_true=spec.filter(made.is_not_null()).sum().cast(pl.Int64),
        spec_open=spec.filter(made.is_not_null()).null_count().cast(pl.Int64),
        unpriced=pl.col("usd").filter(made.is_not_null()).null_count().cast(pl.Int64),
        mean_usd=pl.col("usd").mean(),
    )
    n, low, open_ = pl.col("runs"), pl.col("spec_true"), pl.col("spec_open")
    parts = [
        pl.when(pl.col("missing_runs") > 0).then(pl.format("{} of {} runs not made", "missing_runs", "tasks")),
        pl.when((n > 0) & (pl.col("delivered") == 0)).then(pl.lit("nothing delivered")),
        counted(open_, "run with its spec open", "runs with their spec open"),
        counted(pl.col("unpriced"), "run unpriced", "runs unpriced"),
    ]
    return sums.with_columns(
        delivery_pct=percent(pl.col("delivered"), n),
        spec_pct=pl.when(open_ == 0).then(percent(low, n)),
        spec_low_pct=percent(low, n),
        spec_high_pct=percent(low + open_, n),
        usd_per_task=pl.when(pl.col("unpriced") == 0).then(pl.col("mean_usd")),
        run_reason=pl.concat_str(parts, separator="; ", ignore_nulls=True),
    )


def slice_table(stats: pl.DataFrame, tasks: pl.DataFrame, by: str) -> pl.DataFrame:
    """Panel-mean figures per (system, value of `by`): category, language, kind or subcategory of the tasks.

    `tasks` has task and `by`; a task with several subcategories counts in each, one with null in none. The panels are
    those at work on the whole benchmark. Sorted by `by`, then in the order of the systems.
    """
    labels = tasks.select(pl.col("task").cast(pl.String), by)
    if isinstance(labels.schema[by], pl.List):
        labels = labels.explode(by)
    labels = labels.with_columns(pl.col(by).cast(pl.String)).drop_nulls().unique(maintain_order=True)
    part = stats.join(labels, on="task", how="inner", maintain_order="left")
    figures = panel_figures(part, [by])
    table = run_figures(part, [by]).join(
        panel_mean(figures, active_panels(stats), SLICE_FIGURES, ["system", by]),
        on=["system", by],
        how="left",
        maintain_order="left",
    )
    notes = figures.group_by("system", by).agg(panel_reason=_panel_notes(), complete=pl.col("complete").all())
    table = table.join(notes, on=["system", by], how="left", maintain_order="left")
    table = table.with_columns(
        pl.col("complete").fill_null(False), reason=_join_reasons(["run_reason", "panel_reason"], True)
    )
    columns = ["system", "tasks", "delivered", "delivery_pct", "spec_pct", *SLICE_FIGURES, "complete", "reason"]
    return table.sort(by, maintain_order=True).select(by, *columns)


def _by_panel(figures: pl.DataFrame) -> pl.DataFrame:
    """Per system: panels that have not judged it whole, counts over panels, and the reasons panel by panel."""
    unjudged = (pl.col("unjudged_l2") > 0) | (pl.col("unjudged_l3") > 0)
    return figures.group_by("system", maintain_order=True).agg(
        missing_panels=pl.col("panel").filter(unjudged).str.join(", "),
        panel_reason=_panel_notes(),
        **{c: pl.col(c).sum() for c in COUNTED},
    )


def _panel_notes() -> pl.Expr:
    """Reasons of the panels, each with its name; those that hold for any panel (runs, delivery) are left out."""
    text = pl.col("reason").str.replace_all(r"\d+ of \d+ runs not made(; )?|nothing delivered(; )?", "")
    noted = pl.format("{}: {}", pl.col("panel"), text)
    return noted.filter(text.fill_null("") != "").str.join("; ")


def _join_reasons(columns: Sequence[str], any_panel: bool) -> pl.Expr:
    parts: list[pl.Expr] = [pl.when(pl.col(c) != "").then(pl.col(c)) for c in columns]
    if not any_panel:
        parts.append(pl.lit("no panel has judged anything"))
    text = pl.concat_str(parts, separator="; ", ignore_nulls=True)
    return pl.when(text != "").then(text)


def _null_columns(table: pl.DataFrame, counted: Sequence[str]) -> list[pl.Expr]:
    """Without any panel, counts are 0 and lists empty."""
    return [
        *(pl.col(c).fill_null(0) for c in counted if c in COUNTED),
        pl.col("missing_panels").fill_null(""),
        pl.col("panel_reason").fill_null(""),
    ]
