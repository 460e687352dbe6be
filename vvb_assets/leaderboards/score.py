"""All tables from results: what the graph stores, and what results made elsewhere are turned into."""

from __future__ import annotations

import polars as pl

from vvb_assets.cost.association import cost_correlation
from vvb_assets.cost.totals import cost_table
from vvb_assets.human.study import human_tables, vote_ratings
from vvb_assets.leaderboards.agreement import agreement
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.leaderboards.judging import core_vs_detail, dimensions, failed_any_check, judge_errors
from vvb_assets.leaderboards.leniency import leniency, scale_use
from vvb_assets.leaderboards.main import leaderboard, per_panel, slice_table, with_human_elo
from vvb_assets.leaderboards.program_checks import l1_table
from vvb_assets.leaderboards.reranking import rerankings
from vvb_assets.leaderboards.self_preference import self_preference
from vvb_assets.leaderboards.uncertainty import RESAMPLES, SEED, pairwise, resample, uncertainty
from vvb_assets.scores.arrays import run_arrays
from vvb_assets.scores.counts import verdict_counts
from vvb_assets.scores.families import kinship
from vvb_assets.scores.figures import panel_figures
from vvb_assets.scores.pairs import verdict_pairs
from vvb_assets.scores.results import Results
from vvb_assets.scores.statistics import run_statistics
from vvb_resources.store.tables import check_finite


def score_results(
    results: Results,
    stats: pl.DataFrame | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    study_seed: int = 0,
    ratings: pl.DataFrame | None = None,
) -> dict[str, pl.DataFrame]:
    """Every table of `columns.TABLES` by name, from validated results.

    `stats` is `run_statistics(results)`, if at hand, `ratings` the `bradley_terry` table of its votes. `resamples` and
    `seed` are those of the bootstrap over tasks, `study_seed` that of the bootstrap over votes. A table whose input is
    absent is one row of nulls with the reason. Columns stand in the order of TABLES; no table holds NaN or infinity
    (StoreError otherwise).
    """
    counts = verdict_counts(results)
    stats = run_statistics(results, counts) if stats is None else stats
    figures = panel_figures(stats)
    if ratings is None:
        ratings = vote_ratings(results.votes, results.system_ids, study_seed)["bradley_terry"]
    board = with_human_elo(leaderboard(stats, results.systems, figures), ratings)
    tables = {
        "leaderboard": board,
        "per_panel": per_panel(figures),
        "dimensions": dimensions(stats, figures),
        "core_vs_detail": core_vs_detail(stats, figures),
        "failed_any_check": failed_any_check(stats, figures),
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
        tables |= {name: absent(name, "runs has no usd") for name in ("cost", "cost_correlation")}
    else:
        tables["cost"] = cost_table(runs, board)
        tables["cost_correlation"] = cost_correlation(tables["cost"], board, seed)
    tables |= compared(results, stats, figures, resamples, seed)
    for name, frame in tables.items():
        if frame.is_empty() or stats.is_empty():
            tables[name] = absent(name, _why_empty(name, stats))
    return {name: check_finite(tables[name].select(list(spec.columns)), name) for name, spec in TABLES.items()}


def compared(
    results: Results, stats: pl.DataFrame, figures: pl.DataFrame, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, pl.DataFrame]:
    """Tables that compare systems with systems and panels with panels, from `run_statistics` and `panel_figures`."""
    arrays, kin = run_arrays(stats), kinship(results)
    resampled = resample(arrays, resamples, seed)
    return {
        "uncertainty": uncertainty(arrays, resampled, resamples, seed),
        "pairwise": pairwise(resampled),
        "agreement": agreement(figures, verdict_pairs(results), arrays),
        "scale_use": scale_use(figures, arrays),
        "leniency": leniency(arrays),
        "self_preference": self_preference(arrays, kin, resamples, seed),
        "reranking": rerankings(figures, arrays, kin, resamples, seed),
    }


def _why_empty(name: str, stats: pl.DataFrame) -> str:
    if stats.is_empty():
        return "there are no runs"
    if name == "l1_table":
        return "no check applies"
    if stats["panel"].drop_nulls().is_empty():
        return "no panel has judged anything"
    if name == "pairwise":
        return "a comparison needs two systems that every panel has scored whole"
    return "agreement needs two panels" if name == "agreement" else "no panel has judged anything"


def score_everything(
    results: Results, *, resamples: int = RESAMPLES, seed: int = SEED, study_seed: int = 0
) -> dict[str, pl.DataFrame]:
    """Every table of `columns.ALL_TABLES` by name: those of `score_results`, and those of the human study's votes.

    The seeds and resamples are those of `benchmark.yaml`; with the same ones the tables are those of the graph.
    """
    stats = run_statistics(results)
    human = human_tables(results.votes, stats, seed=study_seed)
    ratings = human["bradley_terry"]
    return score_results(results, stats, resamples=resamples, seed=seed, ratings=ratings) | human


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
