"""Run scores: all that is known of one run, over all panels that have judged it; then the results of the benchmark.

`run_scores` holds its run's slice of the results format (docs/scores.md) and the statistics of it; `results` puts the
slices together. Both are built on what exists and say what is missing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from vvb_assets.graph import Made, Node, Workspace, split_run
from vvb_assets.rollouts.make import load_record
from vvb_assets.scores.results import Results, read_results, write_results
from vvb_assets.scores.statistics import run_statistics
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.benchmark.models import DIMENSIONS
from vvb_resources.store.atomic import write_parquet
from vvb_resources.store.digests import digest_value
from vvb_resources.store.tables import read_parquet

FRAMES = ("runs", "verdicts", "scores", "l1")
SCHEMAS: dict[str, dict[str, Any]] = {
    "runs": {
        "system": pl.String,
        "task": pl.String,
        "delivered": pl.Boolean,
        "spec_pass": pl.Boolean,
        "usd": pl.Float64,
    },
    "verdicts": dict.fromkeys(("panel", "system", "task", "check", "verdict"), pl.String),
    "scores": {**dict.fromkeys(("panel", "system", "task", "dim"), pl.String), "score": pl.Float64},
    "l1": {
        "system": pl.String,
        "task": pl.String,
        "check": pl.String,
        "applies": pl.Boolean,
        "verdict": pl.String,
    },
}


def nodes(benchmark: Benchmark) -> list[Node]:
    """Nodes of the stage."""
    judged = tuple(f"{panel}/{part}" for panel in benchmark.panels for part in ("l2_verdicts", "l3_scores"))
    return [
        Node(
            key="run_scores",
            stage="scores",
            dims="run",
            inputs=("rollout", "l1_checks", "rubric", *judged),
            code_version="1",
            make=_make_run,
            description="One run over all panels: verdict counts, strict success, five dimensions, overall.",
            group="scores",
            kinds=("polars", "parquet"),
            partial=True,
            batch=99,  # every op its own size: the same one would put ops into one run
            checks=(("fully_judged", "Every panel has judged the run whole."),),
        ),
        Node(
            key="results",
            stage="leaderboards",
            op="tables",  # one step with the tables: Dagster skips a later step of the same run
            dims="none",
            inputs=("run_scores", "rubric", "catalogue", "human_votes"),
            code_version="3",
            make=_make_results,
            description="All runs in the results format: what the tables are computed from, and what others can read.",
            group="leaderboards",
            kinds=("polars", "parquet"),
            partial=True,
        ),
    ]


def _make_run(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    assert partition is not None
    frames = run_frames(workspace, partition)
    for name, frame in frames.items():
        write_parquet(out / f"{name}.parquet", frame)
    results = _results(workspace, frames).validate(require_all_runs=False)
    stats = run_statistics(results).filter(pl.col("delivered").is_not_null())
    plain = stats.with_columns(pl.col(pl.Enum).cast(pl.String))
    write_parquet(out / "statistics.parquet", plain)
    rows = plain.to_dicts()
    missing = [row["panel"] for row in rows if not row["complete"]]
    return Made(
        digest_value({name: frame.to_dicts() for name, frame in frames.items()}),
        summary={
            "delivered": rows[0]["delivered"] if rows else None,
            "spec_pass": rows[0]["spec_pass"] if rows else None,
            **{f"{row['panel']} overall": row["run_overall"] for row in rows},
            **{f"{row['panel']} strict": row["strict"] for row in rows},
        },
        checks={
            "fully_judged": {
                "passed": not missing,
                "severity": "WARN",
                "description": f"not whole: {', '.join(map(str, missing))}"
                if missing
                else "judged whole by every panel",
            }
        },
    )


def run_frames(workspace: Workspace, partition: str) -> dict[str, pl.DataFrame]:
    """A run's slice of the results format (runs, verdicts, scores, l1), from what the stages before have left."""
    system, task = split_run(partition)
    record, _ = load_record(workspace, partition)
    l1_manifest, l1_folder = workspace.payload("l1_checks", partition)
    l1 = json.loads((l1_folder / "checks.json").read_text())
    delivered = bool(l1_manifest.summary["delivered"])
    keys = {"system": system, "task": task}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in FRAMES}
    rows["runs"].append({**keys, "delivered": delivered, "spec_pass": l1["passed"], "usd": record.usd})
    rows["l1"] = [
        {**keys, "check": name, "applies": check["applies"], "verdict": check["verdict"]}
        for name, check in l1["checks"].items()
    ]
    for panel in workspace.benchmark.panels:
        for part, frame, column in (("l2_verdicts", "verdicts", "check"), ("l3_scores", "scores", "dim")):
            manifest = workspace.store.load(f"{panel}/{part}", partition)
            if manifest is None or not delivered:
                continue
            value = "verdict" if frame == "verdicts" else "score"
            judged = read_parquet(workspace.store.payload(manifest) / f"{frame}.parquet")
            rows[frame] += [
                {"panel": panel, **keys, column: row[column], value: row[value]} for row in judged.iter_rows(named=True)
            ]
    return {name: pl.DataFrame(rows[name], schema=SCHEMAS[name]) for name in FRAMES}


def _make_results(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    slices: dict[str, list[pl.DataFrame]] = {name: [] for name in FRAMES}
    for manifest in workspace.store.manifests(
        "run_scores", workspace.graph.partitions(workspace.graph.nodes["run_scores"])
    ).values():
        folder = workspace.store.payload(manifest)
        for name in FRAMES:
            slices[name].append(read_parquet(folder / f"{name}.parquet"))
    frames = {name: pl.concat(parts) if parts else pl.DataFrame(schema=SCHEMAS[name]) for name, parts in slices.items()}
    votes, left_out = _votes(workspace, frames["runs"])
    results = replace(_results(workspace, frames), votes=votes).validate(require_all_runs=False)
    write_results(results, out)
    total = len(workspace.benchmark.systems) * len(workspace.benchmark.tasks)
    return Made(
        digest_value(
            {
                name: frame.with_columns(pl.col(pl.Enum).cast(pl.String)).to_dicts()
                for name, frame in results.frames().items()
            }
        ),
        summary={
            "runs": results.runs.height,
            "runs missing": total - results.runs.height,
            "verdicts": results.verdicts.height,
            "scores": results.scores.height,
            **({} if votes is None else {"votes": votes.height, "votes on runs without a video": left_out}),
        },
    )


def _votes(workspace: Workspace, runs: pl.DataFrame) -> tuple[pl.DataFrame | None, int]:
    """The human votes as last read, those on two videos of `runs`, and the number of the others; None without votes."""
    manifest = workspace.store.load("human_votes", None)
    if manifest is None:
        return None, 0
    votes = read_parquet(workspace.store.payload(manifest) / "votes.parquet")
    kept = votes
    videos = runs.filter("delivered").select("system", "task")
    for side in ("system_a", "system_b"):
        kept = kept.join(videos, left_on=[side, "task"], right_on=["system", "task"], how="semi", maintain_order="left")
    return (kept if kept.height else None), votes.height - kept.height


def _results(workspace: Workspace, frames: dict[str, pl.DataFrame]) -> Results:
    """Frames of some runs with the benchmark's checks, tasks, systems and panels around them."""
    benchmark = workspace.benchmark
    checks = [
        {"task": task.id, "check": check.id, "core": check.core, "modality": check.modality}
        for task in benchmark.tasks.values()
        for check in task.rubric.checks
    ]
    tasks = [
        {
            "task": task.id,
            "category": task.spec.category,
            "language": task.spec.language,
            "kind": task.spec.kind,
            "subcategories": list(task.spec.subcategories),
        }
        for task in benchmark.tasks.values()
    ]
    systems = [
        {"system": s.id, "name": s.name, "lab": s.lab, "harness": s.harness, "family": s.family}
        for s in benchmark.systems.values()
    ]
    panels = [
        {
            "panel": panel.id,
            "judge": judge.id,
            "judge_system": judge.system,
            "judge_family": judge.family,
            "dims": [d for d in DIMENSIONS if d in judge.dims],
            "modalities": list(judge.checks),
        }
        for panel in benchmark.panels.values()
        for judge in panel.judges
    ]
    text, words = pl.String, pl.List(pl.String)
    known = pl.DataFrame(checks, schema={"task": text, "check": text, "core": pl.Boolean, "modality": text})
    return Results(
        checks=known,
        tasks=pl.DataFrame(
            tasks, schema=dict.fromkeys(("task", "category", "language", "kind"), text) | {"subcategories": words}
        ),
        systems=pl.DataFrame(systems, schema=dict.fromkeys(("system", "name", "lab", "harness", "family"), text)),
        panels=pl.DataFrame(
            panels,
            schema=dict.fromkeys(("panel", "judge", "judge_system", "judge_family"), text)
            | {"dims": words, "modalities": words},
        ),
        runs=frames["runs"],
        # a verdict on a check that the rubric no longer has is stale: the run counts as not judged whole
        verdicts=frames["verdicts"].join(known, on=["task", "check"], how="semi", maintain_order="left"),
        scores=frames["scores"],
        l1=frames["l1"],
    )


def load_results(workspace: Workspace) -> Results:
    """The benchmark's results as they were last put together."""
    _, folder = workspace.payload("results", None)
    return read_results(folder, require_all_runs=False)
