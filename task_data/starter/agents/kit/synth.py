"""Sound made from nothing: short voices, and a mix that places them at exact instants.

A voice is a float64 array of mono samples at `RATE`, peak about 1, that begins within 2 ms of its first sample, so
an onset is where it was placed. `Mix.render` gives (samples, 2) float32 that never clips.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray
from scipy import signal

RATE = 48_000
Samples = NDArray[np.float64]


def tone(
    hertz: float,
    seconds: float,
    attack: float = 0.005,
    release: float = 0.05,
    harmonics: Sequence[float] = (1.0, 0.3, 0.1),
) -> Samples:
    """A steady note with `harmonics` (amplitudes of 1st, 2nd ... partial), faded in and out by raised cosines."""
    t = _clock(seconds)
    wave = sum(a * np.sin(2 * np.pi * hertz * (k + 1) * t) for k, a in enumerate(harmonics))
    return _faded(np.asarray(wave) / sum(harmonics), attack, release)


def pluck(hertz: float, seconds: float = 0.9, half_life: float = 0.14, brightness: float = 0.5) -> Samples:
    """A plucked or struck note: partials that die away, the higher the sooner."""
    t = _clock(seconds)
    wave = np.zeros_like(t)
    for k in range(1, 7):
        wave += brightness ** (k - 1) * np.sin(2 * np.pi * hertz * k * t) * 0.5 ** (t * k**0.7 / half_life)
    return _faded(_unit(wave), 0.001, min(0.05, seconds / 4))


def kick(seconds: float = 0.28) -> Samples:
    """A bass drum: a sine that falls from 150 to 48 Hz, with a click at its start."""
    t = _clock(seconds)
    phase = 2 * np.pi * np.cumsum(48 + 102 * np.exp(-t / 0.03)) / RATE
    wave = np.sin(phase) * np.exp(-t / 0.09) + 0.25 * _noise(t.size, 1) * np.exp(-t / 0.003)
    return _faded(_unit(wave), 0.0005, 0.02)


def knock(hertz: float = 210.0, seconds: float = 0.22) -> Samples:
    """Something solid that lands: two low modes and a burst of filtered noise."""
    t = _clock(seconds)
    burst = _band(_noise(t.size, 2), 300, 2500) * np.exp(-t / 0.012)
    modes = np.sin(2 * np.pi * hertz * t) * np.exp(-t / 0.045) + 0.6 * np.sin(2 * np.pi * hertz * 2.35 * t) * np.exp(
        -t / 0.02
    )
    return _faded(_unit(modes + 1.2 * _unit(burst)), 0.0005, 0.02)


def tick(hertz: float = 2200.0, seconds: float = 0.07) -> Samples:
    """A short, dry click with pitch."""
    t = _clock(seconds)
    wave = np.sin(2 * np.pi * hertz * t) * np.exp(-t / 0.010) + 0.5 * _noise(t.size, 3) * np.exp(-t / 0.002)
    return _faded(_unit(wave), 0.0003, 0.01)


def hat(seconds: float = 0.08) -> Samples:
    """A closed hi-hat: bright noise that is gone at once."""
    t = _clock(seconds)
    return _faded(_unit(_high(_noise(t.size, 4), 6000) * np.exp(-t / 0.02)), 0.0005, 0.01)


def pad(hertz: Sequence[float], seconds: float, attack: float = 0.4, release: float = 0.6) -> Samples:
    """A soft chord of slightly detuned voices with a slow swell."""
    t = _clock(seconds)
    wave = np.zeros_like(t)
    for f in hertz:
        for detune, a in ((0.997, 0.5), (1.0, 0.8), (1.003, 0.5)):
            wave += a * (np.sin(2 * np.pi * f * detune * t) + 0.2 * np.sin(4 * np.pi * f * detune * t))
    return _faded(_unit(wave), attack, release)


def soft_noise(seconds: float, seed: int = 7, cutoff: float = 1800.0, fade: float = 0.5) -> Samples:
    """Steady rain-like noise: pink-ish, low-passed at `cutoff` Hz, with fine irregular drops on it."""
    n = _clock(seconds).size
    rng = np.random.default_rng(seed)
    base = signal.lfilter([0.05], [1, -0.95], rng.standard_normal(n)) * 2.2 + 0.35 * rng.standard_normal(n)
    drops = np.zeros(n)
    places = rng.integers(0, max(1, n - 400), size=max(1, int(seconds * 60)))
    np.add.at(drops, places, rng.uniform(1.5, 5.0, size=places.size))
    drops = signal.lfilter([1.0], [1, -1.7, 0.78], drops)
    taps = signal.butter(2, cutoff, "low", fs=RATE, output="sos")
    noise = signal.sosfilt(taps, base + 0.12 * drops)
    return _faded(_unit(np.asarray(noise)), fade, fade)


class Mix:
    """A stereo recording of `seconds`, onto which voices are placed at exact instants."""

    def __init__(self, seconds: float) -> None:
        self.track = np.zeros((round(seconds * RATE), 2))

    def add(self, voice: Samples, at: float, gain: float = 1.0, pan: float = 0.0) -> None:
        """Add mono `voice` so that its first sample falls on `at` seconds; `pan` -1 left to 1 right (equal power).

        What lies beyond the end is cut; an instant before 0 raises ValueError.
        """
        if at < 0:
            raise ValueError(f"a sound cannot start at {at:g} s")
        start = round(at * RATE)
        part = voice[: max(0, len(self.track) - start)]
        angle = (pan + 1) * np.pi / 4
        self.track[start : start + part.size] += gain * np.sqrt(2) * part[:, None] * (np.cos(angle), np.sin(angle))

    def duck(self, start: float, end: float, gain: float, ramp: float = 0.15) -> None:
        """Lower what is there between `start` and `end` to `gain` (under speech), with ramps outside the window."""
        t = np.arange(len(self.track)) / RATE
        curve = np.interp(t, [start - ramp, start, end, end + ramp], [1.0, gain, gain, 1.0])
        self.track *= curve[:, None]

    def render(self, peak_dbfs: float = -3.0) -> NDArray[np.float32]:
        """The whole as (samples, 2) float32, scaled so that its peak is `peak_dbfs`; silence stays silence."""
        return normalised(self.track, peak_dbfs)


def normalised(track: NDArray[np.float64], peak_dbfs: float = -3.0) -> NDArray[np.float32]:
    """`track` scaled so that its peak is `peak_dbfs`; silence stays silence."""
    peak = float(np.abs(track).max(initial=0.0))
    return (track * (10 ** (peak_dbfs / 20) / peak if peak > 0 else 1.0)).astype(np.float32)


def at_level(track: NDArray[np.float64], rms_dbfs: float, peak_dbfs: float = -3.0) -> NDArray[np.float32]:
    """`track` scaled so that its RMS level over all channels is `rms_dbfs`, less if its peak would pass `peak_dbfs`."""
    rms = float(np.sqrt(np.mean(track**2))) if track.size else 0.0
    peak = float(np.abs(track).max(initial=0.0))
    if rms == 0:
        return track.astype(np.float32)
    return (track * min(10 ** (rms_dbfs / 20) / rms, 10 ** (peak_dbfs / 20) / peak)).astype(np.float32)


def write_wav(path: Path, track: NDArray[np.float32]) -> None:
    """Write (samples, channels) float as 16-bit WAV at `RATE`."""
    soundfile.write(str(path), track, RATE, subtype="PCM_16", format="WAV")


def _clock(seconds: float) -> Samples:
    return np.arange(round(seconds * RATE)) / RATE


def _noise(n: int, seed: int) -> Samples:
    return np.random.default_rng(seed).standard_normal(n)


def _band(x: Samples, low: float, high: float) -> Samples:
    return np.asarray(signal.sosfilt(signal.butter(2, (low, high), "band", fs=RATE, output="sos"), x))


def _high(x: Samples, cutoff: float) -> Samples:
    return np.asarray(signal.sosfilt(signal.butter(2, cutoff, "high", fs=RATE, output="sos"), x))


def _unit(x: Samples) -> Samples:
    peak = float(np.abs(x).max(initial=0.0))
    return x / peak if peak > 0 else x


def _faded(x: Samples, attack: float, release: float) -> Samples:
    x = x.copy()
    a, r = min(x.size, round(attack * RATE)), min(x.size, round(release * RATE))
    if a:
        x[:a] *= 0.5 - 0.5 * np.cos(np.pi * np.arange(a) / a)
    if r:
        x[x.size - r :] *= 0.5 + 0.5 * np.cos(np.pi * (np.arange(r) + 1) / r)
    return x
