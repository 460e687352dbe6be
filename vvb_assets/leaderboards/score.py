"""All tables from results: what the graph stores, and what results made elsewhere are turned into."""

from __future__ import annotations

import polars as pl

from vvb_assets.cost.totals import cost_table
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.leaderboards.judging import core_vs_detail, dimensions, failed_any_check, judge_errors
from vvb_assets.leaderboards.main import leaderboard, per_panel, slice_table
from vvb_assets.leaderboards.program_checks import l1_table
from vvb_assets.scores.results import Results
from vvb_assets.scores.statistics import run_statistics, verdict_counts
from vvb_resources.store.tables import check_finite


def score_results(results: Results, stats: pl.DataFrame | None = None) -> dict[str, pl.DataFrame]:
    """Every table of `columns.TABLES` by name, from validated results.

    `stats` is `run_statistics(results)`, if at hand. A table whose input is absent is one row of nulls with the reason.
    Columns stand in the order of TABLES; no table holds NaN or infinity (StoreError otherwise).
    """
    counts = verdict_counts(results)
    stats = run_statistics(results, counts) if stats is None else stats
    board = leaderboard(stats, results.systems)
    tables = {
        "leaderboard": board,
        "per_panel": per_panel(stats),
        "dimensions": dimensions(stats),
        "core_vs_detail": core_vs_detail(stats),
        "failed_any_check": failed_any_check(stats),
        "judge_errors": judge_errors(results, counts, stats),
    }
    for name, column in (("category", "category"), ("language", "language"), ("subcategory", "subcategories")):
        tables[f"by_{name}"] = _slice(results, stats, name, column)
    runs = stats.unique(["system", "task"], keep="first", maintain_order=True)
    if results.l1 is None:
        tables["l1_table"] = absent("l1_table", "the results have no l1")
    else:
        tables["l1_table"] = l1_table(results.l1, runs)
    if "usd" not in results.runs.columns:
        tables["cost"] = absent("cost", "runs has no usd")
    else:
        tables["cost"] = cost_table(runs, board)
    for name, frame in tables.items():
        if frame.is_empty():
            nothing = "no check applies" if name == "l1_table" else "no panel has judged anything"
            tables[name] = absent(name, "there are no runs" if stats.is_empty() else nothing)
    return {name: check_finite(tables[name].select(list(spec.columns)), name) for name, spec in TABLES.items()}


def absent(name: str, reason: str) -> pl.DataFrame:
    """The table's columns, one row: all null but the reason."""
    return pl.DataFrame({c: [reason if c == "reason" else None] for c in TABLES[name].columns})


def _slice(results: Results, stats: pl.DataFrame, name: str, column: str) -> pl.DataFrame:
    tasks = results.tasks
    if tasks is None:
        return absent(f"by_{name}", "the results have no tasks")
    if column not in tasks.columns or not tasks[column].count():
        return absent(f"by_{name}", f"tasks has no {column}")
    return slice_table(stats, tasks.rename({column: name}), name)
