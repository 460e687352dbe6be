"""Decoded sound as float PCM on the presentation clock."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vvb_resources.errors import MediaError
from vvb_resources.media.probe import probe
from vvb_resources.media.tools import input_args, run_ffmpeg

FLOOR_DBFS = -120.0  # stands for digital silence where a number is needed
CANCELLED = 0.3  # a mono mix below this share of its loudest channel's RMS (10 dB down) has lost it


def read_sound(video: Path, rate: int = 16_000, mono: bool = True) -> NDArray[np.float32]:
    """Sound of the first audio stream at `rate` samples a second: float32, shape (channels, n), full scale 1.0.

    Sample 0 is second 0 of the presentation: a late start is filled with silence. With `mono` the shape is (1, n): the
    mean of the channels, or the loudest channel where the mean loses it (antiphase, centre of 5.1). No audio stream:
    shape (0, 0). Levels near a limit are to be judged per channel (`mono=False`), at the stream's own rate. Raises
    MediaError when the sound cannot be decoded.
    """
    streams = probe(video).audio
    if not streams:
        return np.zeros((0, 0), dtype=np.float32)
    channels = max(1, streams[0].channels)
    graph = f"[0:a:0]aresample={rate}:async=1:first_pts=0,aformat=sample_fmts=flt:sample_rates={rate}[a]"
    with tempfile.TemporaryDirectory(prefix="vvb-sound-") as work:
        data, ended = run_ffmpeg(
            ["-v", "error", *input_args(video), "-filter_complex", graph, "-map", "[a]", "-f", "f32le", "pipe:1"],
            work=Path(work),
        )
    if ended.timed_out or (ended.code != 0 and not data):
        raise MediaError(f"the sound cannot be decoded ({ended.log.strip()[:200] or 'no message'})", where=video.name)
    pcm = np.frombuffer(data, dtype="<f4")
    pcm = np.nan_to_num(pcm[: len(pcm) // channels * channels].reshape(-1, channels).T, posinf=1.0, neginf=-1.0)
    return mix_down(pcm) if mono else np.ascontiguousarray(pcm)


def mix_down(pcm: NDArray[np.float32]) -> NDArray[np.float32]:
    """(channels, n) to (1, n): the mean, or the loudest channel where the mean is 10 dB below it."""
    if pcm.shape[0] <= 1 or pcm.shape[1] == 0:
        return np.ascontiguousarray(pcm)
    mixed = pcm.mean(axis=0, dtype=np.float32)
    levels = np.sqrt(np.mean(np.square(pcm, dtype=np.float32), axis=1))
    loudest = int(np.argmax(levels))
    if float(np.sqrt(np.mean(np.square(mixed)))) < CANCELLED * float(levels[loudest]):
        mixed = pcm[loudest]
    return np.ascontiguousarray(mixed[np.newaxis, :])


def peak_dbfs(pcm: NDArray[np.float32]) -> float:
    """Peak level of any channel in dBFS; `FLOOR_DBFS` for silence or no samples."""
    return _decibels(float(np.max(np.abs(pcm)))) if pcm.size else FLOOR_DBFS


def rms_dbfs(pcm: NDArray[np.float32]) -> float:
    """RMS level over all channels in dBFS (a full-scale square wave is 0); `FLOOR_DBFS` for silence or no samples."""
    return _decibels(float(np.sqrt(np.mean(np.square(pcm, dtype=np.float64))))) if pcm.size else FLOOR_DBFS


def _decibels(level: float) -> float:
    return max(FLOOR_DBFS, 20.0 * float(np.log10(level))) if level > 0 else FLOOR_DBFS
