"""The bootstrap: how often each unit is drawn, resample by resample, and means under those weights.

A resample of n units is the vector of how often each is drawn, so the means of many columns over many resamples are
one matrix product. Weights are made in chunks: memory stays bounded whatever the number of resamples. The same seed,
units and resamples give the same weights, so that statistics of different columns are paired.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

CHUNK_CELLS = 4_000_000  # weights held at once: 32 MB
ROW_BY_ROW = 1_000  # units from which resamples are drawn one by one; the draws are the same
INTERVAL = (2.5, 97.5)  # percentiles of the 95% interval
DECIMALS = 9  # means equal to this many decimals are ties


def weights(units: int, resamples: int, seed: int) -> Iterator[Matrix]:
    """Chunks of the weight matrix, shape (k, units), whole numbers; each row adds up to `units`."""
    if units == 0:
        return
    generator = np.random.default_rng(seed)
    rows = max(1, min(resamples, CHUNK_CELLS // units))
    for start in range(0, resamples, rows):
        k = min(rows, resamples - start)
        if units >= ROW_BY_ROW:  # one resample at a time stays in the cache, and is twice as fast
            chunk = np.empty((k, units))
            for row in chunk:
                row[:] = np.bincount(generator.integers(0, units, size=units), minlength=units)
            yield chunk
            continue
        drawn = generator.integers(0, units, size=(k, units))
        drawn += np.arange(k)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=k * units).reshape(k, units).astype(np.float64)


def resampled_means(values: Matrix, known: NDArray[np.bool_], resamples: int, seed: int) -> Matrix:
    """Mean of each column over its known units in each resample: shape (resamples, columns).

    `values` and `known` are (units, columns); values that are not known do not count. NaN where a resample draws no
    known unit of a column (`interval` leaves such resamples out).
    """
    filled = np.where(known, values, 0.0)
    whole = bool(known.all())
    mask = known.astype(np.float64)
    parts = []
    for weight in weights(len(values), resamples, seed):
        drawn = float(len(values)) if whole else weight @ mask
        with np.errstate(invalid="ignore", divide="ignore"):
            parts.append((weight @ filled) / drawn)
    return np.concatenate(parts) if parts else np.empty((0, values.shape[1]))


def interval(means: Matrix) -> list[tuple[float, float] | None]:
    """The 95% percentile interval of each column (linear interpolation); None without any resample that has a mean."""
    if means.shape[0] == 0:
        return [None] * means.shape[1]
    lacking = np.isnan(means)
    if not lacking.any():
        low, high = np.percentile(means, INTERVAL, axis=0)
        return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    found: list[tuple[float, float] | None] = []
    for column, gaps in zip(means.T, lacking.T, strict=True):
        there = column[~gaps]
        found.append(tuple(float(v) for v in np.percentile(there, INTERVAL)) if len(there) else None)  # type: ignore[arg-type]
    return found


def share_greater(means: Matrix) -> Matrix:
    """P(A > B), shape (columns, columns): share of resamples where the row's mean is above the column's, ties half.

    Means are compared to DECIMALS; a resample that lacks one of the two is left out. NaN where none is left.
    """
    rounded = np.round(means.T, DECIMALS)  # a row a column: comparisons run along memory
    n = len(rounded)
    share = np.full((n, n), 0.5)
    gaps = bool(np.isnan(rounded).any())
    for i in range(n):
        rest = rounded[i + 1 :]
        above = np.count_nonzero(rounded[i] > rest, axis=1)
        below = np.count_nonzero(rounded[i] < rest, axis=1)
        compared = np.full(len(rest), rounded.shape[1])
        if gaps:
            compared = np.count_nonzero(~np.isnan(rounded[i]) & ~np.isnan(rest), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = (above + (compared - above - below) / 2) / compared
        share[i, i + 1 :], share[i + 1 :, i] = p, 1 - p
    return share


def rank_interval(means: Matrix) -> list[tuple[int, int] | None]:
    """The 2.5 and 97.5 percentiles of each column's rank over resamples; 1 = highest, equals share the better rank."""
    if means.shape[0] == 0:
        return [None] * means.shape[1]
    rounded = np.round(np.nan_to_num(means, nan=-np.inf), DECIMALS)
    order = np.sort(-rounded, axis=1)
    ranks = np.empty(rounded.shape, dtype=np.int32)
    for row in range(len(rounded)):
        ranks[row] = np.searchsorted(order[row], -rounded[row], side="left") + 1
    low, high = np.percentile(ranks, INTERVAL, axis=0, method="inverted_cdf")
    return [(int(a), int(b)) for a, b in zip(low, high, strict=True)]
