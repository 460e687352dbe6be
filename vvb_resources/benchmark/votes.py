"""Votes of the human study: one CSV or Parquet file an import, each row one blind comparison of two videos.

Columns: task, system_a, system_b, choice (A, B, tie, both_bad), and optionally vote (a key; else the row number) and
annotator. Other columns are ignored. Rows are counted from 1, a CSV header not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from vvb_resources.errors import ResultsError
from vvb_resources.store.tables import read_csv, read_parquet

CHOICES = ("A", "B", "tie", "both_bad")
ENDINGS = (".csv", ".parquet")
COLUMNS = ("vote", "annotator", "task", "system_a", "system_b", "choice")
_NEEDED = ("task", "system_a", "system_b", "choice")
_SHOWN = 40  # characters of a wrong value that a message repeats


@dataclass(frozen=True)
class VoteFault:
    """What is wrong with a votes file: the first `row` of its kind (None: the file as a whole), and how many more."""

    row: int | None
    what: str
    remedy: str


def read_votes(
    path: Path,
    *,
    tasks: Collection[str] | None = None,
    systems: Collection[str] | None = None,
    need_task: bool = True,
) -> pl.DataFrame:
    """The votes of one file as text columns COLUMNS, in its order; `annotator` is null where it is not given.

    `tasks` and `systems` are the known ids, if they are to be checked. `need_task=False` accepts a file without the
    task (a fit does not use it). Raises ResultsError with file, row and reason at the first fault.
    """
    frame = _load(path, need_task)
    for fault in sorted(_faults(frame, tasks, systems, need_task), key=lambda fault: fault.row or 0):
        where = path.name if fault.row is None else f"{path.name}, row {fault.row}"
        raise ResultsError(fault.what, where=where, remedy=fault.remedy)
    return frame


def vote_faults(path: Path, tasks: Collection[str], systems: Collection[str]) -> list[VoteFault]:
    """Every kind of fault of a votes file, each with the first row that has it; [] for a good one."""
    try:
        frame = _load(path, True)
    except ResultsError as error:
        return [VoteFault(None, error.what, error.remedy)]
    return list(_faults(frame, tasks, systems))


def _load(path: Path, need_task: bool) -> pl.DataFrame:
    if path.suffix not in ENDINGS:
        raise ResultsError(
            f"a votes file ends in {' or '.join(ENDINGS)}", where=path.name, remedy="save it as CSV or Parquet"
        )
    if not path.is_file():
        raise ResultsError("the file is missing", where=str(path), remedy="name a votes file (.csv or .parquet)")
    try:
        if path.suffix == ".parquet":
            raw = read_parquet(path)
        elif path.stat().st_size == 0:
            raise ResultsError("the file is empty", where=path.name, remedy="write at least its header line")
        else:
            raw = read_csv(path)  # ids such as 007 stay text
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ResultsError(
            f"cannot be read: {reason}", where=path.name, remedy="write it as Parquet or UTF-8 CSV"
        ) from error
    needed = [c for c in _NEEDED if need_task or c != "task"]
    missing = [c for c in needed if c not in raw.columns]
    if missing:
        raise ResultsError(
            f"column {', '.join(missing)} is missing", where=path.name, remedy=f"it needs {', '.join(needed)}"
        )
    numbers = pl.int_range(1, pl.len() + 1).cast(pl.String)
    columns = [
        pl.col(c).cast(pl.String) if c in raw.columns else (numbers if c == "vote" else pl.lit(None, pl.String))
        for c in COLUMNS
    ]
    try:
        return raw.select(column.alias(name) for name, column in zip(COLUMNS, columns, strict=True))
    except pl.exceptions.PolarsError as error:
        raise ResultsError(
            "a column holds neither text nor numbers", where=path.name, remedy="write ids and choices as text"
        ) from error


def _faults(
    frame: pl.DataFrame, tasks: Collection[str] | None, systems: Collection[str] | None, need_task: bool = True
) -> Iterator[VoteFault]:
    for name in ("vote", "task", "system_a", "system_b", "choice") if need_task else ("vote", *_NEEDED[1:]):
        empty = frame[name].fill_null("").str.strip_chars() == ""
        yield from _first(empty, f"{name} is empty", "fill it in", frame)
    wrong = ~frame["choice"].fill_null("A").is_in(CHOICES) & (frame["choice"].str.strip_chars() != "")
    yield from _first(wrong, "choice {choice!r} is not allowed", f"allowed are {', '.join(CHOICES)}", frame)
    same = frame["system_a"] == frame["system_b"]
    yield from _first(same, "system {system_a} is compared with itself", "correct it, or remove the vote", frame)
    repeated = ~frame["vote"].is_first_distinct() & frame["vote"].is_not_null()
    yield from _first(repeated, "duplicate vote {vote!r}", "keep one row a vote", frame)
    for name, known in (("task", tasks), ("system_a", systems), ("system_b", systems)):
        if known is not None:
            unknown = ~frame[name].is_in(list(known)) & (frame[name] != "")
            kind = name.split("_")[0]
            yield from _first(unknown, f"{name} {{{name}!r}} is not known", f"name a {kind} of the benchmark", frame)


def _first(wrong: pl.Series, what: str, remedy: str, frame: pl.DataFrame) -> Iterator[VoteFault]:
    rows = wrong.fill_null(False).arg_true()
    if len(rows):
        values = {name: str(value)[:_SHOWN] for name, value in frame.row(rows[0], named=True).items()}
        more = f" (and {len(rows) - 1} more rows)" if len(rows) > 1 else ""
        yield VoteFault(rows[0] + 1, what.format(**values) + more, remedy)
