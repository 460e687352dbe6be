"""Frame rate from the time stamps of decoded frames, in exact fractions.

A header's average says nothing of constancy, and floats say 30.01 - 30 > 0.01. Here a rate is constant when every frame
lies where the rate puts it, give or take one tick of the time base (files in milliseconds cannot say 1/30).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

# Rates tried first when the time base is too coarse to give one exactly.
USUAL = tuple(Fraction(rate) for rate in (24, 25, 30, 50, 60, 12, 15, 20, 48, 100, 120)) + tuple(
    Fraction(rate, 1001) for rate in (24_000, 30_000, 60_000)
)
FINE = 8  # a time base of at least so many ticks a frame may round; a coarser one shows the jitter it has


@dataclass(frozen=True)
class Timing:
    """Frames shown, are they evenly spaced (None: fewer than two), frames a second, first and last instant."""

    frames: int
    constant: bool | None
    fps: Fraction | None
    start: Fraction
    end: Fraction


def read_timing(stamps: Sequence[Fraction], time_base: Fraction, declared: Fraction | None) -> Timing:
    """Timing of frames shown at `stamps` (seconds, in output order), which are multiples of `time_base`.

    `declared` is the header's rate: it decides between rates the time base cannot tell apart, and gives the length of a
    lone frame. Raises ValueError without any frame.
    """
    if not stamps:
        raise ValueError("no frames")
    first, last = min(stamps), max(stamps)
    if len(stamps) == 1:
        length = 1 / declared if declared else Fraction(0)
        return Timing(1, None, None, first, first + length)
    deltas = [later - earlier for earlier, later in pairwise(stamps)]
    mean = (last - first) / (len(stamps) - 1)
    if min(deltas) > 0:
        if min(deltas) == max(deltas):
            return Timing(len(stamps), True, 1 / mean, first, last + mean)
        rate = _rounded_rate(stamps, time_base, declared)
        if rate is not None:
            return Timing(len(stamps), True, rate, first, last + 1 / rate)
    return Timing(len(stamps), False, 1 / mean if mean else None, first, last + mean)


def _rounded_rate(stamps: Sequence[Fraction], tick: Fraction, declared: Fraction | None) -> Fraction | None:
    """The rate whose instants, rounded to ticks, are `stamps`; None when there is none."""
    low, high = Fraction(0), stamps[1] - stamps[0] + tick
    for place, stamp in enumerate(stamps[1:], 1):
        low = max(low, (stamp - stamps[0] - tick) / place)
        high = min(high, (stamp - stamps[0] + tick) / place)
        if low > high:
            return None
    if high < FINE * tick or high <= 0:
        return None
    for rate in ((declared,) if declared else ()) + USUAL:
        if low <= 1 / rate <= high:
            return rate
    return 2 / (low + high)
