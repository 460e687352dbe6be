"""Probes: what an instrument judge measures to decide a check. One model a kind, told apart by `kind`.

Times are seconds from the start of the video. `window` is [start, end]; left out, the whole video. `region` is
[left, top, right, bottom] as shares of the picture, 0 to 1; left out, the whole picture. A probe that cannot be
measured (no frame falls in the window, a model is missing) answers `unknown`, never pass or fail.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Window = tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
Share = Annotated[float, Field(ge=0, le=1)]
Region = tuple[Share, Share, Share, Share]
Rgb = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]


class ProbeModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    window: Window | None = None

    @model_validator(mode="after")
    def _window_ordered(self) -> Self:
        if self.window and self.window[1] <= self.window[0]:
            raise ValueError(f"window {list(self.window)} ends before it starts")
        return self


class TextProbe(ProbeModel):
    """Text shown (OCR, case- and space-insensitive).

    Passes if each of `all_of` is read in some sampled frame of the window, and one of `any_of` (if given), and none
    of `none_of` in any frame. `same_frame`: one frame must show all of them together. `order`: the first sighting of
    each of `all_of` must come strictly in that order.
    """

    kind: Literal["text"]
    all_of: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    same_frame: bool = False
    order: bool = False
    region: Region | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.all_of or self.any_of or self.none_of):
            raise ValueError("a text probe needs all_of, any_of or none_of")
        return self


class DwellProbe(ProbeModel):
    """Text stays readable for at least `min_s` seconds without a break, by the paper's rule for sampling.

    Lower bound = last minus first sighting of the longest unbroken stretch; upper bound = the gap between the sampled
    frames just outside it. Passes if lower >= min_s, fails if upper < min_s, else unknown. Any of `any_of` counts.
    """

    kind: Literal["dwell"]
    any_of: tuple[str, ...] = Field(min_length=1)
    min_s: float = Field(gt=0)
    region: Region | None = None


class ColourProbe(ProbeModel):
    """A colour covers at least `min_share` (and at most `max_share`) of the region in some sampled frame.

    A pixel counts if its Euclidean RGB distance to `rgb` is <= `tolerance` (0-442). `hold`: in every sampled frame.
    """

    kind: Literal["colour"]
    rgb: Rgb
    tolerance: float = Field(default=48, gt=0)
    min_share: Share = 0.01
    max_share: Share = 1.0
    region: Region | None = None
    hold: bool = False


class MotionProbe(ProbeModel):
    """Movement or stillness. The measure is the mean, over consecutive sampled frames, of the share of pixels that
    change by more than 12 of 255 grey levels. `moving` passes at >= `min_share`, `still` at < `min_share`."""

    kind: Literal["motion"]
    expect: Literal["moving", "still"]
    min_share: Share = 0.002
    region: Region | None = None


class SceneChangeProbe(ProbeModel):
    """Number of scene changes: consecutive sampled frames of which at least `min_share` of the pixels change."""

    kind: Literal["scene_change"]
    at_least: int = Field(default=1, ge=0)
    at_most: int | None = Field(default=None, ge=0)
    min_share: Share = 0.35


class SpeechProbe(ProbeModel):
    """Share of the window covered by speech (voice activity detection): min_share <= share <= max_share."""

    kind: Literal["speech"]
    min_share: Share = 0.0
    max_share: Share = 1.0


class SilenceProbe(ProbeModel):
    """The window is silent: its peak stays at or below `max_dbfs`."""

    kind: Literal["silence"]
    window: Window
    max_dbfs: float = Field(default=-50.0, le=0)


class OnsetProbe(ProbeModel):
    """A sound begins within `tolerance` seconds of at least `min_share` of `times`."""

    kind: Literal["onset"]
    times: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=1)
    tolerance: float = Field(default=0.15, gt=0)
    min_share: Share = 1.0


class LoudnessProbe(ProbeModel):
    """RMS level of the window in dBFS lies in [min_dbfs, max_dbfs]."""

    kind: Literal["loudness"]
    min_dbfs: float = Field(default=-60.0, le=0)
    max_dbfs: float = Field(default=0.0, le=0)


class LanguageProbe(ProbeModel):
    """Language of the shown text (share of its letters in that script) or of the speech (needs a speech model)."""

    kind: Literal["language"]
    language: Literal["en", "zh"]
    channel: Literal["text", "speech"] = "text"
    min_share: Share = 0.5


Probe = Annotated[
    TextProbe
    | DwellProbe
    | ColourProbe
    | MotionProbe
    | SceneChangeProbe
    | SpeechProbe
    | SilenceProbe
    | OnsetProbe
    | LoudnessProbe
    | LanguageProbe,
    Field(discriminator="kind"),
]

AUDIO_PROBES = ("speech", "silence", "onset", "loudness")
