"""One pass over a video's sampled frames: the text in each, a small picture, and how sharp and busy it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vvb_resources.judges.instruments.ocr import DETECT_SIDE, OCR_VERSION, TextLine, TextReader
from vvb_resources.media.frames import read_frames

FRAMES_VERSION = f"1.{OCR_VERSION}"
THUMB_SIDE = 240
READ_SIDE = 960
"""Text is read on frames of at most this side; larger ones cost time and read no better."""


@dataclass(frozen=True)
class FrameFacts:
    """What was observed at instant `t` (seconds).

    `thumb`: RGB, at most 240 pixels a side, area-averaged. `sharpness`: 99th percentile of the luminance step between
    neighbouring pixels of the read frame, 0-255. `edges`: share of its pixels where that step is over 24.
    """

    t: float
    lines: tuple[TextLine, ...]
    thumb: NDArray[np.uint8]
    sharpness: float
    edges: float


def frame_parameters(max_side: int) -> dict[str, int]:
    """The parameters an observation depends on, besides the version."""
    return {"read_side": min(max_side, READ_SIDE), "detect_side": DETECT_SIDE, "thumb_side": THUMB_SIDE}


def pass_frames(video: Path, times: tuple[float, ...], max_side: int) -> Iterator[FrameFacts]:
    """Observe the frames of `video` at `times` (seconds, ascending), one decode for all."""
    reader = TextReader()
    wanted = iter(times)
    for _, frame in read_frames(video, times, min(max_side, READ_SIDE)):
        luminance = frame.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
        steps = np.maximum(np.abs(np.diff(luminance, axis=1))[:-1, :], np.abs(np.diff(luminance, axis=0))[:, :-1])
        yield FrameFacts(
            t=next(wanted),
            lines=reader.read(frame),
            thumb=thumbnail(frame),
            sharpness=round(float(np.percentile(steps, 99)), 1),
            edges=round(float((steps > 24).mean()), 5),
        )


def thumbnail(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """`frame` (height x width x 3) reduced by whole-number area averaging to at most 240 pixels a side."""
    height, width = frame.shape[:2]
    factor = max(1, -(-max(height, width) // THUMB_SIDE))
    rows, columns = max(1, height // factor), max(1, width // factor)
    cut = frame[: rows * factor, : columns * factor]
    if cut.shape[:2] != (rows * factor, columns * factor):  # a sliver thinner than the factor
        return frame
    small: NDArray[np.uint8] = cut.reshape(rows, factor, columns, factor, 3).mean(axis=(1, 3)).round().astype(np.uint8)
    return small
