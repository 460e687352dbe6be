"""Tables of the benchmark, all computed from the same results; each is an asset of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from vvb_assets.graph import Made, Node, Workspace
from vvb_assets.human.columns import AGREEMENT_TABLES, RATING_TABLES
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.leaderboards.pictures import draw
from vvb_assets.leaderboards.score import score_results
from vvb_assets.scores.results import read_results
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.store.atomic import write_bytes
from vvb_resources.store.digests import digest_value
from vvb_resources.store.tables import read_table, write_table

RESAMPLED = ("leaderboard", "uncertainty", "pairwise", "self_preference", "reranking", "cost_correlation")
REMEMBERED = ("rank", "overall_nv0", "overall_deliv", "strict_pct", "complete")
TABLE_FORMATS = ("parquet", "csv", "markdown", "latex", "json")


def nodes(benchmark: Benchmark) -> list[Node]:
    """Nodes of the stage: one a table. A new way to compute or show a table is a new `code_version`.

    The bootstrap's settings are part of the version of the tables that use it: other settings make them stale.
    """
    drawn = f" ({benchmark.config.bootstrap} resamples, seed {benchmark.config.seed})"
    voted = f" (study seed {benchmark.config.study.seed})"
    return [
        Node(
            key=name,
            stage="leaderboards",
            dims="none",
            inputs=("results",),
            code_version=("3" + voted if name == "leaderboard" else "2") + (drawn if name in RESAMPLED else ""),
            make=_make,
            description=spec.title,
            group="leaderboards",
            kinds=("polars", "table"),
            op="tables",
            remember=_ranking if name == "leaderboard" else None,
            checks=(("complete", "Every run is made and judged by every panel."),) if name == "leaderboard" else (),
        )
        for name, spec in TABLES.items()
    ]


@lru_cache(maxsize=1)
def _all_tables(folder: Path, resamples: int, seed: int, study_seed: int) -> dict[str, pl.DataFrame]:
    """All tables of one version of the results (its payload folder is never changed), computed once for the op."""
    results = read_results(folder, require_all_runs=False, keep_verdicts=False)
    return score_results(results, resamples=resamples, seed=seed, study_seed=study_seed)


def _make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    _, folder = workspace.payload("results", None)
    config = workspace.benchmark.config
    tables = _all_tables(folder, config.bootstrap, config.seed, config.study.seed)
    table = tables[node.key]
    write_table(table, out, node.key, TABLE_FORMATS, TABLES[node.key])
    for name, png in draw(node.key, tables, config.title).items():
        write_bytes(out / f"{name}.png", png)
    if node.key != "leaderboard":
        return Made(digest_value(table.to_dicts()), summary={"rows": table.height})
    incomplete = table.filter(~pl.col("complete").cast(pl.Boolean).fill_null(False))
    why = "; ".join(f"{row['system']}: {row['reason']}" for row in incomplete.iter_rows(named=True))
    return Made(
        digest_value(table.to_dicts()),
        summary={"rows": table.height, "incomplete systems": incomplete.height},
        checks={
            "complete": {
                "passed": incomplete.is_empty() and table.height > 0,
                "severity": "WARN",
                "description": why or ("every system is complete" if table.height else "there is no system yet"),
            }
        },
    )


def _ranking(folder: Path) -> Mapping[str, Any]:
    """Figures by system, for the history of the leaderboard."""
    rows = read_table(folder, "leaderboard").to_dicts()
    return {"systems": {row["system"]: {name: row[name] for name in REMEMBERED} for row in rows}}


def load_table(workspace: Workspace, name: str) -> pl.DataFrame:
    """A table as it was last made. Raises VvbError when it was not."""
    owner = "bradley_terry" if name in RATING_TABLES else "human_judge_agreement" if name in AGREEMENT_TABLES else name
    _, folder = workspace.payload(owner, None)
    return read_table(folder, name)
