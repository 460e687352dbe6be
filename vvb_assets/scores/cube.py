"""All verdicts as one dense array of bytes: the columnar pass behind every count.

Reading a results folder walks the verdict rows once, to check their references and to find duplicates; that walk
leaves each verdict in its cell. Counts per run and agreement of panels are then sums over bytes that lie side by
side, without a join or a hash of tens of millions of rows (figures: docs/performance.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.schema import VERDICTS

if TYPE_CHECKING:
    from vvb_assets.scores.results import Results

Codes = NDArray[np.int64]
Cells = NDArray[np.uint8]

SLICE_ROWS = 1_000_000
MAX_CELLS = 1_000_000_000  # bytes of one array; beyond it systems are done in groups
CODE = {verdict: code for code, verdict in enumerate(VERDICTS, start=1)}  # 0 = no row


@dataclass(frozen=True)
class VerdictCube:
    """`cells` (panels, systems, checks) holds CODE of each verdict, 0 without a row.

    Panels and systems in the order of their Enums, checks in the order of the rows of `checks`. `verdicts` and
    `checks` are the frames it was made from: for other frames it does not hold. `rows` is the number of verdicts;
    `verdicts` has none of them where they were not to be kept.
    """

    cells: Cells
    rows: int
    verdicts: pl.DataFrame
    checks: pl.DataFrame


@dataclass(frozen=True)
class VerdictSlice:
    """Codes of one slice of verdict rows; `row` is the row of `checks`, -1 where the task has no such check."""

    offset: int
    panel: Codes
    system: Codes
    task: Codes
    row: Codes
    value: Cells


def walk(frames: Iterable[pl.DataFrame], checks: pl.DataFrame) -> Iterator[VerdictSlice]:
    """The rows of typed verdict frames that follow one another, in slices, as codes of their Enums."""
    find = pair_finder(checks)
    meaning = np.arange(1, len(VERDICTS) + 1, dtype=np.uint8)
    offset = 0
    for frame in frames:
        for part in frame.iter_slices(SLICE_ROWS):
            task = codes(part["task"])
            value = meaning[part["verdict"].to_physical().to_numpy()]
            row = find(task, codes(part["check"]))
            yield VerdictSlice(offset, codes(part["panel"]), codes(part["system"]), task, row, value)
            offset += len(part)


def cubes(results: Results) -> Iterator[tuple[int, Cells]]:
    """(first system, cells) of every group of systems: one group, unless the array would pass MAX_CELLS.

    `results` must be validated.
    """
    verdicts, checks = results.verdicts, results.checks
    made = results.cube
    if made is not None and made.verdicts is verdicts and made.checks is checks:
        yield 0, made.cells
        return
    panels, systems = size_of(verdicts["panel"]), size_of(verdicts["system"])
    group = max(1, min(systems, MAX_CELLS // max(1, panels * len(checks))))
    for first in range(0, systems, group):
        cells = np.zeros((panels, min(group, systems - first), len(checks)), dtype=np.uint8)
        for part in walk([verdicts], checks):
            inside = (part.system >= first) & (part.system < first + cells.shape[1])
            cells[part.panel[inside], part.system[inside] - first, part.row[inside]] = part.value[inside]
        yield first, cells


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
    """Number of categories of an Enum column."""
    assert isinstance(column.dtype, pl.Enum)
    return len(column.dtype.categories)
