"""What a probe finds, and the arithmetic of windows and sampled instants that all probes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vvb_resources.judges.types import Channel

Decision = Literal["pass", "fail", "unknown"]

EPSILON = 1e-6
"""Seconds: sampled instants are k/fps in floating point, windows are decimals; equal ones must compare equal."""


@dataclass(frozen=True)
class Finding:
    """A measured answer: the decision, the seconds it rests on, the channel, and the measured value in words."""

    status: Decision
    start_s: float | None
    end_s: float | None
    channel: Channel
    reason: str


@dataclass(frozen=True)
class Span:
    """The window of a probe inside a video. `past_end`: the video ends before the window opens. Seconds."""

    start: float
    end: float
    past_end: bool

    @property
    def words(self) -> str:
        """For a reason: "2-5.5 s"."""
        return f"{self.start:.4g}-{self.end:.4g} s"

    def holds(self, t: float) -> bool:
        """Does instant `t` fall in the window, edges included."""
        return self.start - EPSILON <= t <= self.end + EPSILON


def span_of(window: tuple[float, float] | None, duration_s: float) -> Span:
    """The probe's window cut to the video, or the whole video."""
    if window is None:
        return Span(0.0, duration_s, False)
    start, end = window
    if start >= duration_s - EPSILON:
        return Span(start, end, True)
    return Span(start, min(end, duration_s), False)


def past_end(span: Span, duration_s: float, channel: Channel, *, needed: bool) -> Finding:
    """The video is over before the window opens: what had to happen there did not, what had to be absent is unknown.

    A confirmed omission is a fail and must not hide as unknown; but "nothing there" proves no silence or stillness that
    the task asked to be shown.
    """
    return Finding(
        "fail" if needed else "unknown",
        None,
        None,
        channel,
        f"the video ends at {duration_s:.4g} s, before the window {span.words}",
    )


def unsampled(span: Span, channel: Channel, what: str) -> Finding:
    """Nothing was sampled where the probe looks."""
    return Finding(
        "unknown", span.start, span.end, channel, f"{what} in {span.words}: an unsampled instant is not asserted"
    )


def runs_of(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Index ranges (first, last) of the unbroken stretches of True."""
    runs: list[tuple[int, int]] = []
    for index, flag in enumerate(flags):
        if not flag:
            continue
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs
