"""Does a panel favour its own model or family, and does the ranking depend on it?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.leaderboards.leniency import ONE_PANEL, against_others
from vvb_assets.scores.arrays import RunArrays
from vvb_assets.scores.bootstrap import interval, weights
from vvb_assets.scores.families import Kinship

VIDEO_RESAMPLES = 2_000  # as the paper: resamples of videos, of which there are as many as runs
SYSTEM, OWN_MODEL, OWN_FAMILY = "system", "own model", "own family"
Matrix = NDArray[np.float64]
SCHEMA = {
    **dict.fromkeys(("panel", "compared", "system"), pl.String),
    **dict.fromkeys(("relative_score", "low", "high"), pl.Float64),
    "videos": pl.Int64,
    "own": pl.Boolean,
    "reason": pl.String,
}


def visual_scores(arrays: RunArrays) -> Matrix:
    """Mean of the four visual dimensions, NaN unless the run is a video with all four known; shape (P, S, T)."""
    four = arrays.dims[:-1]  # AQ is the last of the dimensions
    return np.where(arrays.delivered, four.mean(axis=0), np.nan)


def self_preference(arrays: RunArrays, kin: Kinship, resamples: int, seed: int) -> pl.DataFrame:
    """Relative score of each (panel, system), then own model against others and own family against others.

    On videos all panels scored on the four visual dimensions: the panel's score centred on its mean over all videos,
    minus the mean of the other panels' centred scores. 'own model' is the mean over the videos of the panel's own
    model minus the mean over all others', 'own family' likewise. low, high: 95% interval of a bootstrap over videos,
    centred anew in each resample. `own` marks the panel's own model.
    """
    gaps = against_others(visual_scores(arrays))  # (P, S, T)
    systems = len(arrays.systems)
    common = ~np.isnan(gaps).any(axis=0) if len(gaps) else np.zeros(arrays.delivered.shape, dtype=np.bool_)
    owner = np.nonzero(common)[0]
    values = np.ascontiguousarray(gaps[:, common].T)  # (videos, P)
    counts, sums = _group_sums(np.ones((1, len(owner))), values, owner, systems)
    draws = [_group_sums(w, values, owner, systems) for w in weights(len(owner), min(resamples, VIDEO_RESAMPLES), seed)]
    drawn = np.concatenate([d[0] for d in draws]) if draws else np.empty((0, systems))
    totals = np.concatenate([d[1] for d in draws]) if draws else np.empty((0, systems, len(gaps)))
    rows: list[tuple[object, ...]] = []
    for p, panel in enumerate(arrays.panels):
        for s, system in enumerate(arrays.systems):
            inside = np.arange(systems) == s
            estimate = _relative(counts, sums[:, :, p], inside)
            resampled = _relative(drawn, totals[:, :, p], inside)
            own = system in kin.visual_models[panel]
            reason = _absent(arrays, len(owner), int(counts[0, s]), system)
            rows.append(_row(panel, SYSTEM, system, estimate, resampled, int(counts[0, s]), own, reason))
        for kind, table in ((OWN_MODEL, kin.visual_models), (OWN_FAMILY, kin.visual_families)):
            inside = np.array([s in table[panel] for s in arrays.systems], dtype=np.bool_)
            videos = int(counts[0, inside].sum())
            reason = _absent(arrays, len(owner), videos, f"its {kind}")
            if not inside.any():
                reason = f"no system is the panel's {kind}"
            elif videos == len(owner) and reason is None:
                reason = "there are no other videos"
            estimate = _against_rest(counts, sums[:, :, p], inside)
            resampled = _against_rest(drawn, totals[:, :, p], inside)
            names = ", ".join(s for s, i in zip(arrays.systems, inside, strict=True) if i) or None
            rows.append(_row(panel, kind, names, estimate, resampled, videos, True, reason))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _group_sums(weight: Matrix, values: Matrix, owner: NDArray[np.int64], systems: int) -> tuple[Matrix, Matrix]:
    """Weighted counts (k, systems) and sums (k, systems, P) of each system's videos; `owner` is sorted."""
    edges = np.searchsorted(owner, np.arange(systems + 1))
    counts = np.zeros((len(weight), systems))
    sums = np.zeros((len(weight), systems, values.shape[1]))
    for s in range(systems):
        block = slice(edges[s], edges[s + 1])
        counts[:, s] = weight[:, block].sum(axis=1)
        sums[:, s] = weight[:, block] @ values[block]
    return counts, sums


def _relative(counts: Matrix, sums: Matrix, inside: NDArray[np.bool_]) -> Matrix:
    """Mean of the systems inside minus the mean over all videos, by resample; NaN where none was drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        own = sums[:, inside].sum(axis=1) / counts[:, inside].sum(axis=1)
        return np.asarray(own - sums.sum(axis=1) / counts.sum(axis=1))


def _against_rest(counts: Matrix, sums: Matrix, inside: NDArray[np.bool_]) -> Matrix:
    """Mean of the systems inside minus the mean of all others, by resample; NaN where a side was not drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        own = sums[:, inside].sum(axis=1) / counts[:, inside].sum(axis=1)
        return np.asarray(own - sums[:, ~inside].sum(axis=1) / counts[:, ~inside].sum(axis=1))


def _absent(arrays: RunArrays, all_videos: int, videos: int, what: str) -> str | None:
    if len(arrays.panels) == 1:
        return ONE_PANEL
    if not all_videos:
        return "no video that all panels scored on the four visual dimensions"
    return None if videos else f"no such video of {what}"


def _row(
    panel: str,
    kind: str,
    system: str | None,
    estimate: Matrix,
    drawn: Matrix,
    videos: int,
    own: bool,
    reason: str | None,
) -> tuple[object, ...]:
    value = float(estimate[0]) if reason is None and np.isfinite(estimate[0]) else None
    bounds = interval(drawn[:, None])[0] if value is not None else None
    low, high = bounds or (None, None)
    return panel, kind, system, value, low, high, videos, own, reason


def excluded_panels(by_panel: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    """From panel -> its own systems to system -> panels that may not judge it."""
    found: dict[str, set[str]] = {}
    for panel, systems in by_panel.items():
        for system in systems:
            found.setdefault(system, set()).add(panel)
    return found
