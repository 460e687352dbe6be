"""Curves of motion. All take and give plain numbers; times are seconds."""

from __future__ import annotations

import math


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


def decay(age: float, life: float) -> float:
    """1 at age 0, falling to about 0.05 after `life` seconds; 0 before age 0."""
    return 0.0 if age < 0 else math.exp(-3.0 * age / life)


def window(t: float, start: float, end: float, fade: float = 0.3) -> float:
    """Opacity of something shown from `start` to `end`: fades in after `start` and out before `end`."""
    if t < start or t >= end:
        return 0.0
    return min(smooth(span(t, start, start + fade)), smooth(span(t, end, end - fade)))
