"""One pass over a video's sound: level in short blocks, onsets, speech."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vvb_resources.media.sound import mix_down, read_sound
from vvb_resources.media.speech import video_speech

SOUND_VERSION = "1"
RATE = 22_050
BLOCK = 220
"""Samples of a level block: 10 ms, so that a window's edge is off by at most that."""
HOP = 256
"""Samples between two values of the onset envelope: 11.6 ms."""
MIN_STRENGTH = 1.2
"""Mean rise over the mel bands, dB, below which an onset is a flicker of noise: white noise reaches 0.9, a click in
noise 1.4 or more, in silence over 10."""
SILENCE_DBFS = -120.0

_importing = threading.Lock()  # librosa loads its parts when first used, which two threads must not do at once


@dataclass(frozen=True)
class SoundFacts:
    """What was heard. `peak`, `power`: by block, loudest channel's peak and mean power over channels, full scale = 1.

    `onsets` and `speech` in seconds; `clipped`: share of samples at full scale. No sound stream: `present` is False and
    everything is empty.
    """

    present: bool
    duration_s: float
    peak: NDArray[np.float64]
    power: NDArray[np.float64]
    onsets: tuple[float, ...]
    speech: tuple[tuple[float, float], ...]
    clipped: float

    @property
    def block_s(self) -> float:
        """Seconds of a block."""
        return BLOCK / RATE

    def blocks(self, start_s: float, end_s: float) -> slice:
        """The blocks wholly inside [start_s, end_s]."""
        first = int(np.ceil(start_s / self.block_s - 1e-6))
        return slice(max(0, first), max(0, int(np.floor(end_s / self.block_s + 1e-6))))

    def peak_dbfs(self, start_s: float, end_s: float) -> float:
        """Peak in a window, dBFS, not below -120."""
        return decibel(float(np.max(self.peak[self.blocks(start_s, end_s)], initial=0.0)))

    def rms_dbfs(self, start_s: float, end_s: float) -> float:
        """RMS level in a window, dBFS, not below -120."""
        part = self.power[self.blocks(start_s, end_s)]
        return decibel(float(np.sqrt(part.mean())) if part.size else 0.0)

    def speech_share(self, start_s: float, end_s: float) -> float:
        """Share of a window covered by speech."""
        covered = sum(max(0.0, min(end, end_s) - max(start, start_s)) for start, end in self.speech)
        return covered / (end_s - start_s) if end_s > start_s else 0.0

    def to_json(self) -> dict[str, Any]:
        """For the cache: levels to seven digits."""
        return {
            "present": self.present,
            "duration_s": self.duration_s,
            "peak": [float(f"{v:.7g}") for v in self.peak],
            "power": [float(f"{v:.7g}") for v in self.power],
            "onsets": self.onsets,
            "speech": self.speech,
            "clipped": self.clipped,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Back from the cache."""
        return cls(
            value["present"],
            value["duration_s"],
            np.array(value["peak"], np.float64),
            np.array(value["power"], np.float64),
            tuple(value["onsets"]),
            tuple((start, end) for start, end in value["speech"]),
            value["clipped"],
        )


def decibel(amplitude: float) -> float:
    """dBFS of an amplitude (full scale = 1), floored at -120: digital silence has no logarithm."""
    return max(SILENCE_DBFS, 20 * float(np.log10(amplitude))) if amplitude > 0 else SILENCE_DBFS


def pass_sound(video: Path, has_audio: bool) -> SoundFacts:
    """Observe the sound of `video`."""
    if not has_audio:
        return SoundFacts(False, 0.0, np.zeros(0), np.zeros(0), (), (), 0.0)
    sound = read_sound(video, RATE, False)
    count = sound.shape[1] // BLOCK
    blocks = sound[:, : count * BLOCK].reshape(sound.shape[0], count, BLOCK).astype(np.float64)
    return SoundFacts(
        present=True,
        duration_s=sound.shape[1] / RATE,
        peak=np.abs(blocks).max(axis=(0, 2), initial=0.0),
        power=(blocks**2).mean(axis=(0, 2)) if count else np.zeros(0),
        onsets=find_onsets(mix_down(sound)[0]),
        speech=tuple((span.start, span.end) for span in video_speech(video)),
        clipped=round(float((np.abs(sound) >= 0.999).mean()), 7) if sound.size else 0.0,
    )


def find_onsets(mono: NDArray[np.float32]) -> tuple[float, ...]:
    """Seconds at which a sound begins (librosa's spectral flux, peaks of at least `MIN_STRENGTH`)."""
    if mono.size < 2048 or float(np.abs(mono).max()) < 1e-4:
        return ()
    with _importing:
        import librosa

    # Half a second of silence before the start lets a sound at instant 0 have its rise.
    lead = RATE // 2
    padded = np.concatenate([np.zeros(lead, np.float32), mono])
    envelope = librosa.onset.onset_strength(y=padded, sr=RATE, hop_length=HOP)
    frames = librosa.onset.onset_detect(onset_envelope=envelope, sr=RATE, hop_length=HOP)
    # The envelope peaks one hop after the attack entered the analysis window's centre.
    return tuple(
        round(max(0.0, (int(frame) * HOP - lead) / RATE), 3) for frame in frames if envelope[frame] >= MIN_STRENGTH
    )
