"""A judge's own noise: the same question asked again, and how often the answer is another.

A repeat has a `sample_index` of its own and so a key, a reply and a price of its own; it never enters a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from vvb_assets.graph import Workspace, split_run
from vvb_assets.panels.make import judge_partition, reply_store
from vvb_assets.panels.reading import read_judgment
from vvb_resources.errors import VvbError
from vvb_resources.store.tables import TableSpec

NOISE_SPEC = TableSpec(
    "Agreement of judges with themselves",
    {
        "judge": "the judge of the panel",
        "videos": "videos asked about",
        "samples": "answers to each question",
        "same_verdict_pct": "pairs of consecutive answers to a check with the same verdict, percent",
        "flip_pct": "pairs in which pass became fail or fail pass, percent of pairs that both decided",
        "score_sd": "mean over (video, dimension) of the standard deviation of the scores",
    },
)


def repeat_judgments(workspace: Workspace, panel_id: str, runs: Sequence[str], samples: int) -> pl.DataFrame:
    """Answers of the panel to each of `runs` (partition keys), asked `samples` times: one row an answer.

    Columns sample, run, judge, item (check or dimension), verdict, score. Sample 0 is the judgment itself. Raises
    VvbError for a run without a blinded video, PausedError before a limit of money.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        manifest, _ = workspace.payload("blinded_media", run)
        if not manifest.summary["delivered"]:
            raise VvbError("has no video", where=run, remedy="name a run that delivered one")
        task = workspace.benchmark.tasks[split_run(run)[1]]
        for sample in range(samples):
            judgment = judge_partition(workspace, panel_id, run, sample)
            verdicts, scores = read_judgment(judgment, task.rubric, reply_store(workspace))
            base = {"sample": sample, "run": run}
            for row in verdicts.to_dicts():
                rows.append(
                    {**base, "judge": row["judge"], "item": row["check"], "verdict": row["verdict"], "score": None}
                )
            for row in scores.to_dicts():
                rows.append({**base, "judge": row["judge"], "item": row["dim"], "verdict": None, "score": row["score"]})
    texts: dict[str, Any] = dict.fromkeys(("run", "judge", "item", "verdict"), pl.String)
    return pl.DataFrame(rows, schema={"sample": pl.Int64, **texts, "score": pl.Int64})


def noise(answers: pl.DataFrame) -> pl.DataFrame:
    """A row for each judge, columns as in `NOISE_SPEC`; a figure without a pair to rest on is null."""
    rows = []
    for (judge,), mine in answers.group_by("judge", maintain_order=True):
        pairs = list(_pairs(mine))
        decided = [(a, b) for a, b in pairs if {a, b} <= {"pass", "fail"}]
        scores = mine.drop_nulls("score").group_by("run", "item").agg(pl.col("score").std(ddof=1).alias("sd"))
        rows.append(
            {
                "judge": judge,
                "videos": mine["run"].n_unique(),
                "samples": mine["sample"].n_unique(),
                "same_verdict_pct": _percent(sum(a == b for a, b in pairs), len(pairs)),
                "flip_pct": _percent(sum(a != b for a, b in decided), len(decided)),
                "score_sd": scores["sd"].mean(),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"score_sd": pl.Float64}).select(list(NOISE_SPEC.columns))


def _pairs(answers: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Verdicts of consecutive samples on one check of one video."""
    checks = answers.drop_nulls("verdict").sort("sample")
    for _, same in checks.group_by("run", "item", maintain_order=True):
        yield from pairwise(same["verdict"].to_list())


def _percent(part: int, whole: int) -> float | None:
    return 100.0 * part / whole if whole else None
