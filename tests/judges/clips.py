"""Synthetic clips with a known schedule, drawn with PIL and numpy and encoded as H.264 and AAC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.io import wavfile

from vvb_resources.media.blinding import BlindedMedia, blind
from vvb_resources.media.tools import run_ffmpeg

WIDTH, HEIGHT, FPS, RATE = 480, 272, 10, 44_100

Draw = Callable[[ImageDraw.ImageDraw, float], None]


def encode(folder: Path, seconds: float, draw: Draw | None, sound: NDArray[np.float32] | None) -> Path:
    """An MP4 of `seconds` at 10 frames a second; `draw(canvas, t)` paints each frame on black."""
    raw, out = folder / "frames.rgb", folder / "clip.mp4"
    with raw.open("wb") as handle:
        for frame in _frames(seconds, draw):
            handle.write(frame)
    args = ["-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(FPS)]
    args += ["-i", f"file:{raw}"]
    if sound is not None:
        wavfile.write(folder / "sound.wav", RATE, sound.astype(np.float32))
        args += ["-i", f"file:{folder / 'sound.wav'}", "-c:a", "aac", "-b:a", "128k"]
    args += ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", f"file:{out}"]
    _, ended = run_ffmpeg(args, work=folder)
    assert ended.code == 0, ended.log
    raw.unlink()
    return out


def blinded(folder: Path, seconds: float, draw: Draw | None, sound: NDArray[np.float32] | None) -> BlindedMedia:
    """`encode`, then blinded, as the judges are given it."""
    video = encode(folder, seconds, draw, sound)
    out = folder / "blinded"
    out.mkdir()
    return blind(video, out)


def _frames(seconds: float, draw: Draw | None) -> Iterator[bytes]:
    for index in range(round(seconds * FPS)):
        image = Image.new("RGB", (WIDTH, HEIGHT), (0, 0, 0))
        if draw is not None:
            draw(ImageDraw.Draw(image), index / FPS)
        yield image.tobytes()


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own scalable font."""
    return ImageFont.load_default(size)


def schedule(canvas: ImageDraw.ImageDraw, t: float) -> None:
    """What the clip of the tests shows.

    0-8 s dark blue, from 6 s light grey (one scene change). 2-5 s the words EMBER LAUNCH and 3-5 s the line SCORE 12.
    From 4 s a red patch (#E03030) in the left tenth. 5-8 s a white square moves along the bottom.
    """
    canvas.rectangle((0, 0, WIDTH, HEIGHT), fill=(16, 24, 64) if t < 6 else (190, 190, 190))
    if 2 <= t < 5:
        canvas.text((100, 60), "EMBER LAUNCH", font=font(36), fill="white")
    if 3 <= t < 5:
        canvas.text((100, 140), "SCORE 12", font=font(30), fill="yellow")
    if t >= 4:
        canvas.rectangle((0, 0, WIDTH // 10, HEIGHT), fill=(0xE0, 0x30, 0x30))
    if t >= 5:
        x = 60 + int((t - 5) * 120)
        canvas.rectangle((x, 220, x + 24, 244), fill="white" if t < 6 else "black")


def schedule_sound(seconds: float = 8.0) -> NDArray[np.float32]:
    """Clicks at 1, 2.5 and 4 s, a tone of 440 Hz at amplitude 0.25 from 5 to 7 s, silence elsewhere."""
    sound = np.zeros(round(seconds * RATE), np.float32)
    count = int(0.04 * RATE)
    click = 0.6 * np.sin(2 * np.pi * 1200 * np.arange(count) / RATE) * np.exp(-np.arange(count) / (count / 5))
    for at in (1.0, 2.5, 4.0):
        start = int(at * RATE)
        sound[start : start + count] += click.astype(np.float32)
    tone = np.arange(5 * RATE, 7 * RATE)
    sound[tone] += (0.25 * np.sin(2 * np.pi * 440 * tone / RATE)).astype(np.float32)
    return sound
