"""Wilson's score interval of a share."""

from __future__ import annotations

from math import sqrt

Z_95 = 1.959963984540054  # standard normal quantile of 0.975


def wilson_interval(wins: float, games: float, z: float = Z_95) -> tuple[float, float] | None:
    """Lower and upper bound of wins / games, both in 0-1; None without games.

    `wins` may be fractional (a tie counted as half a win). Source: E. B. Wilson, JASA 22 (1927) 209-212.
    """
    if games <= 0:
        return None
    rate, z2 = wins / games, z * z
    middle = rate + z2 / (2 * games)
    half = z * sqrt(rate * (1 - rate) / games + z2 / (4 * games * games))
    scale = 1 + z2 / games
    return float(max(0.0, (middle - half) / scale)), float(min(1.0, (middle + half) / scale))
