"""Assets of the human study: the pair design, the votes as they were handed in, ratings, and people against judges.

Without votes every table is there and says so: a benchmark need not have a human study.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from vvb_assets.graph import Made, Node, Workspace, split_run
from vvb_assets.human.agreement import agreement_tables
from vvb_assets.human.columns import AGREEMENT_TABLES, HUMAN_TABLES, RATING_TABLES
from vvb_assets.human.pairs import design_pairs
from vvb_assets.human.pictures import elo_picture
from vvb_assets.human.rating import rate
from vvb_assets.human.tables import rating_tables
from vvb_assets.human.votes import import_votes, vote_counts
from vvb_assets.scores.make import load_results
from vvb_assets.scores.statistics import run_statistics
from vvb_resources.benchmark import digests
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.store.atomic import write_bytes, write_parquet, write_text
from vvb_resources.store.digests import digest_value
from vvb_resources.store.tables import read_parquet, write_table

FORMATS = ("parquet", "csv", "markdown", "latex", "json")


COMMON: dict[str, Any] = {"stage": "human", "dims": "none", "code_version": "1", "group": "human"}


def vote_nodes(benchmark: Benchmark) -> list[Node]:
    """The votes, which hang on nothing; they are part of the results, so they come before those."""
    return [
        Node(
            key="human_votes",
            inputs=(),
            make=_make_votes,
            description="Votes handed in: every file of the benchmark's votes/ folder, checked row by row.",
            kinds=("csv",),
            version_of=lambda b, p: digests.votes_digest(b),
            **COMMON,
        )
    ]


def nodes(benchmark: Benchmark) -> list[Node]:
    """The other nodes of the stage, made in one step (Dagster skips a later step of the same run)."""
    return [
        Node(
            key="human_pairs",
            op="human",
            inputs=("l1_checks", "run_scores", "study_design"),
            make=_make_pairs,
            description="Whom to compare on what: a balanced, randomised design over playable, fully judged runs.",
            kinds=("polars", "csv"),
            partial=True,
            **COMMON,
        ),
        Node(
            key="bradley_terry",
            op="human",
            inputs=("human_votes", "study_design"),
            make=_make_ratings,
            description="Human preference: strengths, Elo, bootstrap and rank intervals, win rates, tiers.",
            kinds=("numpy", "table"),
            **COMMON,
        ),
        Node(
            key="human_judge_agreement",
            op="human",
            inputs=("results", "human_votes", "bradley_terry"),
            make=_make_agreement,
            description="People against judges: over systems, pair by pair, by margin, on both bad, metric by metric.",
            kinds=("polars", "table"),
            **COMMON,
        ),
    ]


def _make_votes(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    benchmark = workspace.benchmark
    votes = import_votes(benchmark.votes, list(benchmark.tasks), list(benchmark.systems))
    write_parquet(out / "votes.parquet", votes)
    write_text(out / "votes.csv", votes.write_csv())
    reason = {} if benchmark.votes else {"reason": "the benchmark has no votes/ folder with votes"}
    return Made(
        digests.votes_digest(benchmark), summary={**vote_counts(votes), "files": len(benchmark.votes), **reason}
    )


def load_votes(workspace: Workspace) -> pl.DataFrame:
    """The votes as they were last read."""
    _, folder = workspace.payload("human_votes", None)
    return read_parquet(folder / "votes.parquet")


def eligible_runs(workspace: Workspace) -> dict[str, list[str]]:
    """Systems by task whose run is playable (L1) and judged whole by every panel of the benchmark."""
    graph, store = workspace.graph, workspace.store
    found: dict[str, list[str]] = {task: [] for task in graph.tasks}
    scores = store.manifests("run_scores", graph.partitions(graph.nodes["run_scores"]))
    for partition, manifest in scores.items():
        assert partition is not None
        l1 = store.load("l1_checks", partition)
        if l1 is None or not l1.summary.get("delivered"):
            continue
        judged = read_parquet(store.payload(manifest) / "statistics.parquet", columns=["panel", "complete"])
        whole = set(judged.filter("complete").drop_nulls("panel")["panel"].to_list())
        if whole and whole.issuperset(workspace.benchmark.panels):
            system, task = split_run(partition)
            found[task].append(system)
    return found


def _make_pairs(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    study, runs = workspace.benchmark.config.study, eligible_runs(workspace)
    design = design_pairs(runs, study.pairs_per_task, study.seed)
    write_parquet(out / "human_pairs.parquet", design.table)
    write_text(out / "human_pairs.csv", design.table.write_csv())
    least, most = design.spread()
    summary: dict[str, Any] = {
        "pairs": design.table.height,
        "runs to choose from": sum(map(len, runs.values())),
        "comparisons of a system pair": f"{least} to {most}",
        "pairs wanting": sum(design.left_out.values()),
    }
    if design.table.is_empty():
        summary["reason"] = "no task has two playable runs that every panel has judged whole"
    return Made(digest_value(design.table.to_dicts()), summary=summary)


def load_pairs(workspace: Workspace) -> pl.DataFrame:
    """The pair design as it was last made: vote, task, system_a, system_b. Raises VvbError when it was not."""
    _, folder = workspace.payload("human_pairs", None)
    return read_parquet(folder / "human_pairs.parquet")


def _make_ratings(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    votes = load_votes(workspace)
    systems = list(workspace.benchmark.systems) if votes.height else []
    rating = rate(votes, seed=workspace.benchmark.config.study.seed, systems=systems)
    tables = rating_tables(rating)
    write_bytes(out / "human_elo.png", elo_picture(tables["bradley_terry"]))
    summary = {"systems rated": int(rating.rated.sum()), "resamples": len(rating.samples), **vote_counts(votes)}
    return _write(tables, out, summary | ({} if votes.height else {"reason": "no votes"}))


def _make_agreement(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    votes = load_votes(workspace)
    stats = run_statistics(load_results(workspace))
    _, folder = workspace.payload("bradley_terry", None)
    ratings = read_parquet(folder / "bradley_terry.parquet").drop_nulls("system")
    tables = agreement_tables(dict(ratings.select("system", "elo").iter_rows()), votes, stats)
    mean = tables["human_judge_agreement"].row(-1, named=True)
    figures = {f"mean {c}": mean[c] for c in ("spearman", "agreement_pct", "tie_pct", "unjudged")}
    return _write(tables, out, figures | ({} if votes.height else {"reason": "no votes"}))


def _write(tables: dict[str, pl.DataFrame], out: Path, summary: dict[str, Any]) -> Made:
    for name, table in tables.items():
        write_table(table, out, name, FORMATS, HUMAN_TABLES[name])
    return Made(digest_value({name: table.to_dicts() for name, table in tables.items()}), summary=summary)


def table_names(key: str) -> tuple[str, ...]:
    """Tables in the payload of an asset of this stage, the main one first."""
    held = {"bradley_terry": RATING_TABLES, "human_judge_agreement": AGREEMENT_TABLES}
    return tuple(held.get(key, ()))
