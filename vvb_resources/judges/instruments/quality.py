"""L3 proxies: a score of 1 to 5 a dimension, from measured facts alone. Each reason begins with "Proxy".

A proxy is no judgment of quality: it maps a few measured values, each on a ramp from 0 to 1, to their mean and that
to an integer, score = 1 + round(4 x mean). It is monotone: no measure that gets better can lower the score. What
cannot be measured is left out of the mean; with nothing left the score is null. `docs/instrument_panels.md` lists the
ramps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vvb_resources.benchmark.models import AudioPolicy
from vvb_resources.judges.instruments.finding import Decision, runs_of
from vvb_resources.judges.instruments.frames_pass import FrameFacts
from vvb_resources.judges.instruments.matching import normalise
from vvb_resources.judges.instruments.ocr import TextLine
from vvb_resources.judges.instruments.picture import changed_share, grey
from vvb_resources.judges.instruments.sound_pass import SoundFacts
from vvb_resources.judges.types import Score

QUALITY_VERSION = "1"

STILL_SHARE = 0.002
"""Pairs of sampled frames with fewer changed pixels than this count as still."""
AUDIBLE_DBFS = -50.0


@dataclass(frozen=True)
class Measure:
    """One measured value on its ramp: `value` in words, `share` 0 (worst) to 1 (best)."""

    name: str
    value: str
    share: float


@dataclass(frozen=True)
class Measured:
    """What the proxies may use: one judge's own observations, its own text findings, and the task's audio policy."""

    duration_s: float
    frames: Sequence[FrameFacts] | None
    sound: SoundFacts | None
    text_findings: Sequence[Decision]
    audio: AudioPolicy


def score_dimension(dim: str, measured: Measured) -> Score:
    """The proxy score of VQ, VA, CL, TM or AQ. Raises KeyError for another name."""
    return _PROXIES[dim](measured)


def ramp(value: float, worst: float, best: float) -> float:
    """0 at `worst` and beyond, 1 at `best` and beyond, straight between (either may be the larger)."""
    return min(1.0, max(0.0, (value - worst) / (best - worst)))


def _visual_quality(m: Measured) -> Score:
    """VQ: is text read with confidence, is it large, is the picture sharp, is its brightness steady."""
    if not m.frames:
        return _null("VQ", "no frame was sampled")
    lines = [line for frame in m.frames for line in _words(frame)]
    measures = []
    if lines:
        confidence = float(np.mean([line.confidence for line in lines]))
        height = float(np.median([line.height for line in lines]))
        measures += [
            Measure("text legibility", f"OCR confidence {confidence:.2f}", ramp(confidence, 0.6, 0.97)),
            Measure("text size", f"median line {height:.1%} of the height", ramp(height, 0.02, 0.06)),
        ]
    sharp = float(np.median([frame.sharpness for frame in m.frames]))
    measures.append(Measure("sharpness", f"edge step {sharp:.0f} levels", ramp(sharp, 5, 60)))
    flicker = _flicker(m.frames)
    measures.append(Measure("steadiness", f"brightness jumps back in {flicker:.0%} of frames", ramp(flicker, 0.3, 0.0)))
    return _scored("VQ", measures)


def _visual_aesthetics(m: Measured) -> Score:
    """VA: contrast, a limited palette, no clutter. A frame of one flat tone has no contrast and scores low."""
    if not m.frames:
        return _null("VA", "no frame was sampled")
    contrasts, palettes = [], []
    for frame in m.frames:
        low, high = np.percentile(grey(frame.thumb), [2, 98])
        contrasts.append(float(high - low))
        cells = (frame.thumb // 64).astype(np.int32) @ np.array([16, 4, 1], np.int32)
        counts = np.sort(np.bincount(cells.ravel(), minlength=64))[::-1]
        palettes.append(float(counts[:5].sum() / counts.sum()))
    contrast, palette = float(np.median(contrasts)), float(np.median(palettes))
    clutter = float(np.median([frame.edges for frame in m.frames]))
    return _scored(
        "VA",
        [
            Measure("contrast", f"luminance span {contrast:.0f} levels", ramp(contrast, 20, 140)),
            Measure("palette", f"five colours cover {palette:.0%}", ramp(palette, 0.5, 0.95)),
            Measure("clutter", f"edges on {clutter:.1%} of the picture", ramp(clutter, 0.3, 0.1)),
        ],
    )


def _content_logic(m: Measured) -> Score:
    """CL: the share of the task's text probes (text, dwell, shown language) that this judge measured as satisfied."""
    decided = [finding for finding in m.text_findings if finding != "unknown"]
    if not decided:
        return _null("CL", "no text probe of the task could be decided")
    share = decided.count("pass") / len(decided)
    return _scored("CL", [Measure("text shown as asked", f"{decided.count('pass')} of {len(decided)} probes", share)])


def _timing(m: Measured) -> Score:
    """TM: is there movement, is no stretch frozen for long, does text stay long enough to be read."""
    if m.frames is None or len(m.frames) < 3:
        return _null("TM", "fewer than three frames were sampled")
    still = [changed_share(a.thumb, b.thumb, None) < STILL_SHARE for a, b in pairwise(m.frames)]
    times = [frame.t for frame in m.frames]
    longest = max((times[b + 1] - times[a] for a, b in runs_of(still)), default=0.0)
    moving = 1 - sum(still) / len(still)
    measures = [
        Measure("movement", f"in {moving:.0%} of the steps", ramp(moving, 0.0, 0.6)),
        Measure("longest still", f"{longest:.1f} s", ramp(longest / max(m.duration_s, 0.001), 0.6, 0.25)),
    ]
    dwell = _median_dwell(m.frames)
    if dwell is not None:
        measures.append(Measure("dwell of text", f"median {dwell:.1f} s", ramp(dwell, 0.0, 2.0)))
    return _scored("TM", measures)


def _audio_quality(m: Measured) -> Score:
    """AQ: level, clipping, gaps, speech. Silence is right where no channel is wanted, and a 1 where one is required.

    With optional channels only, silence gives no evidence and the score is null. Sound that the task rules out scores
    2.
    """
    if m.sound is None:
        return _null("AQ", "this judge does not hear")
    audible = m.sound.present and m.sound.peak_dbfs(0, m.sound.duration_s) > AUDIBLE_DBFS
    uses = (m.audio.narration, m.audio.music, m.audio.effects, m.audio.ambience)
    if not audible:
        if m.audio.required:
            return Score("AQ", 1, f"Proxy: no audible sound, though {', '.join(m.audio.required)} is required.")
        if all(use == "not_used" for use in uses):
            return Score("AQ", 5, "Proxy: silent, as the task asks.")
        return _null("AQ", "no audible sound, and none is required")
    if all(use == "not_used" for use in uses):
        return Score("AQ", 2, "Proxy: closer to 1, for there is sound where the task asks for none.")
    return _scored("AQ", _sound_measures(m.sound, m.audio))


def _sound_measures(sound: SoundFacts, audio: AudioPolicy) -> list[Measure]:
    levels = 10 * np.log10(np.maximum(sound.power, 1e-12))
    heard = levels > AUDIBLE_DBFS
    level = 10 * float(np.log10(sound.power[heard].mean())) if heard.any() else AUDIBLE_DBFS
    measures = [
        Measure("level", f"{level:.0f} dBFS where audible", min(ramp(level, -50, -30), ramp(level, -3, -9))),
        Measure("clipping", f"{sound.clipped:.2%} of samples", ramp(sound.clipped, 0.005, 0.0)),
    ]
    if audio.music == "required" or audio.ambience == "required":
        silent = 1 - float(heard.mean())
        measures.append(Measure("gaps", f"{silent:.0%} silent", ramp(silent, 0.9, 0.2)))
    if audio.narration == "required":
        share = sound.speech_share(0, sound.duration_s)
        measures.append(Measure("speech", f"{share:.0%} of the time", ramp(share, 0.0, 0.5)))
    return measures


_PROXIES: dict[str, Callable[[Measured], Score]] = {
    "VQ": _visual_quality,
    "VA": _visual_aesthetics,
    "CL": _content_logic,
    "TM": _timing,
    "AQ": _audio_quality,
}


def _words(frame: FrameFacts) -> list[TextLine]:
    """Lines of at least three letters or digits: a ring read as "O" is a picture, not text."""
    return [line for line in frame.lines if len(normalise(line.text)) >= 3]


def _flicker(frames: Sequence[FrameFacts]) -> float:
    """Share of frames whose mean luminance lies over 40 levels above, or below, both neighbours."""
    means = [float(grey(frame.thumb).mean()) for frame in frames]
    spikes = sum(
        min(b - a, b - c) > 40 or min(a - b, c - b) > 40 for a, b, c in zip(means, means[1:], means[2:], strict=False)
    )
    return spikes / max(1, len(means) - 2)


def _median_dwell(frames: Sequence[FrameFacts]) -> float | None:
    """Median seconds that a line of text stays without a break; None without text.

    Sightings bound a stretch from below by last minus first and from above by two steps more: the middle is taken.
    """
    shown = [{normalise(line.text) for line in _words(frame)} for frame in frames]
    step = (frames[-1].t - frames[0].t) / (len(frames) - 1)
    stretches = []
    for text in set().union(*shown):
        for first, last in runs_of([text in texts for texts in shown]):
            stretches.append(frames[last].t - frames[first].t + step)
    return float(np.median(stretches)) if stretches else None


def _scored(dim: str, measures: Sequence[Measure]) -> Score:
    mean = sum(measure.share for measure in measures) / len(measures)
    score = 1 + int(np.floor(4 * mean + 0.5))
    said = "; ".join(f"{measure.name}: {measure.value}" for measure in measures)
    # As for any judge: a score between two anchors says which of them it is nearer to.
    near = {2: 3 if mean >= 0.25 else 1, 4: 5 if mean >= 0.75 else 3}.get(score)
    reason = f"Proxy{f', closer to {near}' if near else ''}: {said}."
    good = "; ".join(measure.name for measure in measures if measure.share >= 0.75)
    bad = "; ".join(f"{measure.name}: {measure.value}" for measure in measures if measure.share <= 0.25)
    return Score(dim, score, reason, good, bad)


def _null(dim: str, why: str) -> Score:
    return Score(dim, None, f"Proxy: {why}.")
