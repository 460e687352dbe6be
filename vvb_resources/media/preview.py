"""Small pictures of a video for the UI: a contact sheet and a waveform, few enough bytes to sit in an event."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vvb_resources.media.frames import read_frames

COLUMNS, ROWS = 4, 3
CELL = 200  # pixels: longest side of a picture of the sheet
SHEET_BYTES = 60_000
WAVE_SIZE = (800, 120)
SPREAD = 24 / 23  # the last of twelve pictures lies in the middle of the last twelfth
GROUND, INK, LABEL = (24, 26, 32), (96, 170, 255), (235, 235, 235)


def leave_previews(
    folder: Path,
    video: Path | None,
    duration_s: float,
    pictures: Sequence[tuple[float, NDArray[np.uint8]]],
    pcm: NDArray[np.int16],
) -> None:
    """Write `contact.jpg` and, with sound, `waveform.png` into `folder`.

    `pictures` of the decode (second, RGB of height x width x 3) cover the video if its header told its length truly.
    Otherwise they are read from `video`, once more; None forbids it, since a damaged file is decoded in no process of
    ours. `pcm`: shape (n, channels).
    """
    whole = len(pictures) >= COLUMNS * ROWS and abs(pictures[-1][0] * SPREAD - duration_s) <= duration_s / 4
    if video is not None and not whole:
        times = [duration_s * (place + 0.5) / (COLUMNS * ROWS) for place in range(COLUMNS * ROWS)]
        pictures = list(read_frames(video, times, CELL))
    if pictures:
        (folder / "contact.jpg").write_bytes(contact_sheet(pictures))
    if len(pcm):
        (folder / "waveform.png").write_bytes(waveform(pcm))


def contact_sheet(pictures: Sequence[tuple[float, NDArray[np.uint8]]]) -> bytes:
    """The first twelve `pictures`, all of one size, each with its second, as one JPEG of at most 60 kB."""
    height, width = pictures[0][1].shape[:2]
    sheet = Image.new("RGB", (COLUMNS * width, ROWS * height), GROUND)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=12)
    for place, (time, picture) in enumerate(pictures[: COLUMNS * ROWS]):
        corner = (place % COLUMNS * width, place // COLUMNS * height)
        sheet.paste(Image.fromarray(picture), corner)
        at = (corner[0] + 4, corner[1] + 3)
        draw.rectangle(draw.textbbox(at, f"{time:.1f} s", font=font), fill=GROUND)
        draw.text(at, f"{time:.1f} s", fill=LABEL, font=font)
    return _jpeg(sheet)


def waveform(pcm: NDArray[np.int16]) -> bytes:
    """Peak level over time in any channel of `pcm` (shape (n, channels)), linear, as a PNG of 800x120."""
    width, height = WAVE_SIZE
    picture = Image.new("RGB", WAVE_SIZE, GROUND)
    draw = ImageDraw.Draw(picture)
    for column, peak in enumerate(_column_peaks(pcm, width)):
        reach = round(min(1.0, float(peak)) * (height // 2 - 2))
        draw.line([(column, height // 2 - reach), (column, height // 2 + reach)], fill=INK)
    data = io.BytesIO()
    picture.save(data, "PNG", optimize=True)
    return data.getvalue()


def _column_peaks(pcm: NDArray[np.int16], columns: int) -> NDArray[np.float32]:
    """Peak (full scale 1) of each of `columns` equal stretches of (n, channels) samples."""
    edges = np.linspace(0, len(pcm), columns + 1).astype(int)
    peaks = [
        max(int(part.max(initial=0)), -int(part.min(initial=0))) / 32768
        for part in (pcm[a : max(b, a + 1)] for a, b in pairwise(edges))
    ]
    return np.array(peaks, dtype=np.float32)


def _jpeg(picture: Image.Image) -> bytes:
    """The best JPEG that keeps the limit; at last a smaller one."""
    while True:
        for quality in (85, 70, 55, 40):
            data = io.BytesIO()
            picture.save(data, "JPEG", quality=quality, optimize=True)
            if data.tell() <= SHEET_BYTES:
                return data.getvalue()
        picture = picture.resize((max(1, picture.width * 2 // 3), max(1, picture.height * 2 // 3)))
