"""Rank statistics over systems or runs: Spearman, Kendall, Pearson, Kendall's W, and a permutation p.

Every function takes plain vectors and returns None where the statistic does not exist (fewer than two values, or one
side all equal), never NaN. Values are rounded to RANK_DECIMALS before they are compared, so that equal sums that were
added in another order stay ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

RANK_DECIMALS = 9
EXACT_UP_TO = 9  # systems; 9! = 362,880 orders
MONTE_CARLO = 100_000


def midranks(values: ArrayLike) -> Vector:
    """Ranks from 1 (lowest), ties sharing the mean of their places; shape (n,)."""
    rounded = np.round(np.asarray(values, dtype=np.float64), RANK_DECIMALS)
    _, place, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place]


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Pearson's r of two vectors of shape (n,); None below two values or where one does not vary."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(a) < 2 or np.ptp(a) < 10.0**-RANK_DECIMALS or np.ptp(b) < 10.0**-RANK_DECIMALS:
        return None
    a, b = a - a.mean(), b - b.mean()
    r = float((a @ b) / np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, r))


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Spearman's rho with mid-ranks for ties; None below two values or where all of one side are equal."""
    return pearson(midranks(x), midranks(y))


@dataclass(frozen=True)
class Kendall:
    """Kendall's tau in both forms. tau-a divides by all pairs, so ties pull it to 0; tau-b leaves ties out."""

    concordant: int
    discordant: int
    pairs: int
    tau_a: float | None
    tau_b: float | None


def kendall(x: ArrayLike, y: ArrayLike) -> Kendall:
    """Kendall's tau of two vectors of shape (n,), by comparing all pairs (n is a number of systems).

    tau-a = (C - D) / all pairs, the form the paper prints; tau-b = (C - D) / sqrt(pairs untied in x * untied in y).
    """
    signs = [np.sign(r[:, None] - r[None, :])[np.triu_indices(len(r), 1)] for r in (midranks(x), midranks(y))]
    product = signs[0] * signs[1]
    pairs, concordant, discordant = len(product), int((product > 0).sum()), int((product < 0).sum())
    untied = float(np.count_nonzero(signs[0])) * float(np.count_nonzero(signs[1]))
    return Kendall(
        concordant,
        discordant,
        pairs,
        (concordant - discordant) / pairs if pairs else None,
        (concordant - discordant) / float(np.sqrt(untied)) if untied else None,
    )


def kendalls_w(raters: Sequence[ArrayLike]) -> float | None:
    """Kendall's coefficient of concordance of m raters (each of shape (n,)), corrected for ties; 0 to 1.

    W = 12 S / (m^2 (n^3 - n) - m sum(t^3 - t)). None below two raters or items, or where every rater ties everything.
    """
    ranks = np.array([midranks(r) for r in raters])
    if len(ranks) < 2 or ranks.shape[1] < 2:
        return None
    m, n = ranks.shape
    totals = ranks.sum(axis=0)
    spread = float(((totals - totals.mean()) ** 2).sum())
    sizes = [np.unique(r, return_counts=True)[1].astype(np.float64) for r in ranks]
    ties = sum(float((t**3 - t).sum()) for t in sizes)
    whole = m * m * (n**3 - n) - m * ties
    return 12 * spread / whole if whole > 0 else None


@dataclass(frozen=True)
class PermutationTest:
    """Spearman's rho with a two-sided permutation p, and how p was found."""

    rho: float | None
    p: float | None
    orders: int
    exact: bool


def permutation_test(x: ArrayLike, y: ArrayLike, seed: int) -> PermutationTest:
    """Two-sided p of Spearman's rho: share of orders of `y` with |rho*| >= |rho|.

    Up to nine values every order is counted; beyond, MONTE_CARLO orders drawn from `seed`, p = (1 + k) / (1 + draws).
    Doubled mid-ranks are whole numbers, so the comparison is exact.
    """
    rho = spearman(x, y)
    if rho is None:
        return PermutationTest(None, None, 0, True)
    a, b = (np.rint(2 * midranks(v)).astype(np.int64) for v in (x, y))
    n = len(a)
    middle = int(a.sum()) * int(b.sum())  # n times the mean of sum(a * permuted b)
    least = abs(n * int(a @ b) - middle)
    if n <= EXACT_UP_TO:
        extreme = np.abs(n * (b[_orders(n)] @ a) - middle) >= least
        return PermutationTest(rho, float(extreme.mean()), len(extreme), True)
    generator = np.random.default_rng(seed)
    found = 0
    for _ in range(MONTE_CARLO // 1000):
        drawn = generator.permuted(np.broadcast_to(b, (1000, n)), axis=1)
        found += int((np.abs(n * (drawn @ a) - middle) >= least).sum())
    return PermutationTest(rho, (1 + found) / (1 + MONTE_CARLO), MONTE_CARLO, False)


@lru_cache(maxsize=2)
def _orders(n: int) -> NDArray[np.int8]:
    """All n! permutations of 0 .. n-1, shape (n!, n): each order of n - 1 with the new index put into every place."""
    orders = np.zeros((1, 0), dtype=np.int8)
    for size in range(n):
        orders = np.concatenate([np.insert(orders, place, size, axis=1) for place in range(size + 1)])
    return orders
