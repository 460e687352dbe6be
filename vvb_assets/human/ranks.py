"""How two measures rank the same systems, with a reason where there is nothing to rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vvb_assets.scores.ranks import RANK_DECIMALS, Vector, kendall, spearman


@dataclass(frozen=True)
class RankAgreement:
    """How two measures order the same systems: `n` of them; a coefficient is None with `reason` where undefined."""

    n: int
    spearman: float | None
    kendall_tau_a: float | None
    kendall_tau_b: float | None
    reason: str | None


def rank_agreement(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> RankAgreement:
    """Correlate two measures over the keys for which both are known; values equal to nine decimals are ties."""
    keys = [k for k, v in first.items() if v is not None and second.get(k) is not None]
    x, y = _rounded(first, keys), _rounded(second, keys)
    reason = None
    if len(keys) < 2:
        reason = f"{len(keys)} system{'' if len(keys) == 1 else 's'} with both figures: too few to rank"
    elif np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = "all systems are equal in one of the two"
    tau = kendall(x, y)
    return RankAgreement(len(keys), spearman(x, y), tau.tau_a, tau.tau_b, reason)


def _rounded(measure: Mapping[str, float | None], keys: list[str]) -> Vector:
    values: Vector = np.array([measure[k] for k in keys], dtype=np.float64)
    return values.round(RANK_DECIMALS)
