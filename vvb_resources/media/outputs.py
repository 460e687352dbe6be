"""What one decode of L1 may leave besides facts: pictures for a contact sheet, JPEGs for judges, a low-rate proxy.

They are further outputs of the decode that measures, so that no judge's need costs a second decode. Pictures are as a
viewer sees them (display aspect, turned upright) and carry no trace of the encoder or of the delivery's metadata.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vvb_resources.media.frames import fitted, sample_step
from vvb_resources.media.probe import VideoProbe

SHEET = 12  # pictures of a contact sheet
SHEET_SIDE = 200
FRAMES = "frames"
PROXY = "proxy.mp4"
FINEST = 100_000  # denominators of rates: ffmpeg keeps 32 bits


@dataclass(frozen=True)
class Outputs:
    """Wishes for the decode; files go into the existing `folder`.

    `sheet`: small pictures for a contact sheet. `frames_fps` (None: no JPEGs) with `min_frames` and `max_frames` as
    `sample_times` takes them: `frames/00000.jpg` is the picture at second 0, the next one a step later. `proxy_fps`
    (None: no proxy): `proxy.mp4`, H.264 and AAC at that rate.
    """

    folder: Path
    sheet: bool = False
    frames_fps: float | None = None
    min_frames: int = 1
    max_frames: int = 600
    frames_side: int = 1280
    proxy_fps: float | None = None
    proxy_side: int = 640

    def plan(self, video: VideoProbe, duration_s: float | None) -> OutputPlan:
        """What to ask of ffmpeg for `video`, which lasts `duration_s` by its header (None: the header does not say,
        and no contact sheet can be spread over it)."""
        sheet = None
        if self.sheet and duration_s:
            sheet = Grid((2 * SHEET / Fraction(str(duration_s))).limit_denominator(FINEST), 2 * SHEET)
        frames = None
        if self.frames_fps is not None:
            step = sample_step(duration_s or 0.001, self.frames_fps, self.min_frames, self.max_frames)
            frames = Grid((1 / step).limit_denominator(FINEST), self.max_frames)
        return OutputPlan(
            sheet=sheet,
            sheet_size=_turned(fitted(video, SHEET_SIDE), video.rotation),
            frames=frames,
            frames_size=_turned(fitted(video, self.frames_side), video.rotation),
            proxy=self._proxy(duration_s),
            proxy_size=_even(_turned(fitted(video, self.proxy_side), video.rotation)),
            rotation=video.rotation,
            folder=self.folder,
        )

    def _proxy(self, duration_s: float | None) -> Grid | None:
        """As long as the header says, or an hour: a clock that jumps must not be filled with days of one picture."""
        if self.proxy_fps is None:
            return None
        rate = Fraction(str(self.proxy_fps))
        return Grid(rate, math.ceil(Fraction(str(duration_s or 3600)) * rate) + 1)


@dataclass(frozen=True)
class Grid:
    """Instants k/rate from 0 on, at most `most` of them."""

    rate: Fraction
    most: int


@dataclass(frozen=True)
class OutputPlan:
    """`Outputs` with rates and sizes (width, height as displayed) fixed for one video."""

    sheet: Grid | None
    sheet_size: tuple[int, int]
    frames: Grid | None
    frames_size: tuple[int, int]
    proxy: Grid | None
    proxy_size: tuple[int, int]
    rotation: int
    folder: Path

    def read_sheet(self, path: Path) -> list[tuple[float, NDArray[np.uint8]]]:
        """The pictures of the contact sheet with their seconds, from the raw RGB file of the decode: the odd instants
        of a grid of 24, which are the middles of twelve equal parts. Fewer when the video is shorter than it says."""
        width, height = self.sheet_size
        size = width * height * 3
        if self.sheet is None or not path.exists():
            return []
        data = np.fromfile(path, dtype=np.uint8)
        pictures = data[: len(data) // size * size].reshape(-1, height, width, 3)
        odd = range(1, len(pictures), 2)
        return [(float(place / self.sheet.rate), pictures[place]) for place in odd]

    def frame_files(self) -> list[tuple[float, Path]]:
        """Second and file of each JPEG that the decode wrote."""
        if self.frames is None:
            return []
        files = sorted((self.folder / FRAMES).glob("*.jpg"))
        return [(float(int(file.stem) / self.frames.rate), file) for file in files]


def _turned(size: tuple[int, int], rotation: int) -> tuple[int, int]:
    return (size[1], size[0]) if rotation in (90, -90) else size


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """4:2:0 has a colour sample for two by two pixels."""
    return max(2, size[0] // 2 * 2), max(2, size[1] // 2 * 2)
