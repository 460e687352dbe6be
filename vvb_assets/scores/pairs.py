"""Verdicts of two panels on the same checks: the counts that agreement and kappa are made of.

The verdict of every (panel, system, check) is put into one byte of a dense array, so that two panels are compared by
counting bits, not by joining tens of millions of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.consistency import SLICE_ROWS, codes, pair_finder, size_of
from vvb_assets.scores.results import Results

MAX_CELLS = 500_000_000  # bytes of the array; beyond it systems are done in groups
PAIR_COUNTS = ("both_pass", "pass_fail", "fail_pass", "both_fail")
PASS, FAIL = 1, 2


def verdict_pairs(results: Results) -> pl.DataFrame:
    """How two panels' verdicts meet on the checks both decided (pass or fail), pooled over runs.

    One row a pair of panels, in the panels' order: panel_a, panel_b (text) and PAIR_COUNTS (int): pass_fail = a passes
    and b fails. `results` must be validated.
    """
    panels = results.panel_ids
    pairs = list(combinations(range(len(panels)), 2))
    totals = np.zeros((len(pairs), len(PAIR_COUNTS)), dtype=np.int64)
    for cells in _decided(results) if pairs else ():
        passed = np.packbits(cells == PASS, axis=1)
        failed = np.packbits(cells == FAIL, axis=1)
        for row, (a, b) in enumerate(pairs):
            meetings = ((passed, passed), (passed, failed), (failed, passed), (failed, failed))
            for column, (left, right) in enumerate(meetings):
                totals[row, column] += int(np.bitwise_count(left[a] & right[b]).sum(dtype=np.int64))
    names = {"panel_a": [panels[a] for a, _ in pairs], "panel_b": [panels[b] for _, b in pairs]}
    schema = dict.fromkeys(names, pl.String) | dict.fromkeys(PAIR_COUNTS, pl.Int64)
    return pl.DataFrame(names | dict(zip(PAIR_COUNTS, totals.T.tolist(), strict=True)), schema=schema)


def _decided(results: Results) -> Iterator[NDArray[np.uint8]]:
    """Array (panels, systems of a group * checks): PASS, FAIL, or 0 for anything else; one a group of systems."""
    verdicts, checks = results.verdicts, results.checks
    systems, n_panels, n_checks = size_of(verdicts["system"]), size_of(verdicts["panel"]), max(1, len(checks))
    group = max(1, min(systems, MAX_CELLS // max(1, n_panels * n_checks)))
    find = pair_finder(checks)
    kinds = pl.Series(verdicts["verdict"].dtype.categories)  # type: ignore[attr-defined]
    meaning = np.array([{"pass": PASS, "fail": FAIL}.get(v, 0) for v in kinds.to_list()], dtype=np.uint8)
    for first in range(0, systems, group):
        cells = np.zeros((n_panels, group * n_checks), dtype=np.uint8)
        for offset in range(0, len(verdicts), SLICE_ROWS):
            part = verdicts.slice(offset, SLICE_ROWS)
            system = codes(part["system"]) - first
            place = system * n_checks + find(codes(part["task"]), codes(part["check"]))
            panel, value = codes(part["panel"]), meaning[codes(part["verdict"])]
            if group < systems:
                inside = (system >= 0) & (system < group)
                place, panel, value = place[inside], panel[inside], value[inside]
            cells[panel, place] = value
        yield cells
