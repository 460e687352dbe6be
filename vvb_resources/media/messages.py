"""What ffmpeg's messages say of a decode: damage, levels, silence, changes in mid-stream."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from vvb_resources.media.facts import Span

MOST_MESSAGES = 20

_MESSAGE = re.compile(r"^((?:\[[^\]\n]*\] )*)\[(warning|error|fatal|panic)\] (.*)$", re.MULTILINE)
_ASTATS = re.compile(r"^\[Parsed_astats_\d+ @ \w+\] \[info\] (.*)$", re.MULTILINE)
_SILENCE = re.compile(r"^\[Parsed_silencedetect_\d+ @ \w+\] \[info\] silence_(start|end): (-?[\d.e+-]+)", re.MULTILINE)
_LOUDNESS = re.compile(
    r"^\[Parsed_ebur128_\d+ @ \w+\] \[info\] Summary:\s+Integrated loudness:\s+I:\s+(\S+) LUFS", re.M
)
_CHANGE = re.compile(r"\[info\] Reconfiguring filter graph because video parameters changed to [^\n]*?\), (\d+)x(\d+)")
_ADDRESS = re.compile(r" @ 0x[0-9a-f]+|\(nil\)")
_PATH = re.compile(r"file:/[^\n]*")


@dataclass(frozen=True)
class Levels:
    """Levels of the sound, dBFS; None = digital silence. `samples` a channel, as decoded."""

    peaks: tuple[float | None, ...]
    peak: float | None
    rms: float | None
    samples: int
    loudness: float | None
    silence: tuple[Span, ...]


def damage(log: str) -> tuple[str, ...]:
    """Messages that mean damage: errors, and warnings of corrupt packets. Distinct, sorted, without addresses or
    paths, at most 20."""
    found = set()
    resampled_anew = "because audio parameters changed" in log
    for sources, level, text in _MESSAGE.findall(log):
        if level == "warning" and "corrupt" not in text.lower():
            continue
        if resampled_anew and "[s16le @" in sources and "monoton" in text:
            continue  # two resamplers in a row overlap by a few samples: ours, not the file's
        source = _ADDRESS.sub("", sources).strip().rpartition("[")[2].rstrip("]")
        plain = _PATH.sub("the file", _ADDRESS.sub("", text))
        found.add(f"{source}: {plain}"[:200] if source else plain[:200])
    return tuple(sorted(found)[:MOST_MESSAGES])


def size_changes(log: str) -> tuple[tuple[int, int], ...]:
    """Coded sizes (width, height) that the picture changes to in mid-stream, in order, repeats left out."""
    sizes: list[tuple[int, int]] = []
    for width, height in _CHANGE.findall(log):
        if (size := (int(width), int(height))) not in sizes:
            sizes.append(size)
    return tuple(sizes)


def levels(log: str) -> Levels | None:
    """Levels from the messages of astats, silencedetect and ebur128; None when no sample was decoded.

    A sound that changes its parameters in mid-stream is measured in stretches, one summary each: the peak is the
    highest of all, RMS the power mean, loudness that of the longest stretch.
    """
    stretches = [found for part in _stretches(log) if (found := _one(part)) is not None]
    if not stretches:
        return None
    samples = sum(part.samples for part in stretches)
    longest = max(stretches, key=lambda part: part.samples)
    loudness = [_finite(text) for text in _LOUDNESS.findall(log)]
    integrated = loudness[stretches.index(longest)] if len(loudness) == len(stretches) else None
    width = max(len(part.peaks) for part in stretches)
    peaks = tuple(
        _highest([part.peaks[channel] for part in stretches if channel < len(part.peaks)]) for channel in range(width)
    )
    power = sum(10 ** (part.rms / 10) * part.samples for part in stretches if part.rms is not None) / samples
    rms = stretches[0].rms if len(stretches) == 1 else (10 * float(np.log10(power)) if power > 0 else None)
    return Levels(
        peaks=peaks,
        peak=_highest([part.peak for part in stretches]),
        rms=rms,
        samples=samples,
        loudness=None if integrated is None or integrated <= -70 else integrated,
        silence=_silences(log),
    )


def _stretches(log: str) -> list[list[str]]:
    """Lines of astats, one list a summary: a summary begins with its first channel."""
    parts: list[list[str]] = []
    for line in _ASTATS.findall(log):
        if line.strip() == "Channel: 1" or not parts:
            parts.append([])
        parts[-1].append(line)
    return parts


def _one(lines: list[str]) -> Levels | None:
    peaks: list[float | None] = []
    overall: dict[str, float | None] = {}
    in_overall = False
    for line in lines:
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
    return Levels(tuple(peaks), overall.get("Peak level dB"), overall.get("RMS level dB"), samples, None, ())


def _silences(log: str) -> tuple[Span, ...]:
    spans, start = [], None
    for which, text in _SILENCE.findall(log):
        if which == "start":
            start = max(0.0, float(text))
        elif start is not None:
            spans.append(Span(start=round(start, 6), end=round(float(text), 6)))
            start = None
    return tuple(spans)


def _highest(values: list[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
