"""Rules of the results format that need more than one column: keys, references between files, completeness.

Verdicts can be tens of millions of rows, so they are walked in slices, and a duplicate is found by marking each
possible (panel, system, check) in one array of bytes rather than by sorting or hashing the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.schema import FORMAT
from vvb_resources.errors import ResultsError

Codes = NDArray[np.int64]

SLICE_ROWS = 1_000_000
MARKED_KEYS = 1_000_000_000  # bytes of the marking array; beyond it duplicates are found by hashing


def check_consistency(
    frames: Mapping[str, pl.DataFrame], sources: Mapping[str, str], *, require_all_runs: bool
) -> pl.DataFrame:
    """Raise ResultsError at the first row that breaks a rule; return `scores` without rows that say nothing.

    `frames` are the typed frames by name, `sources` their file names for messages. A null score of an undelivered run
    says nothing and is dropped; a known one is refused.
    """
    for name, frame in frames.items():
        if name != "verdicts":
            _unique(frame, FORMAT[name].key, sources[name])
    if require_all_runs:
        _all_runs(frames, sources["runs"])
    if "panels" in frames:
        _unique_judges(frames["panels"], sources["panels"])
    delivered = frames["runs"].select("system", "task", "delivered")
    _verdicts(frames["verdicts"], frames["checks"], delivered, sources["verdicts"])
    for name in ("l1", "votes"):
        if name in frames:
            _refers_to_runs(name, frames[name], delivered, sources[name])
    return _scores(frames["scores"], delivered, sources["scores"])


def _unique(frame: pl.DataFrame, key: tuple[str, ...], where: str) -> None:
    if not key or frame.is_empty():
        return
    repeated = ~frame.select(pl.struct(key).is_first_distinct()).to_series()
    if repeated.any():
        row = int(repeated.arg_max() or 0)
        raise ResultsError(
            f"duplicate key {_key(frame, row, key)}", where=_row(where, row), remedy="keep one row a key"
        )


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


def _verdicts(verdicts: pl.DataFrame, checks: pl.DataFrame, runs: pl.DataFrame, where: str) -> None:
    """References, undelivered runs and duplicates of the verdict rows, slice by slice."""
    n_tasks, n_systems = size_of(verdicts["task"]), size_of(verdicts["system"])
    delivered = np.zeros(n_systems * n_tasks, dtype=np.bool_)
    delivered[codes(runs["system"]) * n_tasks + codes(runs["task"])] = runs["delivered"].to_numpy()
    find = pair_finder(checks)
    space = max(1, size_of(verdicts["panel"]) * n_systems * len(checks))
    seen = np.zeros(space, dtype=np.bool_) if space <= MARKED_KEYS else None
    for offset in range(0, len(verdicts), SLICE_ROWS):
        part = verdicts.slice(offset, SLICE_ROWS)
        task, system = codes(part["task"]), codes(part["system"])
        pair = find(task, codes(part["check"]))
        if (pair < 0).any():
            row = int(np.argmax(pair < 0))
            raise ResultsError(
                f"task {part['task'][row]} has no check {part['check'][row]}",
                where=_row(where, offset + row),
                remedy="name only a check that is in checks for that task",
            )
        made = delivered[system * n_tasks + task]
        if not made.all():
            row = int(np.argmin(made))
            raise ResultsError(
                f"a verdict on a run that is not delivered: {_key(part, row, ('system', 'task'))}",
                where=_row(where, offset + row),
                remedy="remove it, or set delivered = true in runs",
            )
        if seen is not None:
            seen[(codes(part["panel"]) * n_systems + system) * len(checks) + pair] = True
    if seen is None or int(np.count_nonzero(seen)) != len(verdicts):
        _unique(verdicts, FORMAT["verdicts"].key, where)


def pair_finder(checks: pl.DataFrame) -> Callable[[Codes, Codes], Codes]:
    """Function from codes of task and check to the row of `checks`, -1 where the task has no such check."""
    task, check = codes(checks["task"]), codes(checks["check"])
    n_checks = max(1, size_of(checks["check"]))
    if len(checks) == len(np.unique(check)):  # ids unique over tasks: one look-up
        row_of = np.full(n_checks, -1, dtype=np.int64)
        row_of[check] = np.arange(len(checks))
        task_of = np.full(n_checks, -1, dtype=np.int64)
        task_of[check] = task
        return lambda t, c: np.where(task_of[c] == t, row_of[c], -1)
    keys = task * n_checks + check
    order = np.argsort(keys)
    ordered = keys[order]

    def search(t: Codes, c: Codes) -> Codes:
        wanted = t * n_checks + c
        place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
        return np.where(ordered[place] == wanted, order[place], -1)

    return search


def codes(column: pl.Series) -> Codes:
    """Integer codes of an Enum column."""
    return column.to_physical().to_numpy().astype(np.int64)


def size_of(column: pl.Series) -> int:
    assert isinstance(column.dtype, pl.Enum)
    return len(column.dtype.categories)


def _scores(scores: pl.DataFrame, delivered: pl.DataFrame, where: str) -> pl.DataFrame:
    made = scores.join(delivered, on=["system", "task"], how="left", maintain_order="left")["delivered"].fill_null(
        False
    )
    wrong = ~made & scores["score"].is_not_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise ResultsError(
            f"a score of a run that is not delivered: {_key(scores, row, ('system', 'task'))}",
            where=_row(where, row),
            remedy="remove it, or set delivered = true in runs",
        )
    return scores.filter(made)


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
