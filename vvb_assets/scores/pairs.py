"""Verdicts of two panels on the same checks: the counts that agreement and kappa are made of."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from vvb_assets.scores.cube import CODE, cubes
from vvb_assets.scores.results import Results

PAIR_COUNTS = ("both_pass", "pass_fail", "fail_pass", "both_fail")


def verdict_pairs(results: Results) -> pl.DataFrame:
    """How two panels' verdicts meet on the checks both decided (pass or fail), pooled over runs.

    One row a pair of panels, in the panels' order: panel_a, panel_b (text) and PAIR_COUNTS (int): pass_fail = a passes
    and b fails. `results` must be validated.
    """
    panels = results.panel_ids
    pairs = list(combinations(range(len(panels)), 2))
    totals = np.zeros((len(pairs), len(PAIR_COUNTS)), dtype=np.int64)
    for _, cells in cubes(results) if pairs else ():
        passed, failed = (np.packbits(cells.reshape(len(cells), -1) == CODE[v], axis=1) for v in ("pass", "fail"))
        for row, (a, b) in enumerate(pairs):
            meetings = ((passed, passed), (passed, failed), (failed, passed), (failed, failed))
            for column, (left, right) in enumerate(meetings):
                totals[row, column] += int(np.bitwise_count(left[a] & right[b]).sum(dtype=np.int64))
    names = {"panel_a": [panels[a] for a, _ in pairs], "panel_b": [panels[b] for _, b in pairs]}
    schema = dict.fromkeys(names, pl.String) | dict.fromkeys(PAIR_COUNTS, pl.Int64)
    return pl.DataFrame(names | dict(zip(PAIR_COUNTS, totals.T.tolist(), strict=True)), schema=schema)
