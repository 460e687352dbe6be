"""Small pictures of a video for the UI: a contact sheet and a waveform, few enough bytes to sit in an event."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vvb_resources.media.frames import read_frames
from vvb_resources.media.sound import read_sound

COLUMNS, ROWS = 4, 3
CELL = 200  # pixels: longest side of a picture of the sheet
SHEET_BYTES = 60_000
WAVE_SIZE = (800, 120)
WAVE_RATE = 8_000
GROUND, INK, LABEL = (24, 26, 32), (96, 170, 255), (235, 235, 235)


def contact_sheet(video: Path, duration_s: float) -> bytes:
    """Twelve pictures spread evenly over `duration_s`, each with its second, as one JPEG of at most 60 kB.

    Raises MediaError when there is no picture to decode.
    """
    count = COLUMNS * ROWS
    times = [duration_s * (place + 0.5) / count for place in range(count)]
    shown = list(read_frames(video, times, CELL))
    height, width = shown[0][1].shape[:2]
    sheet = Image.new("RGB", (COLUMNS * width, ROWS * height), GROUND)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=12)
    for place, (time, picture) in enumerate(shown):
        corner = (place % COLUMNS * width, place // COLUMNS * height)
        sheet.paste(Image.fromarray(picture), corner)
        at = (corner[0] + 4, corner[1] + 3)
        draw.rectangle(draw.textbbox(at, f"{time:.1f} s", font=font), fill=GROUND)
        draw.text(at, f"{time:.1f} s", fill=LABEL, font=font)
    return _jpeg(sheet)


def waveform(video: Path) -> bytes:
    """Peak level over time in any channel, linear, as a PNG of 800x120; a flat line when there is no sound."""
    pcm = read_sound(video, WAVE_RATE, mono=False)
    width, height = WAVE_SIZE
    picture = Image.new("RGB", WAVE_SIZE, GROUND)
    draw = ImageDraw.Draw(picture)
    for column, peak in enumerate(_column_peaks(pcm, width)):
        reach = round(min(1.0, float(peak)) * (height // 2 - 2))
        draw.line([(column, height // 2 - reach), (column, height // 2 + reach)], fill=INK)
    data = io.BytesIO()
    picture.save(data, "PNG", optimize=True)
    return data.getvalue()


def _column_peaks(pcm: NDArray[np.float32], columns: int) -> NDArray[np.float32]:
    """Peak of each of `columns` equal stretches of (channels, n) samples."""
    if pcm.size == 0:
        return np.zeros(columns, dtype=np.float32)
    loudest = np.abs(pcm).max(axis=0)
    edges = np.linspace(0, len(loudest), columns + 1).astype(int)
    peaks = [loudest[a : max(b, a + 1)].max(initial=0.0) for a, b in pairwise(edges)]
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
