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
    """Takes frames in batches (`add`), then tells their stretches in time (`facts`)."""

    def __init__(self) -> None:
        self.frames = 0
        self._black: list[tuple[int, int]] = []  # first frame, first frame after it
        self._black_from: int | None = None
        self._still: list[tuple[int, int]] = []
        self._anchor: NDArray[np.uint8] | None = None
        self._anchor_at = 0
        self._previous: NDArray[np.uint8] | None = None
        self._luma = self._contrast = self._changed = 0.0
        self._scenes = 0

    def add(self, frames: NDArray[np.uint8]) -> None:
        """Take the next frames: grey values, shape (n, 90, 160) or of one frame (90, 160)."""
        batch = frames.reshape(-1, HEIGHT * WIDTH)
        if not len(batch):
            return
        means = batch.mean(axis=1, dtype=np.float64)
        # Whole numbers: sums of squares of a batch's grey values are exact in 64 bits.
        squares = np.einsum("ij,ij->i", batch, batch, dtype=np.int64, casting="safe") / batch.shape[1]
        self._luma += float(means.sum())
        self._contrast += float(np.sqrt(np.maximum(squares - means**2, 0.0)).sum())
        ranges = batch.max(axis=1).astype(int) - batch.min(axis=1)
        black = (means <= BLACK_MEAN) & (ranges <= BLACK_RANGE)
        before = batch[:1] if self._previous is None else self._previous[np.newaxis]
        steps = _distance(batch, np.concatenate([before, batch[:-1]]))
        shares = (steps > CHANGED_LEVELS).mean(axis=1)
        self._changed += float(shares.sum())
        self._scenes += int((shares >= SCENE_SHARE).sum())
        largest = steps.max(axis=1)
        for place, frame in enumerate(batch, self.frames):
            at = place - self.frames
            self._note_black(place, bool(black[at]))
            self._note_still(place, frame, int(largest[at]))
        self._previous = batch[-1]
        self.frames += len(batch)

    def _note_black(self, place: int, black: bool) -> None:
        if black and self._black_from is None:
            self._black_from = place
        elif not black and self._black_from is not None:
            self._black.append((self._black_from, place))
            self._black_from = None

    def _note_still(self, place: int, frame: NDArray[np.uint8], step: int) -> None:
        """`step`: largest change from the frame before, which often is the stretch's first frame already."""
        if self._anchor is None:
            self._anchor = frame
            return
        if self._anchor_at != place - 1:
            step = int(_distance(frame, self._anchor).max())
        if step > STILL_LEVELS:
            self._end_still(place)
            self._anchor, self._anchor_at = frame, place

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


def _distance(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Absolute difference, without leaving 8 bits."""
    return np.maximum(one, other) - np.minimum(one, other)


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
