"""Rank correlations that answer None where there is nothing to correlate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

DECIMALS = 9  # equal sums added in another order stay equal


@dataclass(frozen=True)
class RankAgreement:
    """How two measures order the same systems: `n` of them; a coefficient is None with `reason` where undefined."""

    n: int
    spearman: float | None
    kendall_tau_a: float | None
    kendall_tau_b: float | None
    reason: str | None


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Spearman's rho with mid-ranks; None for fewer than two values or a constant."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(stats.spearmanr(x, y).statistic)


def kendall_tau_a(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """(concordant - discordant) / all pairs: ties count 0, as in the paper; None for fewer than two values."""
    n = len(x)
    if n < 2:
        return None
    signs = np.sign(x[:, None] - x[None, :]) * np.sign(y[:, None] - y[None, :])
    return float(signs.sum() / (n * (n - 1)))


def kendall_tau_b(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Kendall's tau corrected for ties; None for fewer than two values or a constant."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(stats.kendalltau(x, y, variant="b").statistic)


def rank_agreement(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> RankAgreement:
    """Correlate two measures over the keys for which both are known; values equal to nine decimals are ties."""
    keys = [k for k, v in first.items() if v is not None and second.get(k) is not None]
    x, y = _rounded(first, keys), _rounded(second, keys)
    reason = None
    if len(keys) < 2:
        reason = f"{len(keys)} system{'' if len(keys) == 1 else 's'} with both figures: too few to rank"
    elif np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = "all systems are equal in one of the two"
    return RankAgreement(len(keys), spearman(x, y), kendall_tau_a(x, y), kendall_tau_b(x, y), reason)


def _rounded(measure: Mapping[str, float | None], keys: list[str]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.array([measure[k] for k in keys], dtype=np.float64)
    return values.round(DECIMALS)
