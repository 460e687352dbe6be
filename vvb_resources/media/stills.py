"""Black and frozen stretches, light and motion, from a stream of small grey frames. Memory does not grow with length.

Black is a picture without content: darkest and lightest pixel at most 12 apart, mean at most 24 of 255, so that text on
a dark ground is not black. Frozen is a stretch in which no pixel leaves the stretch's first frame by more than 3: a
moving pointer is motion, and a slow fade is too.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vvb_resources.media.facts import PictureFacts, Span

WIDTH, HEIGHT = 160, 90
BLACK_RANGE = 12
BLACK_MEAN = 24
STILL_LEVELS = 3
CHANGED_LEVELS = 12
SCENE_SHARE = 0.35
SHORTEST_S = 0.5


class PictureMeter:
    """Takes frames one by one (`add`), then tells their stretches in time (`facts`)."""

    def __init__(self) -> None:
        self.frames = 0
        self._black: list[tuple[int, int]] = []  # first frame, first frame after it
        self._black_from: int | None = None
        self._still: list[tuple[int, int]] = []
        self._anchor: NDArray[np.int16] | None = None
        self._anchor_at = 0
        self._previous: NDArray[np.int16] | None = None
        self._luma = self._contrast = self._changed = 0.0
        self._scenes = 0

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Take the next frame: grey values, shape (90, 160)."""
        place = self.frames
        grey = frame.astype(np.int16)
        mean = float(grey.mean())
        self._luma += mean
        self._contrast += float(grey.std())
        black = mean <= BLACK_MEAN and int(grey.max()) - int(grey.min()) <= BLACK_RANGE
        if black and self._black_from is None:
            self._black_from = place
        elif not black and self._black_from is not None:
            self._black.append((self._black_from, place))
            self._black_from = None
        if self._previous is not None:
            share = float((np.abs(grey - self._previous) > CHANGED_LEVELS).mean())
            self._changed += share
            self._scenes += share >= SCENE_SHARE
        if self._anchor is None:
            self._anchor = grey
        elif int(np.abs(grey - self._anchor).max()) > STILL_LEVELS:
            self._end_still(place)
            self._anchor, self._anchor_at = grey, place
        self._previous = grey
        self.frames += 1

    def facts(self, stamps: Sequence[Fraction], end: Fraction) -> PictureFacts:
        """Facts of the frames taken so far, shown at `stamps` (seconds), over at `end`. Raises ValueError if none."""
        if self.frames == 0:
            raise ValueError("no frames")
        black = [*self._black, *([(self._black_from, self.frames)] if self._black_from is not None else [])]
        still = [*self._still, (self._anchor_at, self.frames)]
        black_spans, longest_black = _spans(black, stamps, end)
        still_spans, longest_still = _spans(still, stamps, end)
        pairs = max(1, self.frames - 1)
        return PictureFacts(
            black=black_spans,
            longest_black_s=longest_black,
            frozen=still_spans,
            longest_frozen_s=longest_still,
            luma_mean=round(self._luma / self.frames, 3),
            luma_contrast=round(self._contrast / self.frames, 3),
            motion_share=round(self._changed / pairs, 6),
            scene_changes=self._scenes,
        )

    def _end_still(self, place: int) -> None:
        if place - self._anchor_at > 1:
            self._still.append((self._anchor_at, place))


def _spans(runs: list[tuple[int, int]], stamps: Sequence[Fraction], end: Fraction) -> tuple[tuple[Span, ...], float]:
    """Runs of frames as spans of at least half a second, and the length of the longest run."""
    lengths = [(stamps[first], stamps[after] if after < len(stamps) else end) for first, after in runs]
    longest = max((stop - start for start, stop in lengths), default=Fraction(0))
    spans = tuple(
        Span(start=round(float(start), 6), end=round(float(stop), 6))
        for start, stop in lengths
        if stop - start >= SHORTEST_S
    )
    return spans, round(float(max(longest, Fraction(0))), 6)
