"""What is measured of a delivery: the record that L1's checks and the instrument judges' proxies read.

Measuring is expensive and knows no task; checks are cheap and change with tolerances (docs/l1.md). Times are seconds
on the presentation clock. A fraction is written "numerator/denominator" where a tolerance is judged at its edge. Levels
are dBFS; digital silence has no level and is null. There is no NaN and no infinity anywhere.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from vvb_resources.errors import MediaError
from vvb_resources.media.container import ContainerFault

VERSION = 2
SCHEMA = Path(__file__).parent / "schemas" / "media_facts.schema.json"

Exact = Annotated[str, Field(pattern=r"^-?\d+/[1-9]\d*$", description="a fraction, numerator/denominator")]


class Record(BaseModel):
    """Immutable, closed, finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Span(Record):
    """A stretch of time, seconds."""

    start: float
    end: float


class DeliveryFacts(Record):
    """What lies beside the video. `project` is null when only a file was given."""

    video: str | None = Field(description="file name of the video")
    fault: str | None = Field(description="why there is no video")
    project: bool | None
    timing: bool
    notes: bool


class ContainerFacts(Record):
    """The light container check. `sound` is about the container alone; a fault of the picture leaves it true."""

    sound: bool
    fault: ContainerFault | None
    message: str
    size_bytes: int | None
    major_brand: str = ""
    brands: tuple[str, ...] = ()
    trailing_bytes: int = Field(default=0, description="bytes after the last box")
    truncated: bool = Field(default=False, description="the last box promises more bytes than there are")
    claimed_width: int = Field(default=0, description="largest width the header claims of a picture track")
    claimed_height: int = 0


class StreamFacts(Record):
    """Numbers of streams. Cover art is no picture stream."""

    video: int
    audio: int
    attached_pictures: int
    others: int


class VideoFacts(Record):
    """The picture stream that players show. Sizes in pixels; rotation in degrees counter-clockwise."""

    codec: str
    profile: str | None
    pix_fmt: str | None
    coded_width: int
    coded_height: int
    sar: Exact
    rotation: int
    width: int = Field(description="as displayed: after sample aspect ratio and rotation")
    height: int
    time_base: Exact
    header_frames: int = Field(description="samples in the header's table; 0 in fragmented files")
    header_fps: Exact | None
    changes: tuple[tuple[int, int], ...] = Field(
        default=(), description="coded sizes that the picture changes to in mid-stream"
    )


class TimingFacts(Record):
    """Counted and timed on decoded frames. `fps` is the exact rate (the mean one, if not constant)."""

    frames: int
    constant: bool | None = Field(description="null with fewer than two frames")
    fps: Exact | None
    fps_value: float | None
    start: Exact
    end: Exact = Field(description="end of the last frame")


class DecodeFacts(Record):
    """Health of the decode. `errors` are distinct messages, without addresses, sorted, at most 20."""

    ok: bool
    errors: tuple[str, ...] = ()
    refused: bool = Field(default=False, description="not decoded: the picture has too many pixels")
    timed_out: bool = False


class PictureFacts(Record):
    """Seen on 160x90 grey frames (0-255). Spans shorter than half a second are left out."""

    black: tuple[Span, ...]
    longest_black_s: float
    frozen: tuple[Span, ...]
    longest_frozen_s: float
    luma_mean: float
    luma_contrast: float = Field(description="mean over frames of the standard deviation within the frame")
    motion_share: float = Field(description="mean over frame pairs of the share of pixels that change by more than 12")
    scene_changes: int = Field(description="frame pairs of which at least 35% of the pixels change")


class SoundFacts(Record):
    """The first audio stream, before any resampling or mixing."""

    codec: str
    rate: int
    channels: int
    layout: str
    start: Exact
    end: Exact
    peaks_dbfs: tuple[float | None, ...] = Field(description="per channel; null = digital silence")
    peak_dbfs: float | None
    rms_dbfs: float | None
    silent: bool = Field(description="not one sample differs from zero")
    loudness_lufs: float | None = Field(description="EBU R128 integrated; null below its gate (-70 LUFS)")
    silence: tuple[Span, ...] = Field(description="at least 0.5 s with every channel at or below -50 dBFS")


class SpeechFacts(Record):
    """Voice activity over the whole presentation. `measured` false: `reason` says what is missing."""

    measured: bool
    reason: str | None = None
    engine: str | None = None
    segments: tuple[Span, ...] = ()
    share: float | None = Field(default=None, description="of the presentation's length")
    longest_gap_s: float | None = Field(default=None, description="longest stretch without speech, ends included")


class LanguageWindow(Record):
    """Up to 30 s of speech; the most probable language (ISO 639-1) and its probability."""

    start: float
    end: float
    language: str
    p: float


class LanguageFacts(Record):
    """Languages of the speech, window by window. No speech: measured, without windows."""

    measured: bool
    reason: str | None = None
    engine: str | None = None
    windows: tuple[LanguageWindow, ...] = ()


class MediaFacts(Record):
    """Everything measured of one delivery. A part that cannot exist is null: no picture, no sound, nothing decoded."""

    version: int = VERSION
    digest: str | None = Field(description="SHA-256 of the video's bytes, first 128 bits")
    delivery: DeliveryFacts
    container: ContainerFacts
    streams: StreamFacts | None = None
    video: VideoFacts | None = None
    timing: TimingFacts | None = None
    decode: DecodeFacts
    picture: PictureFacts | None = None
    sound: SoundFacts | None = None
    speech: SpeechFacts | None = None
    language: LanguageFacts | None = None
    duration: Exact | None = Field(default=None, description="of the presentation: the longer of picture and sound")
    duration_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return self.model_dump(mode="json")

    @classmethod
    def read(cls, path: Path) -> MediaFacts:
        """Read facts written by `to_json`. Raises MediaError when they are absent or of another version."""
        try:
            facts = cls.model_validate_json(path.read_bytes())
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise MediaError(f"unreadable media facts ({reason})", where=str(path), remedy="measure again") from error
        if facts.version != VERSION:
            raise MediaError(
                f"media facts of version {facts.version}, not {VERSION}", where=str(path), remedy="measure again"
            )
        return facts


def exact(value: Fraction) -> str:
    """A fraction as facts write it."""
    return f"{value.numerator}/{value.denominator}"


def schema_text() -> str:
    """The JSON Schema of `MediaFacts`, as the file beside this module holds it."""
    return json.dumps(MediaFacts.model_json_schema(), indent=1, sort_keys=True) + "\n"


def write_schema() -> None:
    """Bring the schema file up to date: `python -m vvb_resources.media.facts`."""
    from vvb_resources.store.atomic import write_text  # brings polars: half a second that reading facts need not pay

    write_text(SCHEMA, schema_text())


if __name__ == "__main__":
    write_schema()
