"""Speech through the sandbox's `tts` program."""

from __future__ import annotations

import subprocess
from math import gcd
from pathlib import Path

import numpy as np
import soundfile
from scipy import signal

from kit.synth import RATE, Samples


def say(text: str, folder: Path, voice: str = "en", words_per_minute: int = 165) -> Samples:
    """`text` spoken, as mono samples at `RATE` without leading or trailing silence, peak 1.

    `folder` takes the WAV file that `tts` writes. Raises RuntimeError with the program's message when it fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"line{len(list(folder.glob('line*.wav'))):02d}.wav"
    command = ["tts", "--voice", voice, "--speed", str(words_per_minute), text, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not path.exists():
        raise RuntimeError(f"tts ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    samples, rate = soundfile.read(str(path), dtype="float64", always_2d=True)
    mono = trimmed(samples.mean(axis=1))
    common = gcd(RATE, rate)
    spoken = np.asarray(signal.resample_poly(mono, RATE // common, rate // common))
    return spoken / max(1e-9, float(np.abs(spoken).max(initial=0.0)))


def trimmed(samples: Samples, floor: float = 0.01) -> Samples:
    """`samples` without the stretch before and after the first and last one above `floor` of the peak."""
    loud = np.flatnonzero(np.abs(samples) > floor * np.abs(samples).max(initial=0.0))
    return samples[loud[0] : loud[-1] + 1] if loud.size else samples[:0]
