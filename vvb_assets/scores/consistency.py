"""Rules of the results format that need more than one column: keys, references between files, completeness.

Verdicts can be tens of millions of rows, so they are walked in slices as they are read, and each is put into its cell
of one array of bytes: fewer full cells than rows means a duplicate, without sorting or hashing, and the array is what
is counted later. The rows themselves need not be kept for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.cube import MAX_CELLS, Cells, VerdictCube, VerdictSlice, codes, size_of, walk
from vvb_assets.scores.schema import FORMAT
from vvb_resources.errors import ResultsError

Parts = Callable[[], Iterator[pl.DataFrame]]


def check_consistency(
    frames: Mapping[str, pl.DataFrame],
    verdicts: Parts,
    sources: Mapping[str, str],
    *,
    require_all_runs: bool,
    keep_verdicts: bool,
) -> tuple[pl.DataFrame, pl.DataFrame, VerdictCube | None]:
    """Raise ResultsError at the first row that breaks a rule; return `scores` without rows that say nothing, `verdicts`
    and the array of all of them.

    `frames` are the typed frames by name, but for the verdicts: those are given as a function that reads them in typed
    parts, anew at each call. `sources` are the file names for messages. Without `keep_verdicts` the frame of verdicts
    has no row, only its types. There is no array, and the rows are kept, where it would be larger than MAX_CELLS. A
    null score of an undelivered run says nothing and is dropped; a known one is refused.
    """
    for name, frame in frames.items():
        _unique(frame, FORMAT[name].key, sources[name])
    if require_all_runs:
        _all_runs(frames, sources["runs"])
    if "panels" in frames:
        _unique_judges(frames["panels"], sources["panels"])
    delivered = _delivered(frames["runs"])
    rows, cube = _verdicts(verdicts, frames["checks"], delivered, sources["verdicts"], keep_verdicts)
    runs = frames["runs"].select("system", "task", "delivered")
    for name in ("l1", "votes"):
        if name in frames:
            _refers_to_runs(name, frames[name], runs, sources[name])
    return _scores(frames["scores"], delivered, sources["scores"]), rows, cube


def _unique(frame: pl.DataFrame, key: tuple[str, ...], where: str) -> None:
    if not key or frame.is_empty() or _all_different(frame, key):
        return
    repeated = ~frame.select(pl.struct(key).is_first_distinct()).to_series()
    if repeated.any():
        row = int(repeated.arg_max() or 0)
        raise ResultsError(
            f"duplicate key {_key(frame, row, key)}", where=_row(where, row), remedy="keep one row a key"
        )


def _all_different(frame: pl.DataFrame, key: tuple[str, ...]) -> bool:
    """Is every key of coded columns there once: one byte for each possible key. False also means: not known."""
    if not all(isinstance(frame.schema[c], pl.Enum) for c in key):
        return False
    place, space = np.zeros(len(frame), dtype=np.int64), 1
    for c in key:
        place, space = place * size_of(frame[c]) + codes(frame[c]), space * size_of(frame[c])
    if space > MAX_CELLS:
        return False
    seen = np.zeros(space, dtype=np.bool_)
    seen[place] = True
    return int(np.count_nonzero(seen)) == len(frame)


def _unique_judges(panels: pl.DataFrame, where: str) -> None:
    key = tuple(c for c in ("panel", "judge", "judge_system", "dims", "modalities") if c in panels.columns)
    _unique(panels.with_columns(pl.col(pl.List(pl.String)).list.join("|")), key, where)


def _key(frame: pl.DataFrame, row: int, key: tuple[str, ...]) -> str:
    return ", ".join(f"{c} {frame[c][row]}" for c in key)


def _row(where: str, row: int) -> str:
    return f"{where}, row {row + 1}"


def _all_runs(frames: Mapping[str, pl.DataFrame], where: str) -> None:
    runs = frames["runs"]
    systems = frames.get("systems", runs).select("system").unique(maintain_order=True)
    known = [frames[n].select("task") for n in ("tasks", "checks", "runs") if n in frames]
    tasks = (known[0] if "tasks" in frames else pl.concat(known)).unique(maintain_order=True)
    absent = systems.join(tasks, how="cross").join(runs, on=["system", "task"], how="anti", maintain_order="left")
    if len(absent):
        first = f"system {absent['system'][0]}, task {absent['task'][0]}"
        more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
        raise ResultsError(
            f"no row for {first}{more}",
            where=f"{where}, row {len(runs) + 1}",
            remedy="add a row for each pair; delivered = false where there is no video",
        )


def _delivered(runs: pl.DataFrame) -> NDArray[np.bool_]:
    """Is the run delivered: (systems, tasks) in the order of the Enums; False without a run row."""
    delivered = np.zeros((size_of(runs["system"]), size_of(runs["task"])), dtype=np.bool_)
    delivered[codes(runs["system"]), codes(runs["task"])] = runs["delivered"].to_numpy()
    return delivered


def _verdicts(
    parts: Parts, checks: pl.DataFrame, delivered: NDArray[np.bool_], where: str, keep: bool
) -> tuple[pl.DataFrame, VerdictCube | None]:
    """References, undelivered runs and duplicates of the verdict rows, slice by slice; the rows, and their array."""
    kept: list[pl.DataFrame] = []
    cells: Cells | None = None
    rows, fits = 0, True
    for frame in parts():
        if cells is None:
            shape = size_of(frame["panel"]), len(delivered), len(checks)
            fits = shape[0] * shape[1] * shape[2] <= MAX_CELLS
            cells = np.zeros(shape if fits else (0, 0, 0), dtype=np.uint8)
        for part in walk([frame], checks):
            _refers_to_delivered(frame, part, delivered, where, rows)
            if fits:
                cells[part.panel, part.system, part.row] = part.value
        kept.append(frame if keep or not fits else frame.clear())
        rows += len(frame)
    assert cells is not None
    verdicts = pl.concat(kept, rechunk=False) if keep or not fits else kept[0]
    if not fits or int(np.count_nonzero(cells)) != rows:
        _unique(verdicts if len(verdicts) == rows else pl.concat(parts()), FORMAT["verdicts"].key, where)
    return verdicts, VerdictCube(cells, rows, verdicts, checks) if fits else None


def _refers_to_delivered(
    frame: pl.DataFrame, part: VerdictSlice, delivered: NDArray[np.bool_], where: str, before: int
) -> None:
    """Raise at the first row of `part` (a slice of `frame`) without a check or without a delivered run."""
    if (part.row < 0).any():
        row = part.offset + int(np.argmax(part.row < 0))
        raise ResultsError(
            f"task {frame['task'][row]} has no check {frame['check'][row]}",
            where=_row(where, before + row),
            remedy="name only a check that is in checks for that task",
        )
    made = delivered[part.system, part.task]
    if not made.all():
        row = part.offset + int(np.argmin(made))
        raise ResultsError(
            f"a verdict on a run that is not delivered: {_key(frame, row, ('system', 'task'))}",
            where=_row(where, before + row),
            remedy="remove it, or set delivered = true in runs",
        )


def _scores(scores: pl.DataFrame, delivered: NDArray[np.bool_], where: str) -> pl.DataFrame:
    made = pl.Series(delivered[codes(scores["system"]), codes(scores["task"])], dtype=pl.Boolean)
    wrong = ~made & scores["score"].is_not_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise ResultsError(
            f"a score of a run that is not delivered: {_key(scores, row, ('system', 'task'))}",
            where=_row(where, row),
            remedy="remove it, or set delivered = true in runs",
        )
    return scores if made.all() else scores.filter(made)


def _refers_to_runs(name: str, frame: pl.DataFrame, delivered: pl.DataFrame, where: str) -> None:
    """A program check belongs to a run; a vote compares two different systems' delivered runs."""
    sides = ("system",) if name == "l1" else ("system_a", "system_b")
    if name == "votes" and (same := frame["system_a"] == frame["system_b"]).any():
        row = int(same.arg_max() or 0)
        raise ResultsError("a system is compared with itself", where=_row(where, row), remedy="remove the vote")
    for side in sides:
        joined = frame.join(
            delivered, left_on=[side, "task"], right_on=["system", "task"], how="left", maintain_order="left"
        )
        missing = joined["delivered"].is_null() if name == "l1" else ~joined["delivered"].fill_null(False)
        if missing.any():
            row = int(missing.arg_max() or 0)
            what = "has no row in runs" if name == "l1" else "is not delivered"
            raise ResultsError(
                f"the run {_key(frame, row, (side, 'task'))} {what}",
                where=_row(where, row),
                remedy="correct it, or runs",
            )
