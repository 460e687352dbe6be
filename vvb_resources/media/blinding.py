"""Blinded media: a delivered video without the traces of who made it and with what.

Titles, comments, chapters, handler names, extra streams, encoder tags and the encoder's messages inside the picture
stream go; the coded pictures and sound stay as they are (docs/l1.md). The same video gives the same bytes.
"""

from __future__ import annotations

import json
import mmap
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.errors import MediaError
from vvb_resources.media.probe import probe
from vvb_resources.media.tools import input_args, input_url, run_ffmpeg
from vvb_resources.store.atomic import replace_with, write_json
from vvb_resources.store.digests import digest_file

VIDEO = "video.mp4"
RECORD = "media.json"

# What carries messages of the encoder, by codec: SEI of H.264 and HEVC, metadata of AV1. VP9 has no such place.
STRIP = {
    "h264": "filter_units=remove_types=6",
    "hevc": "filter_units=remove_types=39-40",
    "av1": "filter_units=remove_types=5",
}
PLAIN = frozenset({"vp9"})
NAMES = (re.compile(rb"Lavc\d+\.\d+\.\d+"), re.compile(rb"x265 \(build [ -~]*"))

X264 = ("-c:v", "libx264", "-crf", "12", "-preset", "fast", "-pix_fmt", "yuv420p", "-threads", "2")
BARE = (
    *("-map_metadata", "-1", "-map_metadata:s", "-1", "-map_chapters", "-1", "-sn", "-dn"),
    *("-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-movflags", "+faststart"),
)


@dataclass(frozen=True)
class BlindedMedia:
    """The blinded video in `folder`. `digest` is of its bytes, `duration_s` the second at which the picture ends,
    `width` and `height` the size as displayed."""

    folder: Path
    video: Path
    digest: str
    duration_s: float
    width: int
    height: int
    fps: float
    has_audio: bool

    def save(self) -> None:
        """Write `media.json` into the folder, without any path in it."""
        fields = ("digest", "duration_s", "width", "height", "fps", "has_audio")
        write_json(self.folder / RECORD, {name: getattr(self, name) for name in fields})

    @classmethod
    def load(cls, folder: Path) -> BlindedMedia:
        """Read the blinded media in `folder`. Raises MediaError when they are absent or unreadable."""
        try:
            record = json.loads((folder / RECORD).read_text())
            return cls(folder=folder, video=folder / VIDEO, **record)
        except (OSError, ValueError, TypeError) as error:
            raise MediaError(
                f"no blinded media ({error})", where=str(folder / RECORD), remedy="make blinded_media again"
            ) from error


def blind(video: Path, out: Path) -> BlindedMedia:
    """Blind `video` into the existing folder `out` as `video.mp4` and `media.json`.

    H.264, HEVC, AV1 and VP9 are copied bit for bit but for the units that carry messages; any other codec is encoded
    anew as H.264 at high quality (CRF 12), because it has no filter that takes the messages out. Sound is copied; the
    encoder's name in the padding of its first packet is blanked. Only the first picture and the first sound stream are
    kept: what players play. Raises MediaError when there is no picture or ffmpeg fails.
    """
    streams = probe(video)
    if streams.video is None:
        raise MediaError("no picture stream", where=video.name)
    codec, has_sound = streams.video.codec, bool(streams.audio)

    def fill(temporary: Path) -> None:
        """Write the stripped copy, then blank the names that no filter reaches."""
        with tempfile.TemporaryDirectory(prefix="vvb-blind-") as folder:
            work = Path(folder)
            if codec in STRIP or codec in PLAIN:
                _copy(video, temporary, codec, has_sound, work)
            else:
                encoded = work / "encoded.mp4"
                _run(video, encoded, ["-map", "0:V:0", *X264], has_sound, work)
                _copy(encoded, temporary, "h264", has_sound, work)
        _blank_names(temporary)

    target = out / VIDEO
    replace_with(target, fill)
    media = _describe(out, target)
    media.save()
    return media


def _copy(video: Path, target: Path, codec: str, has_sound: bool, work: Path) -> None:
    """Copy the coded picture and sound into a bare MP4."""
    strip = ["-bsf:v", STRIP[codec]] if codec in STRIP else []
    _run(video, target, ["-map", "0:V:0", "-c:v", "copy", *strip], has_sound, work)


def _run(video: Path, target: Path, picture: list[str], has_sound: bool, work: Path) -> None:
    sound = ["-map", "0:a:0", "-c:a", "copy"] if has_sound else []
    args = ["-v", "error", *input_args(video), *picture, *sound, *BARE, "-f", "mp4", input_url(target)]
    _, ended = run_ffmpeg(args, work=work, deadline_s=1800)
    if ended.code != 0:
        raise MediaError(f"blinding failed ({ended.log.strip()[-300:] or f'exit {ended.code}'})", where=video.name)


def _blank_names(video: Path) -> None:
    """Overwrite, in place and at the same length, the encoder's names that the bitstream filters leave.

    The AAC encoder of libavcodec writes its name and version into a fill element of its first packet, which decoders
    skip; x265 puts its settings as text into the decoder configuration. No coded picture holds such a string but by a
    chance of less than 1 in 2**64.
    """
    with video.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        for name in NAMES:
            for found in list(name.finditer(data)):
                data[found.start() : found.end()] = b" " * (found.end() - found.start())
        data.flush()


def _describe(folder: Path, video: Path) -> BlindedMedia:
    streams = probe(video)
    if streams.video is None:
        raise MediaError("the blinded video has no picture", where=VIDEO)
    width, height = streams.video.displayed
    return BlindedMedia(
        folder=folder,
        video=video,
        digest=digest_file(video),
        duration_s=round(float(streams.video.start) + (streams.video.duration_s or 0.0), 6),
        width=width,
        height=height,
        fps=round(float(streams.video.rate or 0), 6),
        has_audio=bool(streams.audio),
    )
