"""Curves of motion. All take and give plain numbers; times are seconds."""

from __future__ import annotations


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """`value` held between `low` and `high`."""
    return low if value < low else high if value > high else value


def span(t: float, start: float, end: float) -> float:
    """How far `t` has come from `start` to `end`, 0 to 1 and held at both ends."""
    return clamp((t - start) / (end - start))


def mix(a: float, b: float, share: float) -> float:
    """The point `share` of the way from `a` to `b`."""
    return a + (b - a) * share


def smooth(share: float) -> float:
    """Slow at both ends (cubic)."""
    return share * share * (3 - 2 * share)


def out(share: float) -> float:
    """Fast first, then settling (cubic)."""
    return 1 - (1 - share) ** 3


def into(share: float) -> float:
    """Slow first, then fast (a fall under gravity)."""
    return share * share


def overshoot(share: float, amount: float = 1.4) -> float:
    """Settles after passing its goal by a little, as a stamp that is pressed down."""
    rest = share - 1
    return 1 + (amount + 1) * rest**3 + amount * rest**2
