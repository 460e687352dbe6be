"""Where there is speech: voice activity detection with the Silero model that faster-whisper carries (no download)."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vvb_resources.media.facts import Span, SpeechFacts
from vvb_resources.media.sound import read_sound

RATE = 16_000
THRESHOLD = 0.5
MIN_SPEECH_MS = 250
MIN_SILENCE_MS = 300
PAD_MS = 50
PART = RATE * 180


def speech_segments(pcm: NDArray[np.float32]) -> tuple[Span, ...]:
    """Stretches of speech in `pcm` (mono, 16 kHz, shape (n,)), seconds. Raises ImportError without faster-whisper.

    Three minutes are heard at once, so that memory does not grow with length; stretches that a cut between two parts
    divides are joined again.
    """
    spans: list[Span] = []
    for at in range(0, pcm.size, PART):
        for span in _heard(pcm[at : at + PART], at / RATE):
            if spans and at and span.start - spans[-1].end < MIN_SILENCE_MS / 1000 and spans[-1].end <= at / RATE:
                spans[-1] = Span(start=spans[-1].start, end=span.end)
            else:
                spans.append(span)
    return tuple(spans)


def _heard(pcm: NDArray[np.float32], offset_s: float) -> list[Span]:
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    if pcm.size < RATE // 10:
        return []
    options = VadOptions(
        threshold=THRESHOLD,
        min_speech_duration_ms=MIN_SPEECH_MS,
        min_silence_duration_ms=MIN_SILENCE_MS,
        speech_pad_ms=PAD_MS,
    )
    found = get_speech_timestamps(np.ascontiguousarray(pcm, dtype=np.float32), options, sampling_rate=RATE)
    length = len(pcm) / RATE
    return [
        Span(start=round(offset_s + s["start"] / RATE, 3), end=round(offset_s + min(s["end"] / RATE, length), 3))
        for s in found
    ]


def video_speech(video: Path) -> tuple[Span, ...]:
    """Stretches of speech in a video's first audio stream, seconds; empty without sound."""
    pcm = read_sound(video, RATE, mono=True)
    return speech_segments(pcm[0]) if pcm.size else ()


def speech_facts(pcm: NDArray[np.float32], duration_s: float) -> SpeechFacts:
    """Share of `duration_s` covered by speech and the longest gap, from 16 kHz mono `pcm`.

    Without the engine the facts are unmeasured, with the reason.
    """
    try:
        segments = speech_segments(pcm)
        engine = f"faster-whisper {importlib.metadata.version('faster-whisper')} (Silero VAD)"
    except ImportError as error:
        return SpeechFacts(measured=False, reason=f"no voice activity detection: {error}")
    return coverage(segments, duration_s, engine)


def coverage(segments: tuple[Span, ...], duration_s: float, engine: str) -> SpeechFacts:
    """Facts of `segments` in a video of `duration_s`. Before the first and after the last are gaps too."""
    clipped = [(max(0.0, s.start), min(s.end, duration_s)) for s in segments if s.start < duration_s]
    spoken = sum(end - start for start, end in clipped)
    edges = [0.0, *(edge for pair in clipped for edge in pair), duration_s]
    gaps = [edges[at + 1] - edges[at] for at in range(0, len(edges), 2)]
    return SpeechFacts(
        measured=True,
        engine=engine,
        segments=segments,
        share=round(min(1.0, spoken / duration_s), 6) if duration_s > 0 else 0.0,
        longest_gap_s=round(max(0.0, *gaps), 3),
    )
