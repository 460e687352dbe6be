"""Clips with known content, drawn by ffmpeg's own sources: small, a fraction of a second each to make."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

from vvb_resources.media.tools import run_ffmpeg

# A picture in which every frame differs from the one before.
MOVING = "testsrc2=size={size}:rate={rate}:duration={seconds}"
BLACK = "color=black:size={size}:rate={rate}:duration={seconds}"
TONE = "sine=frequency=440:sample_rate=48000:duration={seconds},volume=6dB"  # ffmpeg's sine peaks at 1/8: -18 + 6 dB
SILENCE = "anullsrc=sample_rate=48000:channel_layout=stereo:duration={seconds}"
H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-threads", "1")


def make_clip(
    path: Path,
    *,
    picture: str | None = MOVING,
    sound: str | None = TONE,
    size: str = "64x48",
    rate: str = "30",
    seconds: str = "1",
    codec: Sequence[str] = H264,
    audio_codec: Sequence[str] = ("-c:a", "aac"),
    extra: Sequence[str] = (),
) -> Path:
    """Make an MP4 at `path`; `picture` and `sound` are lavfi sources (None: no such stream)."""
    args: list[str] = ["-v", "error"]
    for source in (picture, sound):
        if source is not None:
            args += ["-f", "lavfi", "-i", source.format(size=size, rate=rate, seconds=seconds)]
    args += [*(codec if picture else ()), *(audio_codec if sound else ()), *extra, "-f", "mp4", f"file:{path}"]
    _, ended = run_ffmpeg(args, work=path.parent)
    assert ended.code == 0, ended.log
    return path


def remux(source: Path, path: Path, *args: str, before: Sequence[str] = ()) -> Path:
    """Copy the streams of `source` into a new file; `args` may name further inputs first."""
    _, ended = run_ffmpeg(
        ["-v", "error", *before, "-i", f"file:{source}", *args, "-c", "copy", f"file:{path}"], work=path.parent
    )
    assert ended.code == 0, ended.log
    return path


def set_matrix(source: Path, path: Path, matrix: tuple[int, int, int, int]) -> Path:
    """Copy `source` with the four corner numbers (a, b, c, d) of the first track header's matrix replaced."""
    data = bytearray(source.read_bytes())
    at = data.index(b"tkhd") + 4 + 40
    for place, value in zip((0, 4, 12, 16), matrix, strict=True):
        data[at + place : at + place + 4] = struct.pack(">i", value << 16)
    path.write_bytes(data)
    return path


def delivery(folder: Path, video: Path) -> Path:
    """A whole delivery folder around a video."""
    (folder / "project").mkdir(parents=True)
    (folder / "project" / "main.py").write_text("print('scene')\n")
    (folder / "video.mp4").write_bytes(video.read_bytes())
    (folder / "notes.md").write_text("# Notes\n")
    (folder / "timing.json").write_text(json.dumps([]))
    return folder
