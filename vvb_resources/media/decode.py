"""The one decode of L1: every frame and every sample once, in one ffmpeg process, whatever is measured of them.

Pictures come as 160x90 grey frames on a pipe (measured as they pass), their exact time stamps in a file; sound as
levels per channel in the messages (before any resampling) and as 16 kHz PCM in a file, for speech.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vvb_resources.media.facts import Span
from vvb_resources.media.sound import mix_down
from vvb_resources.media.stills import HEIGHT, WIDTH, PictureMeter
from vvb_resources.media.tools import ffmpeg, input_args, input_url

SPEECH_RATE = 16_000
SILENCE_DBFS = -50
SILENCE_S = 0.5
MOST_MESSAGES = 20
PCM_BLOCK = SPEECH_RATE * 60

_MESSAGE = re.compile(r"^((?:\[[^\]\n]*\] )*)\[(warning|error|fatal|panic)\] (.*)$", re.MULTILINE)
_ASTATS = re.compile(r"^\[Parsed_astats_\d+ @ \w+\] \[info\] (.*)$", re.MULTILINE)
_SILENCE = re.compile(r"^\[Parsed_silencedetect_\d+ @ \w+\] \[info\] silence_(start|end): (-?[\d.e+-]+)", re.MULTILINE)
_LOUDNESS = re.compile(
    r"^\[Parsed_ebur128_\d+ @ \w+\] \[info\] Summary:\s+Integrated loudness:\s+I:\s+(\S+) LUFS", re.M
)
_ADDRESS = re.compile(r" @ 0x[0-9a-f]+|\(nil\)")


@dataclass(frozen=True)
class Levels:
    """Levels of the sound, dBFS; None = digital silence. `samples` a channel, as decoded."""

    peaks: tuple[float | None, ...]
    peak: float | None
    rms: float | None
    samples: int
    loudness: float | None
    silence: tuple[Span, ...]


@dataclass(frozen=True)
class Decoded:
    """What one decode gave. `stamps`: presentation times of the frames in output order, seconds."""

    stamps: tuple[Fraction, ...]
    picture: PictureMeter
    levels: Levels | None
    pcm: Path | None
    channels: int
    messages: tuple[str, ...]
    code: int
    timed_out: bool

    def speech_pcm(self) -> NDArray[np.float32]:
        """Sound for speech analysis: float32, shape (n,), 16 kHz, second 0 of the presentation first."""
        if self.pcm is None or not self.pcm.exists():
            return np.zeros(0, dtype=np.float32)
        samples = np.fromfile(self.pcm, dtype="<i2")
        samples = samples[: len(samples) // self.channels * self.channels].reshape(-1, self.channels)
        blocks = [
            mix_down(samples[at : at + PCM_BLOCK].T.astype(np.float32) / 32768.0)[0]
            for at in range(0, len(samples), PCM_BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.float32)


def decode(video: Path, *, channels: int, work: Path, deadline_s: float = 1800.0) -> Decoded:
    """Decode `video` once. `channels` of its first audio stream (0: it has none); `work`: a folder for its files.

    Damage is in `messages` (distinct, sorted, without addresses), not in an error. Raises MediaError only when ffmpeg
    cannot be started.
    """
    stamps, pcm = work / "stamps.txt", work / "speech.pcm"
    args = ["-v", "level+info", "-noautorotate", *input_args(video)]
    args += ["-map", "0:V:0", "-vf", f"scale={WIDTH}:{HEIGHT}:flags=area,format=gray", "-fps_mode", "passthrough"]
    args += ["-stats_enc_pre:v", str(stamps), "-stats_enc_pre_fmt:v", "{ptsi} {tbi}", "-f", "rawvideo", "pipe:1"]
    if channels:
        levels = (
            "astats=metadata=0:measure_perchannel=Peak_level:measure_overall=Peak_level+RMS_level+Number_of_samples"
        )
        silence = f"silencedetect=n={SILENCE_DBFS}dB:d={SILENCE_S}"
        speech = f"aresample={SPEECH_RATE}:async=1:first_pts=0,aformat=sample_fmts=s16"
        args += ["-map", "0:a:0", "-af", f"{levels},{silence},ebur128=framelog=quiet,{speech}"]
        args += ["-f", "s16le", input_url(pcm)]
    meter = PictureMeter()
    with ffmpeg(args, log=work / "decode.log", deadline_s=deadline_s) as (output, wait):
        for frame in _frames(output):
            meter.add(frame)
        ended = wait()
    return Decoded(
        stamps=_stamps(stamps, meter.frames),
        picture=meter,
        levels=_levels(ended.log) if channels else None,
        pcm=pcm if channels else None,
        channels=channels,
        messages=_damage(ended.log),
        code=ended.code,
        timed_out=ended.timed_out,
    )


def _frames(output: IO[bytes]) -> Iterator[NDArray[np.uint8]]:
    size = WIDTH * HEIGHT
    while len(data := output.read(size)) == size:
        yield np.frombuffer(data, dtype=np.uint8).reshape(HEIGHT, WIDTH)


def _stamps(path: Path, frames: int) -> tuple[Fraction, ...]:
    """One time stamp a frame. A frame without one (never seen in a sound MP4) takes the one before it."""
    stamps: list[Fraction] = []
    lines = path.read_text().splitlines() if path.exists() else []
    for line in lines[:frames]:
        ticks, _, base = line.partition(" ")
        try:
            stamps.append(int(ticks) * Fraction(base))
        except (ValueError, ZeroDivisionError):
            stamps.append(stamps[-1] if stamps else Fraction(0))
    while len(stamps) < frames:
        stamps.append(stamps[-1] if stamps else Fraction(0))
    return tuple(stamps)


def _damage(log: str) -> tuple[str, ...]:
    """Messages that mean damage: errors, and warnings of corrupt packets."""
    found = set()
    for sources, level, text in _MESSAGE.findall(log):
        if level == "warning" and "corrupt" not in text.lower():
            continue
        source = _ADDRESS.sub("", sources).strip().rpartition("[")[2].rstrip("]")
        found.add(f"{source}: {_ADDRESS.sub('', text)}"[:200] if source else _ADDRESS.sub("", text)[:200])
    return tuple(sorted(found)[:MOST_MESSAGES])


def _levels(log: str) -> Levels | None:
    """Levels from the messages of astats, silencedetect and ebur128; None when no sample was decoded."""
    peaks: list[float | None] = []
    overall: dict[str, float | None] = {}
    in_overall = False
    for line in _ASTATS.findall(log):
        name, _, value = line.partition(": ")
        if name.startswith("Overall"):
            in_overall = True
        elif in_overall:
            overall[name] = _finite(value)
        elif name == "Peak level dB":
            peaks.append(_finite(value))
    samples = int(overall.get("Number of samples") or 0)
    if not samples:
        return None
    loudness = _LOUDNESS.search(log)
    integrated = _finite(loudness[1]) if loudness else None
    return Levels(
        peaks=tuple(peaks),
        peak=overall.get("Peak level dB"),
        rms=overall.get("RMS level dB"),
        samples=samples,
        loudness=None if integrated is None or integrated <= -70 else integrated,
        silence=_silences(log),
    )


def _silences(log: str) -> tuple[Span, ...]:
    spans, start = [], None
    for which, text in _SILENCE.findall(log):
        if which == "start":
            start = max(0.0, float(text))
        elif start is not None:
            spans.append(Span(start=round(start, 6), end=round(float(text), 6)))
            start = None
    return tuple(spans)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
