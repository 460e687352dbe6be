"""The ranking without the panels that judge their own model or family, and how far it stays the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import polars as pl

from vvb_assets.leaderboards.leniency import leniency_of, offset
from vvb_assets.leaderboards.self_preference import excluded_panels
from vvb_assets.scores.arrays import RunArrays
from vvb_assets.scores.bootstrap import resampled_means, share_greater
from vvb_assets.scores.families import Kinship
from vvb_assets.scores.ranks import kendall, midranks

HEADLINE, OWN_PANEL, FAMILY, FAMILY_SHIFTED = (
    "headline",
    "without own panel",
    "without family",
    "without family, shifted",
)
NOTHING_LEFT_OUT = ("no judge is of a system's family", "no judge is the model of a system")
SCHEMA = {
    "method": pl.String,
    "rank": pl.Int64,
    "system": pl.String,
    "score": pl.Float64,
    "headline_rank": pl.Int64,
    "panels": pl.String,
    **dict.fromkeys(("p_greater", "kendall_tau"), pl.Float64),
    "reason": pl.String,
}


def reranked(
    figures: pl.DataFrame, excluded: Mapping[str, Collection[str]], offsets: Mapping[str, float] | None = None
) -> dict[str, float | None]:
    """Score of each system over the panels that may judge it, each panel's leniency offset taken off its videos.

    `figures` has panel, system, overall_nv0 (0-5) and delivery_pct (0-100); `excluded` maps a system to panels left
    out; `offsets` a panel to its distance from the mean of all panels, in score points. A missing video is 0 for every
    panel, so the offset counts only for the share delivered: score = mean of (overall_nv0 - offset * delivery). None
    where no panel is left or one of them has no overall.
    """
    by_system: dict[str, list[float | None]] = {}
    for panel, system, overall, delivery in figures.select(
        "panel", "system", "overall_nv0", "delivery_pct"
    ).iter_rows():
        values = by_system.setdefault(str(system), [])
        if panel in excluded.get(str(system), ()):
            continue
        shift = (offsets or {}).get(panel, 0.0)
        values.append(None if overall is None else overall - shift * (delivery or 0.0) / 100)
    return {s: _mean(values) for s, values in by_system.items()}


def leniency_offsets(arrays: RunArrays) -> dict[str, float]:
    """Each panel's offset against the mean of all panels, on the videos all of them scored; 0 where there is none."""
    values = leniency_of(arrays.video_scores)
    return {p: offset(v or 0.0, len(arrays.panels)) for p, v in zip(arrays.panels, values, strict=True)}


def kendall_with(headline: Mapping[str, float | None], other: Mapping[str, float | None]) -> float | None:
    """Kendall's tau-a of two sets of scores, over the systems that have both."""
    pairs = [(v, other.get(s)) for s, v in headline.items()]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return kendall([a for a, _ in known], [b for _, b in known]).tau_a


def rerankings(figures: pl.DataFrame, arrays: RunArrays, kin: Kinship, resamples: int, seed: int) -> pl.DataFrame:
    """One row per (method, system), best first: the headline ranking, and three without a system's kin.

    'without own panel' leaves out panels whose judge is the system's own model; 'without family' those with a judge of
    its family; 'shifted' takes off each panel's leniency offset first, since the panels that are left differ in
    leniency. kendall_tau: with the headline, tau-a; p_greater: P(this system's mean > the next one's) in a bootstrap
    over tasks of the same scores, run overall for nv0 overall.
    """
    own, family = excluded_panels(kin.models), excluded_panels(kin.families)
    shift = leniency_offsets(arrays)
    whole = {s for s, n in zip(arrays.systems, arrays.open_runs, strict=True) if n == 0}
    shares = dict(zip(arrays.systems, 100 * arrays.delivered.mean(axis=1), strict=True)) if len(arrays.tasks) else {}
    at_work = figures.filter(pl.col("panel").is_in(arrays.panels) & pl.col("system").is_in(list(whole)))
    at_work = at_work.with_columns(
        delivery_pct=pl.col("system").replace_strict(shares, default=None, return_dtype=pl.Float64)
    )
    methods: list[tuple[str, Mapping[str, set[str]], Mapping[str, float]]] = [
        (HEADLINE, {}, {}),
        (OWN_PANEL, own, {}),
        (FAMILY, family, {}),
        (FAMILY_SHIFTED, family, shift),
    ]
    matrices = [_task_scores(arrays, left_out, offsets) for _, left_out, offsets in methods]
    joined = np.concatenate(matrices, axis=1)
    means = resampled_means(joined, ~np.isnan(joined), resamples, seed)
    headline = reranked(at_work, {})
    rows: list[tuple[object, ...]] = []
    for number, (method, left_out, offsets) in enumerate(methods):
        if number and not any(left_out.get(s) for s in arrays.systems):
            rows.append((method, *[None] * 7, NOTHING_LEFT_OUT[method is OWN_PANEL]))
            continue
        scores = reranked(at_work, left_out, offsets)
        first = number * len(arrays.systems)
        part = means[:, first : first + len(arrays.systems)]
        rows += _rows(method, scores, headline, left_out, arrays, part)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _task_scores(
    arrays: RunArrays, left_out: Mapping[str, Collection[str]], offsets: Mapping[str, float]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Mean over the panels left of the (shifted) run overall, shape (T, S); NaN where there is none."""
    shifted = arrays.overall - np.array([offsets.get(p, 0.0) for p in arrays.panels])[:, None, None] * arrays.delivered
    columns = []
    for s, system in enumerate(arrays.systems):
        kept = [p for p, panel in enumerate(arrays.panels) if panel not in left_out.get(system, ())]
        columns.append(shifted[kept, s].mean(axis=0) if kept else np.full(len(arrays.tasks), np.nan))
    return np.array(columns).reshape(len(arrays.systems), len(arrays.tasks)).T


def _rows(
    method: str,
    scores: Mapping[str, float | None],
    headline: Mapping[str, float | None],
    left_out: Mapping[str, Collection[str]],
    arrays: RunArrays,
    means: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> list[tuple[object, ...]]:
    place = {s: i for i, s in enumerate(arrays.systems)}
    ranks, headline_ranks = _ranks(scores), _ranks(headline)
    order = sorted(arrays.systems, key=lambda s: (ranks.get(s) or len(place) + 1, s))
    tau = kendall_with(headline, scores)
    greater = share_greater(means[:, [place[s] for s in order]])
    rows: list[tuple[object, ...]] = []
    for number, system in enumerate(order):
        score, kept = scores.get(system), [p for p in arrays.panels if p not in left_out.get(system, ())]
        last = number + 1 == len(order) or scores.get(order[number + 1]) is None
        p = None if score is None or last else float(greater[number, number + 1])
        reason: str | None
        if not arrays.panels:
            reason = "no panel has judged anything"
        elif not kept:
            reason = "no panel is left"
        elif score is None:
            reason = "runs not made, or not scored whole by every panel"
        else:
            reason = "no system below to compare with" if last else None
        if tau is None and score is not None:
            reason = "; ".join(filter(None, [reason, "an order needs two systems"]))
        p = p if p is None or np.isfinite(p) else None
        places = ranks.get(system), system, score, headline_ranks.get(system)
        rows.append((method, *places, ", ".join(kept) or None, p, tau, reason))
    return rows


def _ranks(scores: Mapping[str, float | None]) -> dict[str, int]:
    """1 = highest, equals share the better rank; systems without a score have none."""
    known = [s for s, v in scores.items() if v is not None]
    highest_first = midranks([-float(scores[s] or 0.0) for s in known]) if known else np.empty(0)
    return {s: int((highest_first < r - 1e-9).sum()) + 1 for s, r in zip(known, highest_first, strict=True)}


def _mean(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
