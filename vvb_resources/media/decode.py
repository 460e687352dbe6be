"""The one decode of L1: every frame and every sample once, in one ffmpeg process, whatever is measured of them.

Pictures come as 160x90 grey frames on a pipe (measured as they pass), their exact time stamps in a file; sound as
levels per channel in the messages (before any resampling) and as 16 kHz PCM in a file, for speech. What else is wanted
of the video (contact sheet, judges' JPEGs, proxy) are further outputs of the same process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vvb_resources.media.filters import SPEECH_RATE, WorkFiles, decode_args
from vvb_resources.media.messages import Levels, damage, levels, size_changes
from vvb_resources.media.outputs import OutputPlan
from vvb_resources.media.placing import place, read_pieces
from vvb_resources.media.sound import mix_down
from vvb_resources.media.stills import HEIGHT, WIDTH, PictureMeter
from vvb_resources.media.tools import ffmpeg

BLOCK = SPEECH_RATE * 60  # samples of PCM in memory at once
BATCH = 16  # frames taken from the pipe at once


@dataclass(frozen=True)
class Decoded:
    """What one decode gave. `stamps`: presentation times of the frames in output order, seconds; `sizes`: coded sizes
    the picture changed to in mid-stream; files in `files` live as long as the work folder."""

    stamps: tuple[Fraction, ...]
    picture: PictureMeter
    levels: Levels | None
    channels: int
    sizes: tuple[tuple[int, int], ...]
    messages: tuple[str, ...]
    code: int
    timed_out: bool
    files: WorkFiles

    @property
    def healthy(self) -> bool:
        """No damage was told, ffmpeg ended well and in time, a picture came."""
        return not self.messages and self.code == 0 and not self.timed_out and bool(self.stamps)

    def pcm(self) -> NDArray[np.int16]:
        """Sound at 16 kHz as it lies on disk: shape (n, channels), second 0 of the presentation first."""
        path = self.files.pcm
        size = path.stat().st_size // (2 * self.channels) if self.channels and path.exists() else 0
        if not size:
            return np.zeros((0, max(1, self.channels)), dtype=np.int16)
        return np.memmap(path, dtype="<i2", mode="r", shape=(size, self.channels))

    def speech_pcm(self) -> NDArray[np.float32]:
        """Sound for speech analysis: float32, shape (n,), 16 kHz; on disk, mixed down minute by minute."""
        pcm = self.pcm()
        if not len(pcm):
            return np.zeros(0, dtype=np.float32)
        path = self.files.pcm.with_suffix(".f32")
        with path.open("wb") as file:
            for at in range(0, len(pcm), BLOCK):
                mix_down(pcm[at : at + BLOCK].T.astype(np.float32) / 32768.0)[0].tofile(file)
        return np.memmap(path, dtype=np.float32, mode="r", shape=(len(pcm),))


def decode(
    video: Path,
    *,
    channels: int,
    layout: str = "",
    work: Path,
    deadline_s: float = 1800.0,
    plan: OutputPlan | None = None,
) -> Decoded:
    """Decode `video` once. `channels` and `layout` of its first audio stream (0: it has none); `work`: a folder for
    its files; `plan`: further outputs.

    Damage is in `messages`, not in an error. Raises MediaError only when ffmpeg cannot be started.
    """
    files = WorkFiles(
        stamps=work / "stamps.txt", pcm=work / "speech.pcm", sound_stamps=work / "sound.txt", sheet=work / "sheet.rgb"
    )
    args = decode_args(video, channels=channels, layout=layout, files=files, plan=plan)
    meter = PictureMeter()
    with ffmpeg(args, log=work / "decode.log", deadline_s=deadline_s) as (output, wait):
        for frames in _batches(output):
            meter.add(frames)
        ended = wait()
    jumps: tuple[str, ...] = ()
    if channels and files.pcm.exists():
        jumps = place(files.pcm, read_pieces(files.sound_stamps, SPEECH_RATE), SPEECH_RATE, 2 * channels)
    return Decoded(
        stamps=_stamps(files.stamps, meter.frames),
        picture=meter,
        levels=levels(ended.log) if channels else None,
        channels=channels,
        sizes=size_changes(ended.log),
        messages=(*damage(ended.log), *jumps),
        code=ended.code,
        timed_out=ended.timed_out,
        files=files,
    )


def _batches(output: IO[bytes]) -> Iterator[NDArray[np.uint8]]:
    """Whole frames from the pipe, shape (n, 90, 160); a cut last frame is left out."""
    size = WIDTH * HEIGHT
    while data := output.read(BATCH * size):
        whole = len(data) // size
        yield np.frombuffer(data, dtype=np.uint8, count=whole * size).reshape(whole, HEIGHT, WIDTH)


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
