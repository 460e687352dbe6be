"""The votes of a benchmark: every file of its votes/ folder, checked against its tasks and systems, as one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from vvb_resources.benchmark.votes import COLUMNS, read_votes

SCHEMA = dict.fromkeys(COLUMNS, pl.String)


def import_votes(files: Iterable[Path], tasks: Sequence[str], systems: Sequence[str]) -> pl.DataFrame:
    """All votes of the files, in their order; `vote` is "<file>/<its own key>", so that files need not agree on keys.

    Raises ResultsError with file, row and reason at the first row that the format or the ids refuse.
    """
    parts = [
        read_votes(path, tasks=tasks, systems=systems).with_columns(vote=pl.format("{}/{}", pl.lit(path.stem), "vote"))
        for path in files
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=SCHEMA)


def vote_counts(votes: pl.DataFrame) -> dict[str, int]:
    """Number of votes by what was chosen, and of annotators and tasks."""
    choice = votes["choice"].cast(pl.String)
    return {
        "votes": votes.height,
        "decisive": int(choice.is_in(["A", "B"]).sum()),
        "ties": int((choice == "tie").sum()),
        "both bad": int((choice == "both_bad").sum()),
        "annotators": votes["annotator"].drop_nulls().n_unique(),
        "tasks": votes["task"].n_unique(),
    }
