"""Progress and easing. Times in seconds; every function maps to numbers near 0 to 1."""

from __future__ import annotations

import math


def clamp(x: float, low: float = 0.0, high: float = 1.0) -> float:
    """`x` held within [low, high]."""
    return min(max(x, low), high)


def progress(t: float, start: float, end: float) -> float:
    """Share of [start, end] that has passed at `t`, 0 to 1."""
    return float(t >= start) if end <= start else clamp((t - start) / (end - start))


def ease_out(p: float) -> float:
    """Fast start, soft landing (cubic)."""
    return 1.0 - (1.0 - clamp(p)) ** 3


def ease_in(p: float) -> float:
    """Slow start, as something that falls (quadratic)."""
    return clamp(p) ** 2


def ease_in_out(p: float) -> float:
    """Slow start and end (cubic smoothstep of second order)."""
    p = clamp(p)
    return p * p * p * (p * (6.0 * p - 15.0) + 10.0)


def overshoot(p: float, amount: float = 1.4) -> float:
    """Lands a little beyond 1 and settles there."""
    p = clamp(p) - 1.0
    return p * p * ((amount + 1.0) * p + amount) + 1.0


def appear(t: float, start: float, end: float = math.inf, fade: float = 0.3) -> float:
    """Opacity of something shown from `start` to `end`: fades in after `start`, fades out just before `end`."""
    return min(
        ease_out(progress(t, start, start + fade)),
        1.0 - ease_in(progress(t, end - fade, end)) if end < math.inf else 1.0,
    )


def mix(a: float, b: float, p: float) -> float:
    """`a` at p = 0, `b` at p = 1."""
    return a + (b - a) * p
