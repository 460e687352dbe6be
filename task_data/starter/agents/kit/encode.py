"""Frames and sound into an MP4, and the MP4 read back: H.264 yuv420p, AAC 48 kHz stereo, index at the front."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kit.synth import RATE, write_wav

_VIDEO = re.compile(r"Stream #\S+.*Video:.*?(\d{2,5})x(\d{2,5}).*?([\d.]+) fps")
_PEAK = re.compile(r"max_volume: (-?[\d.]+|-inf) dB")


class EncodeError(RuntimeError):
    """`ffmpeg` failed; the message holds the end of what it printed."""


@dataclass(frozen=True)
class ReadBack:
    """What a decode of the finished file found. `peak_dbfs` is None without a sound track."""

    frames: int
    width: int
    height: int
    fps: float
    peak_dbfs: float | None


def encode(
    frames: Iterable[NDArray[np.uint8] | bytes | memoryview],
    path: Path,
    *,
    width: int,
    height: int,
    fps: float,
    sound: NDArray[np.float32] | None = None,
    pixels: str = "rgb24",
    preset: str = "veryfast",
    crf: int = 18,
    options: Sequence[str] = (),
    tmp: Path,
) -> int:
    """Write `path` from `frames` and return their number.

    `frames`: each (height, width, 3) uint8 in "rgb24" or (height, width, 4) in "rgba"/"bgra" (`pixels`), C order.
    `sound`: (samples, 2) float in [-1, 1] at `synth.RATE`, cut or padded with silence to the length of the picture;
    None writes no sound track. It is written before the picture starts, so the number of frames must be known then:
    pass a sound that is at least as long. `options` are further output options of ffmpeg. `tmp` takes the WAV and
    ffmpeg's log. Raises EncodeError.
    """
    log = tmp / f"{path.stem}.ffmpeg.log"
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", pixels]
    command += ["-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "pipe:0"]
    if sound is not None:
        wav = tmp / f"{path.stem}.wav"
        write_wav(wav, sound)
        command += [
            "-i",
            str(wav),
            "-map",
            "0:v",
            "-map",
            "1:a",
            "-c:a",
            "aac",
            "-b:a",
            "160k",
            "-ar",
            str(RATE),
            "-ac",
            "2",
        ]
    command += ["-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709", "-color_primaries", "bt709"]
    command += ["-color_trc", "bt709", "-color_range", "tv", "-c:v", "libx264", "-preset", preset, "-crf", str(crf)]
    command += [
        "-pix_fmt",
        "yuv420p",
        "-g",
        str(round(2 * fps)),
        "-movflags",
        "+faststart",
        *options,
        "-f",
        "mp4",
        str(path),
    ]
    count = 0
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
        assert process.stdin is not None
        try:
            for frame in frames:
                process.stdin.write(memoryview(np.ascontiguousarray(frame)) if isinstance(frame, np.ndarray) else frame)
                count += 1
            process.stdin.close()
        except BrokenPipeError:
            pass  # ffmpeg ended early: its exit code and log say why
        finally:
            code = process.wait()
    if code != 0:
        raise EncodeError(f"ffmpeg ended with {code} after {count} frames: {_tail(log)}")
    return count


def fit(sound: NDArray[np.float32], frames: int, fps: float) -> NDArray[np.float32]:
    """`sound` cut or padded with silence to exactly the length of `frames` pictures."""
    wanted = round(frames / fps * RATE)
    return np.pad(sound[:wanted], ((0, max(0, wanted - len(sound))), (0, 0)))


def read_back(path: Path) -> ReadBack:
    """Decode `path` whole and report what is in it. Raises EncodeError when it cannot be decoded."""
    command = [
        "ffmpeg",
        "-nostdin",
        "-hide_banner",
        "-progress",
        "pipe:1",
        "-i",
        str(path),
        "-map",
        "0:v",
        "-map",
        "0:a?",
    ]
    command += ["-af", "volumedetect", "-fps_mode", "passthrough", "-f", "null", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    video = _VIDEO.search(done.stderr)
    counts = re.findall(r"^frame=\s*(\d+)", done.stdout, re.MULTILINE)
    if done.returncode != 0 or video is None or not counts:
        raise EncodeError(f"{path.name} cannot be decoded: {done.stderr.strip()[-300:]}")
    peak = _PEAK.search(done.stderr)
    return ReadBack(
        frames=int(counts[-1]),
        width=int(video.group(1)),
        height=int(video.group(2)),
        fps=float(video.group(3)),
        peak_dbfs=float(peak.group(1)) if peak else None,
    )


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace").strip()[-300:] or "it printed nothing"
