"""Run statistics as dense arrays, for figures that compare panels, systems or tasks with one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.figures import active_panels
from vvb_resources.benchmark.models import DIMENSIONS

VISUAL_DIMENSIONS = tuple(d for d in DIMENSIONS if d != "AQ")


@dataclass(frozen=True)
class RunArrays:
    """What the panels at work gave each run; P panels, S systems, T tasks.

    `overall` (P, S, T) is the run overall: the mean of the known dimensions, 0 without a video, NaN where nothing is
    known. `dims` (D, P, S, T) holds the five dimensions, NaN unknown. `made` and `delivered` are (S, T); `judged`
    (P, S, T) says that the panel has scored the run, or there is nothing to score.
    """

    panels: tuple[str, ...]
    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    overall: NDArray[np.float64]
    dims: NDArray[np.float64]
    made: NDArray[np.bool_]
    delivered: NDArray[np.bool_]
    judged: NDArray[np.bool_]

    @property
    def open_runs(self) -> NDArray[np.int64]:
        """Per system, the number of runs not made or not scored by every panel; shape (S,)."""
        judged = self.judged.all(axis=0) if self.panels else ~self.delivered
        return np.asarray((~(self.made & judged)).sum(axis=1), dtype=np.int64)

    @property
    def video_scores(self) -> NDArray[np.float64]:
        """`overall` of delivered runs, NaN for the others; shape (P, S, T)."""
        return np.where(self.delivered, self.overall, np.nan)


def run_arrays(stats: pl.DataFrame) -> RunArrays:
    """Arrays from `run_statistics` rows (every panel, system and task has its row there, in the results' order)."""
    panels = active_panels(stats)
    systems = stats["system"].unique(maintain_order=True).to_list()
    tasks = stats["task"].unique(maintain_order=True).to_list()
    shape = (len(systems), len(tasks))
    first = stats.head(shape[0] * shape[1])
    judged_by = [stats.filter(pl.col("panel") == panel) for panel in panels]

    def stack(column: str, dtype: type) -> NDArray[np.generic]:
        parts = [_values(part[column], dtype).reshape(shape) for part in judged_by]
        return np.array(parts, dtype=dtype).reshape(len(panels), *shape)

    made = first["delivered"].is_not_null().to_numpy().reshape(shape)
    return RunArrays(
        panels=tuple(panels),
        systems=tuple(systems),
        tasks=tuple(tasks),
        overall=stack("run_overall", np.float64),  # type: ignore[arg-type]
        dims=np.array([stack(d, np.float64) for d in DIMENSIONS]),
        made=made,
        delivered=_values(first["delivered"], np.bool_).reshape(shape),  # type: ignore[arg-type]
        judged=stack("l3_judged", np.bool_),  # type: ignore[arg-type]
    )


def _values(column: pl.Series, dtype: type) -> NDArray[np.generic]:
    if dtype is np.bool_:
        return column.fill_null(False).to_numpy().astype(np.bool_)
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
