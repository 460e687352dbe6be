"""How strict each panel is, and how it uses the scale."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.arrays import RunArrays
from vvb_resources.benchmark.models import DIMENSIONS

ALL, OVERALL = "all", "overall"
ONE_PANEL = "one panel: there is no other to compare with"
SCORES = (1, 2, 3, 4, 5)
Matrix = NDArray[np.float64]

SCALE_SCHEMA = {
    "panel": pl.String,
    **dict.fromkeys(("l3_deliv", "l2_pass_pct", "unknown_pct", "leniency", "offset"), pl.Float64),
    "videos": pl.Int64,
    **dict.fromkeys(
        ("spread_nv0", "spread_deliv", *(f"score{s}_pct" for s in SCORES), "score_unknown_pct"), pl.Float64
    ),
    "reason": pl.String,
}
LENIENCY_SCHEMA = {
    **dict.fromkeys(("panel", "system", "part"), pl.String),
    "leniency": pl.Float64,
    "videos": pl.Int64,
    "reason": pl.String,
}


def against_others(values: Matrix) -> Matrix:
    """Each panel's value minus the mean of the other panels' on the same run; NaN unless all panels have one.

    `values` is (P, ...); so is the result. With one panel everything is NaN.
    """
    n = len(values)
    if n < 2:
        return np.full(values.shape, np.nan)
    return np.asarray((values * n - values.sum(axis=0)) / (n - 1))


def leniency_of(values: Matrix) -> list[float | None]:
    """Leniency of each panel: the mean over runs of `against_others`; None without a run that all panels scored."""
    return [_mean(gap) for gap in against_others(values)]


def offset(leniency: float, panels: int) -> float:
    """A panel's distance from the mean of all panels, itself included: leniency * (panels - 1) / panels."""
    return leniency * (panels - 1) / panels


def scale_use(figures: pl.DataFrame, arrays: RunArrays) -> pl.DataFrame:
    """One row per panel at work: level, leniency, spread, and how often it gives each score.

    l3_deliv, l2_pass_pct, unknown_pct: unweighted means over systems, delivered runs; leniency: mean over `videos` that
    all panels scored of (this panel's run overall - mean of the others'), offset: the same against the mean of all
    panels; spread_*: best minus worst system overall; score1_pct ... score5_pct, score_unknown_pct: share of the scores
    of delivered, scored runs, a fractional score counted at the nearest whole one (half upwards).
    """
    leniencies = leniency_of(arrays.video_scores)
    shared = int((~np.isnan(against_others(arrays.video_scores))).sum() / max(1, len(arrays.panels)))
    rows = []
    for index, panel in enumerate(arrays.panels):
        own = figures.filter(pl.col("panel") == panel)
        value = leniencies[index]
        row: dict[str, object] = {
            "panel": panel,
            "l3_deliv": own["overall_deliv"].mean(),
            "l2_pass_pct": own["l2_pass_deliv_pct"].mean(),
            "unknown_pct": own["unknown_pct"].mean(),
            "leniency": value,
            "offset": offset(value, len(arrays.panels)) if value is not None else None,
            "videos": shared,
            "spread_nv0": _spread(own["overall_nv0"]),
            "spread_deliv": _spread(own["overall_deliv"]),
            **_distribution(arrays, index),
        }
        notes = [ONE_PANEL if len(arrays.panels) == 1 else None]
        if value is None and len(arrays.panels) > 1:
            notes.append("no video that all panels scored")
        if any(row[c] is None for c in ("l3_deliv", "l2_pass_pct", "unknown_pct", "spread_nv0", "spread_deliv")):
            notes.append("no system has the figure")
        if row["score_unknown_pct"] is None:
            notes.append("no score asked for")
        lacking = own["overall_deliv"].null_count()
        if 0 < lacking < len(own):
            notes.append(f"means over {len(own) - lacking} of {len(own)} systems")
        rows.append(row | {"reason": "; ".join(n for n in notes if n) or None})
    return pl.DataFrame(rows, schema=SCALE_SCHEMA, orient="row")


def _spread(values: pl.Series) -> float | None:
    known = values.drop_nulls()
    return float(known.max() - known.min()) if len(known) else None  # type: ignore[operator,arg-type]


def _distribution(arrays: RunArrays, panel: int) -> dict[str, float | None]:
    asked = arrays.judged[panel] & arrays.delivered
    given = arrays.dims[:, panel][:, asked]
    known = given[~np.isnan(given)]
    bins = np.clip(np.floor(known + 0.5), 1, 5).astype(np.int64)
    counts = np.bincount(bins, minlength=6)[1:]
    total = given.size
    shares = {f"score{s}_pct": 100.0 * float(c) / total if total else None for s, c in zip(SCORES, counts, strict=True)}
    return shares | {"score_unknown_pct": 100.0 * (total - len(known)) / total if total else None}


def leniency(arrays: RunArrays) -> pl.DataFrame:
    """Leniency by panel: over all videos (system 'all') for the overall and each dimension, and by system.

    Only videos that all panels have a known value of count (`videos`).
    """
    dims = np.where(arrays.delivered, arrays.dims, np.nan)
    parts = [(OVERALL, against_others(arrays.video_scores))]
    parts += [(d, against_others(dims[i])) for i, d in enumerate(DIMENSIONS)]
    rows = []
    for index, panel in enumerate(arrays.panels):
        for part, gaps in parts:
            rows.append(_leniency_row(panel, ALL, part, gaps[index], len(arrays.panels)))
        for place, system in enumerate(arrays.systems):
            rows.append(_leniency_row(panel, system, OVERALL, parts[0][1][index, place], len(arrays.panels)))
    return pl.DataFrame(rows, schema=LENIENCY_SCHEMA, orient="row")


def _leniency_row(panel: str, system: str, part: str, gaps: Matrix, panels: int) -> tuple[object, ...]:
    value = _mean(gaps)
    reason = None
    if value is None:
        reason = ONE_PANEL if panels == 1 else "no video that all panels scored"
    return panel, system, part, value, int((~np.isnan(gaps)).sum()), reason


def _mean(values: Matrix) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
