"""How sure the ranking is: bootstrap intervals over tasks, P(A > B), and wins, losses and ties task by task.

The statistic is the mean over runs of the run overall, averaged over panels with equal weight (`run_overall` of the
leaderboard). One resample draws tasks with replacement, the same ones for every system and panel. Wins, losses and
ties are counted on the tasks themselves: they do not depend on the bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.arrays import RunArrays
from vvb_assets.scores.bootstrap import DECIMALS, interval, rank_interval, resampled_means, share_greater

RESAMPLES, SEED = 10_000, 20_260_101  # the defaults of benchmark.yaml
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Resampled:
    """The systems that can be compared, their task scores (systems, tasks) and their means in each resample.

    `task_scores` is the mean over panels of the run overall, 0 without a video, NaN if a panel knows no dimension.
    `means` and `delivered_means` are (resamples, systems), all runs and delivered runs only.
    """

    systems: tuple[str, ...]
    task_scores: Matrix
    estimates: Matrix
    delivered_estimates: Matrix
    means: Matrix
    delivered_means: Matrix


def resample(arrays: RunArrays, resamples: int = RESAMPLES, seed: int = SEED) -> Resampled:
    """Bootstrap over tasks of every system whose runs are all made and scored by every panel at work."""
    whole = np.flatnonzero(arrays.open_runs == 0) if arrays.panels else np.empty(0, dtype=np.int64)
    overall = arrays.overall[:, whole]  # (P, S, T)
    known = ~np.isnan(overall)
    both = [known, known & arrays.delivered[whole]]  # all runs, and those with a video
    means = _panel_mean(np.concatenate([overall, overall], axis=1), np.concatenate(both, axis=1), resamples, seed)
    return Resampled(
        tuple(arrays.systems[i] for i in whole),
        overall.mean(axis=0) if arrays.panels else np.empty((0, len(arrays.tasks))),
        _estimates(overall, both[0]),
        _estimates(overall, both[1]),
        means[:, : len(whole)],
        means[:, len(whole) :],
    )


def _estimates(overall: Matrix, known: NDArray[np.bool_]) -> Matrix:
    """Mean over panels of each panel's mean over its known runs, per system; NaN where a panel knows none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, overall, 0.0).sum(axis=2) / known.sum(axis=2)
    return means.mean(axis=0) if len(means) else np.full(overall.shape[1], np.nan)


def _panel_mean(overall: Matrix, known: NDArray[np.bool_], resamples: int, seed: int) -> Matrix:
    """Resampled means, averaged over panels. Panels that know the same runs share one matrix product."""
    if not overall.shape[0] or not overall.shape[1]:
        return np.empty((resamples, overall.shape[1]))
    if (known == known[0]).all():
        return resampled_means(overall.mean(axis=0).T, known[0].T, resamples, seed)
    parts = [resampled_means(o.T, k.T, resamples, seed) for o, k in zip(overall, known, strict=True)]
    return np.asarray(np.mean(parts, axis=0))


def uncertainty(arrays: RunArrays, resampled: Resampled, resamples: int = RESAMPLES, seed: int = SEED) -> pl.DataFrame:
    """One row per system, best mean first, each compared with the next one.

    mean, low, high: run overall, 0-5, 95% percentile interval; deliv_*: the same over delivered runs, 1-5; rank_low,
    rank_high: 95% interval of the rank; p_greater: P(this mean > the next system's), ties half; wins, losses, ties:
    tasks against the next one; a task both miss is a tie. A system with open runs has nulls and a reason.
    """
    place = {s: i for i, s in enumerate(resampled.systems)}
    order = _by_mean(resampled)
    bounds, delivered_bounds = interval(resampled.means), interval(resampled.delivered_means)
    ranks = rank_interval(resampled.means)
    greater = share_greater(resampled.means[:, order])
    rows = []
    for number, i in enumerate(order):
        has_next = number + 1 < len(order)
        next_one = order[number + 1] if has_next else None
        duel = _duel(resampled.task_scores[i], resampled.task_scores[next_one]) if next_one is not None else (None,) * 3
        mean, delivered = _number(resampled.estimates[i]), _number(resampled.delivered_estimates[i])
        low, high = bounds[i] or (None, None)
        deliv_low, deliv_high = (delivered_bounds[i] if delivered is not None else None) or (None, None)
        rank_low, rank_high = (ranks[i] if mean is not None else None) or (None, None)
        notes = [
            "no known score" if mean is None else None,
            "nothing delivered" if mean is not None and delivered is None else None,
            None if has_next else "no system below to compare with",
        ]
        rows.append(
            {
                "system": resampled.systems[i],
                **{"mean": mean, "low": low, "high": high},
                **{"deliv_mean": delivered, "deliv_low": deliv_low, "deliv_high": deliv_high},
                **{"rank_low": rank_low, "rank_high": rank_high},
                "next_system": resampled.systems[next_one] if next_one is not None else None,
                "p_greater": _number(greater[number, number + 1]) if has_next else None,
                **dict(zip(("wins", "losses", "ties"), duel, strict=True)),
                **{"tasks": len(arrays.tasks), "resamples": resamples, "seed": seed},
                "reason": "; ".join(n for n in notes if n) or None,
            }
        )
    rows += [
        {
            "system": system,
            **{"tasks": len(arrays.tasks), "resamples": resamples, "seed": seed},
            "reason": open_reason(arrays, i),
        }
        for i, system in enumerate(arrays.systems)
        if system not in place
    ]
    return pl.DataFrame(rows, schema=UNCERTAINTY_SCHEMA, orient="row")


def open_reason(arrays: RunArrays, system: int) -> str:
    """Why a system cannot be compared: runs not made, or not scored by every panel at work."""
    if not arrays.panels:
        return "no panel has judged anything"
    missing = int((~arrays.made[system]).sum())
    unscored = int(arrays.open_runs[system]) - missing
    parts = [f"{missing} of {len(arrays.tasks)} runs not made"] if missing else []
    parts += [f"{unscored} delivered runs not scored by every panel"] if unscored else []
    return "; ".join(parts)


UNCERTAINTY_SCHEMA = {
    "system": pl.String,
    **dict.fromkeys(("mean", "low", "high", "deliv_mean", "deliv_low", "deliv_high"), pl.Float64),
    **dict.fromkeys(("rank_low", "rank_high"), pl.Int64),
    "next_system": pl.String,
    "p_greater": pl.Float64,
    **dict.fromkeys(("wins", "losses", "ties", "tasks", "resamples", "seed"), pl.Int64),
    "reason": pl.String,
}
PAIRWISE_SCHEMA = {
    **dict.fromkeys(("system_a", "system_b"), pl.String),
    **dict.fromkeys(("difference", "p_greater"), pl.Float64),
    **dict.fromkeys(("wins", "losses", "ties"), pl.Int64),
    "reason": pl.String,
}


def pairwise(resampled: Resampled) -> pl.DataFrame:
    """One row per pair of systems, the better mean as system_a, in the order of the ranking.

    difference = mean of a minus mean of b; p_greater = P(a > b) over resamples, ties half; wins, losses, ties of a
    against b over the tasks both have a score on.
    """
    order = _by_mean(resampled)
    greater = share_greater(resampled.means[:, order])
    scores = np.round(resampled.task_scores[order], DECIMALS)
    rows = []
    for a, b in combinations(range(len(order)), 2):
        difference = _number(resampled.estimates[order[a]] - resampled.estimates[order[b]])
        p = _number(greater[a, b])
        reason = "a system has no known score" if difference is None or p is None else None
        names = resampled.systems[order[a]], resampled.systems[order[b]]
        rows.append((*names, difference, p, *_duel(scores[a], scores[b]), reason))
    return pl.DataFrame(rows, schema=PAIRWISE_SCHEMA, orient="row")


def _by_mean(resampled: Resampled) -> list[int]:
    """Indices of the systems, best mean first; equals and systems without a mean in name order, the latter last."""
    rounded = np.round(np.nan_to_num(resampled.estimates, nan=-1.0), DECIMALS)
    return sorted(range(len(rounded)), key=lambda i: (-rounded[i], resampled.systems[i]))


def _duel(a: Matrix, b: Matrix) -> tuple[int, int, int]:
    """Wins, losses and ties of a against b, task by task, to DECIMALS; tasks without a score of both do not count."""
    a, b = np.round(a, DECIMALS), np.round(b, DECIMALS)
    return int((a > b).sum()), int((a < b).sum()), int((a == b).sum())


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
