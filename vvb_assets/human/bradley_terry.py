"""Bradley-Terry strengths by Newton's method, for many tables of wins at once.

P(i beats j) = s_i / (s_i + s_j). The log-likelihood in theta = ln s is concave, and Newton's method needs five or six
steps where the usual fixed-point iteration needs hundreds; all resamples of a bootstrap take each step together.
Sources: R. A. Bradley, M. E. Terry, Biometrika 39 (1952) 324-345; L. R. Ford, Amer. Math. Monthly 64 (1957) 28-33
(when a finite maximum exists).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MAX_STEPS = 200
STEP_DONE = 1e-9  # steps shrink quadratically: after one this small the next would be far below rounding
# Within a step no difference of two thetas moves by more than this. The logistic curvature then changes by less than
# a factor that could make a Newton step overshoot: (e^z - z - 1) / z^2 < 1 for z < 1.79.
STEP_SPAN = 1.5
CHUNK_CELLS = 4_000_000  # of (resample, system, system) arrays held at once: 32 MB each


def with_prior(wins: Floats, prior: float) -> Floats:
    """Add `prior` virtual votes for each pair of systems, half a win each way. `wins` is (..., S, S)."""
    size = wins.shape[-1]
    return wins + prior / 2 * (1 - np.eye(size))


def connected_groups(wins: Floats) -> list[list[int]]:
    """Groups of systems that comparisons connect, whoever won; `wins` is (S, S). Sorted by their first member."""
    met: Bools = np.greater(wins + wins.T, 0)
    np.fill_diagonal(met, True)
    reach = _closure(met[None])[0]
    groups: dict[int, list[int]] = {}
    for system in range(len(wins)):
        groups.setdefault(int(np.argmax(reach[system])), []).append(system)
    return list(groups.values())


def has_finite_fit(wins: Floats) -> Bools:
    """For each table of (B, S, S): is every system reached from every other along wins (Ford's condition)."""
    beats = (wins > 0) | np.eye(wins.shape[-1], dtype=np.bool_)
    if beats.all():  # a prior links everyone with everyone
        return np.ones(len(wins), dtype=np.bool_)
    return np.asarray(_closure(beats).all(axis=(1, 2)), dtype=np.bool_)


def _closure(links: Bools) -> Bools:
    """Reflexive transitive closure of (B, S, S) links, by repeated squaring."""
    reach = links.astype(np.float32)
    for _ in range(max(1, int(np.ceil(np.log2(max(2, links.shape[-1])))))):
        reach = np.minimum(reach @ reach, 1)
    closed: Bools = reach > 0.5
    return closed


def fit_log_strengths(wins: Floats, start: Floats | None = None) -> Floats:
    """Maximum-likelihood log strengths (B, S) of win tables (B, S, S), each row with mean 0.

    wins[b, i, j] is how often i beat j: any nonnegative weights, a prior included, diagonal 0. `start` (S,) is where
    to begin. A table without a finite maximum (`has_finite_fit`) gives a row of NaN, and so does one that rounding
    keeps from converging: callers turn them into nulls.
    """
    wins = np.asarray(wins, dtype=np.float64)
    batch, size = wins.shape[0], wins.shape[-1]
    theta = np.zeros((batch, size)) if start is None else np.tile(start, (batch, 1))
    chunk = max(1, CHUNK_CELLS // max(1, size * size))
    for first in range(0, batch, chunk):
        part = slice(first, first + chunk)
        theta[part] = _fit_chunk(wins[part], theta[part])
    return theta


def _fit_chunk(wins: Floats, theta: Floats) -> Floats:
    from scipy.special import expit  # a fifth of a second, which commands that fit nothing need not pay

    size = wins.shape[-1]
    result = np.full_like(theta, np.nan)
    active = np.flatnonzero(has_finite_fit(wins))
    theta, won = theta[active], wins[active]
    games = won + won.transpose(0, 2, 1)
    diagonal = np.arange(size)
    for _ in range(MAX_STEPS):
        if not len(active):
            break
        chance: Floats = expit(theta[:, :, None] - theta[:, None, :])
        other = chance.transpose(0, 2, 1)  # 1 - chance without the rounding that would lose a small one
        gradient = (won * other - won.transpose(0, 2, 1) * chance).sum(axis=2)
        curvature = games * chance * other
        total = curvature.sum(axis=2)
        hessian = -curvature
        # Only differences count, so the Hessian is singular along (1, ..., 1): a constant there fixes the mean. The
        # trace of rounding size keeps it solvable where chances are all but certain; the solution stays the same.
        scale = total.sum(axis=1) / size + np.finfo(np.float64).tiny
        hessian += (scale / size)[:, None, None]
        hessian[:, diagonal, diagonal] += total + 1e-13 * scale[:, None]
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        span = np.ptp(step, axis=1)
        theta = theta + step * np.minimum(1.0, STEP_SPAN / np.maximum(span, STEP_SPAN))[:, None]
        done = span < STEP_DONE
        if done.any():
            result[active[done]] = theta[done] - theta[done].mean(axis=1, keepdims=True)
            keep = ~done
            active, theta, games, won = active[keep], theta[keep], games[keep], won[keep]
    return result
