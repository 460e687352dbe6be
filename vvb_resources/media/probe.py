"""What the streams of an MP4 say of themselves, read in process with PyAV (no picture is decoded on purpose)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from vvb_resources.errors import MediaError
from vvb_resources.media.layout import read_layout
from vvb_resources.media.tools import MAX_PIXELS, input_url

# PyAV's names of decoders where they are not the codec's name.
CODECS = {"libdav1d": "av1", "libvpx-vp9": "vp9", "libvpx": "vp8", "libaom-av1": "av1"}

MOST_STREAMS = 64  # with a limit on the pixels that a decoder may be asked for while probing


@dataclass(frozen=True)
class VideoProbe:
    """The picture stream. Sizes in pixels, `rotation` in degrees counter-clockwise (0, 90, -90, 180), `start` and
    `duration_s` in seconds of the presentation, rates as fractions."""

    codec: str
    profile: str | None
    pix_fmt: str | None
    width: int
    height: int
    sar: Fraction
    rotation: int
    time_base: Fraction
    rate: Fraction | None
    start: Fraction
    duration_s: float | None
    header_frames: int

    @property
    def displayed(self) -> tuple[int, int]:
        """Size as a viewer sees it: the sample aspect ratio stretches the width, a quarter turn swaps the sides."""
        wide, high = round(self.width * self.sar), self.height
        return (high, wide) if self.rotation in (90, -90) else (wide, high)

    @property
    def ends_s(self) -> float | None:
        """Second at which the header says that the picture ends; None when it does not say."""
        return float(self.start) + self.duration_s if self.duration_s else None


@dataclass(frozen=True)
class AudioProbe:
    """A sound stream: codec, samples a second, channels, start in seconds."""

    codec: str
    rate: int
    channels: int
    layout: str
    start: Fraction


@dataclass(frozen=True)
class Probe:
    """All streams. `video` is the first that is not cover art; `audio` the sound streams in order, players play the
    first. `others` counts everything else (subtitles, time codes, data)."""

    video: VideoProbe | None
    video_streams: int
    attached_pictures: int
    audio: tuple[AudioProbe, ...]
    others: int


@contextmanager
def opened(video: Path) -> Iterator[Any]:
    """Open `video` with PyAV behind the same fence as ffmpeg: mov demuxer, file protocol, no external references.

    Raises MediaError when it cannot be opened.
    """
    import av  # a tenth of a second, which commands that open no video need not pay
    from av.error import FFmpegError

    limits: Any = [{"max_pixels": str(MAX_PIXELS)} for _ in range(MOST_STREAMS)]
    try:
        container = av.open(
            input_url(video),
            format="mov",
            options={"protocol_whitelist": "file", "enable_drefs": "0"},
            stream_options=limits,
            metadata_errors="replace",
        )
    except (FFmpegError, ValueError, OSError) as error:
        raise MediaError(f"cannot be opened as an MP4 ({_reason(error)})", where=video.name) from error
    try:
        yield container
    finally:
        container.close()


def picture_stream(container: Any) -> Any | None:
    """First video stream that is not cover art, or None."""
    return next((s for s in container.streams.video if not is_cover(s)), None)


def is_cover(stream: Any) -> bool:
    """Is a video stream cover art (`attached_pic`)."""
    import av

    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def probe(video: Path) -> Probe:
    """Probe `video`. Raises MediaError when it is no MP4 that can be opened; run the container check first."""
    with opened(video) as container:
        pictures = [s for s in container.streams.video if not is_cover(s)]
        return Probe(
            video=_video(pictures[0], _rotation(video)) if pictures else None,
            video_streams=len(pictures),
            attached_pictures=len(container.streams.video) - len(pictures),
            audio=tuple(_audio(s) for s in container.streams.audio),
            others=len(container.streams) - len(container.streams.video) - len(container.streams.audio),
        )


def codec_of(stream: Any) -> str:
    """The codec's name, not the decoder's; `unknown` without a decoder."""
    context = stream.codec_context
    return "unknown" if context is None else CODECS.get(context.name, context.name)


def _video(stream: Any, rotation: int) -> VideoProbe:
    context = stream.codec_context
    base = Fraction(stream.time_base)
    sar = Fraction(stream.sample_aspect_ratio or 1)
    return VideoProbe(
        codec=codec_of(stream),
        profile=context.profile if context else None,
        pix_fmt=context.pix_fmt if context else None,
        width=context.width if context else 0,
        height=context.height if context else 0,
        sar=sar if sar > 0 else Fraction(1),
        rotation=rotation,
        time_base=base,
        rate=Fraction(stream.average_rate) if stream.average_rate else None,
        start=Fraction(stream.start_time or 0) * base,
        duration_s=float(stream.duration * base) if stream.duration else None,
        header_frames=int(stream.frames or 0),
    )


def _audio(stream: Any) -> AudioProbe:
    context = stream.codec_context
    return AudioProbe(
        codec=codec_of(stream),
        rate=int(context.sample_rate or 0) if context else 0,
        channels=int(context.channels or 0) if context else 0,
        layout=str(context.layout.name) if context else "unknown",
        start=Fraction(stream.start_time or 0) * Fraction(stream.time_base),
    )


def _rotation(video: Path) -> int:
    """Rotation of the first picture track's matrix; anything but a quarter turn counts as none."""
    with video.open("rb") as file:
        layout = read_layout(file, video.stat().st_size)
    return next((track.rotation or 0 for track in layout.tracks if track.handler == "vide"), 0)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).splitlines()[0][:200]
