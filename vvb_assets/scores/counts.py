"""Verdicts counted by run and by part, from the array that reading them has left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.cube import CODE, Cells, Codes, codes, cubes, size_of
from vvb_assets.scores.results import Results
from vvb_assets.scores.schema import VERDICTS

COUNTS = ("n_pass", "n_fail", "n_unknown", "n_na", "n_error")
CORE_COUNTS = ("core_pass", "core_fail", "core_unknown", "core_error")
Counts = NDArray[np.int32]


@dataclass(frozen=True)
class VerdictCounts:
    """`runs`: each of COUNTS over all checks and CORE_COUNTS over core checks, (panels, systems, tasks) in the order of
    the Enums. `parts`: panel, part, COUNTS, where part is the checks' modality ('all' where checks have none).
    """

    runs: dict[str, Counts]
    parts: pl.DataFrame


def verdict_counts(results: Results) -> VerdictCounts:
    """Count the verdicts by run and by part, in one pass over their array; `results` must be validated.

    Checks are ordered by (task, modality, core), so that each count is a sum over neighbouring bytes.
    """
    checks = results.checks
    if "modality" not in checks.columns:
        checks = checks.with_columns(modality=pl.lit("all", dtype=pl.Enum(["all"])))
    segments = _segments(checks)
    panels = results.verdicts["panel"].dtype.categories.to_list()  # type: ignore[attr-defined]
    modalities = checks["modality"].dtype.categories.to_list()  # type: ignore[attr-defined]
    shape = len(panels), size_of(results.runs["system"]), size_of(results.runs["task"])
    runs = {name: np.zeros(shape, dtype=np.int32) for name in (*COUNTS, *CORE_COUNTS)}
    sums = np.zeros((len(panels), len(modalities), len(COUNTS)), dtype=np.int64)
    for first, cells in cubes(results) if len(checks) else ():
        for panel, block in enumerate(cells):
            counts = segments.count(block)
            np.add.at(sums[panel], segments.modality, counts.sum(axis=1).T)
            every, core = segments.by_task(counts, shape[2])
            group = slice(first, first + len(block))
            for i, name in enumerate(COUNTS):
                runs[name][panel, group] = every[i]
                if (core_name := name.replace("n_", "core_")) in CORE_COUNTS:
                    runs[core_name][panel, group] = core[i]
    parts = [
        {"panel": p, "part": m, **dict(zip(COUNTS, map(int, sums[i, j]), strict=True))}
        for i, p in enumerate(panels)
        for j, m in enumerate(modalities)
    ]
    schema = dict.fromkeys(("panel", "part"), pl.String) | dict.fromkeys(COUNTS, pl.Int64)
    return VerdictCounts(runs, pl.DataFrame(parts, schema=schema))


@dataclass(frozen=True)
class _Segments:
    """Neighbouring checks of one task, modality and criticality, after `order`; tasks are groups of segments."""

    order: Codes
    starts: Codes
    modality: Codes
    core: NDArray[np.bool_]
    task_starts: Codes
    tasks: Codes

    def count(self, block: Cells) -> Counts:
        """Counts of each verdict from cells (systems, checks): (verdicts, systems, segments)."""
        ordered = block[:, self.order]
        return np.stack([np.add.reduceat(ordered == CODE[v], self.starts, axis=1, dtype=np.int32) for v in VERDICTS])

    def by_task(self, counts: Counts, tasks: int) -> tuple[Counts, Counts]:
        """From `count`: counts over all checks and over core checks, (verdicts, systems, tasks)."""
        found = [np.zeros((*counts.shape[:2], tasks), dtype=np.int32) for _ in range(2)]
        for whole, part in zip(found, (counts, np.where(self.core, counts, 0)), strict=True):
            whole[..., self.tasks] = np.add.reduceat(part, self.task_starts, axis=2)
        return found[0], found[1]


def _segments(checks: pl.DataFrame) -> _Segments:
    task, modality = codes(checks["task"]), codes(checks["modality"])
    core = checks["core"].to_numpy().astype(np.bool_)
    order = np.lexsort((core, modality, task))
    task, modality, core = task[order], modality[order], core[order]

    def starts(*columns: NDArray[Any]) -> Codes:
        changes = [column[1:] != column[:-1] for column in columns]
        return np.flatnonzero(np.concatenate([[len(task) > 0], np.logical_or.reduce(changes)]))

    begin = starts(task, modality, core)
    task_begin = starts(task)
    inner = np.searchsorted(begin, task_begin)
    return _Segments(order, begin, modality[begin], core[begin], inner, task[task_begin])
