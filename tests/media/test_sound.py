"""Decoded sound: levels, channels, clock; speech and its language."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.media.clips import make_clip, remux
from vvb_resources.media.facts import Span
from vvb_resources.media.language import language_facts, speech_windows
from vvb_resources.media.sound import FLOOR_DBFS, peak_dbfs, read_sound, rms_dbfs
from vvb_resources.media.speech import coverage, speech_segments

ALAC = ("-c:a", "alac")
TONE_HALF = "aevalsrc='0.5*sin(2*PI*440*t)':s=48000:d={seconds}"


def test_level_of_a_sine(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "a.mp4", sound=TONE_HALF, audio_codec=ALAC)
    pcm = read_sound(clip, 48_000)
    assert (pcm.shape, pcm.dtype) == ((1, 48_000), np.float32)
    assert peak_dbfs(pcm) == pytest.approx(-6.02, abs=0.01)
    assert rms_dbfs(pcm) == pytest.approx(-9.03, abs=0.01)
    assert read_sound(clip, 16_000).shape == (1, 16_000)


def test_silence_and_no_sound(tmp_path: Path) -> None:
    none = read_sound(make_clip(tmp_path / "a.mp4", sound=None))
    assert none.shape == (0, 0)
    assert peak_dbfs(none) == rms_dbfs(np.zeros((2, 9), dtype=np.float32)) == FLOOR_DBFS


def test_antiphase_is_not_silence(tmp_path: Path) -> None:
    anti = "aevalsrc='0.5*sin(2*PI*440*t)|-0.5*sin(2*PI*440*t)':s=48000:d={seconds}"
    clip = make_clip(tmp_path / "a.mp4", sound=anti, audio_codec=ALAC)
    assert read_sound(clip, 48_000, mono=False).shape == (2, 48_000)
    assert peak_dbfs(read_sound(clip, 48_000, mono=True)) == pytest.approx(-6.02, abs=0.05)


def test_one_channel_of_two_is_halved(tmp_path: Path) -> None:
    left = "aevalsrc='0.5*sin(2*PI*440*t)|0':s=48000:d={seconds}"
    clip = make_clip(tmp_path / "a.mp4", sound=left, audio_codec=ALAC)
    assert peak_dbfs(read_sound(clip, 48_000, mono=True)) == pytest.approx(-12.04, abs=0.05)


def test_late_sound_starts_late(tmp_path: Path) -> None:
    picture = make_clip(tmp_path / "v.mp4", sound=None, seconds="2")
    tone = make_clip(tmp_path / "a.mp4", picture=None, sound=TONE_HALF, audio_codec=ALAC)
    late = ["-itsoffset", "0.5", "-i", f"file:{tone}", "-map", "0:v", "-map", "1:a"]
    pcm = read_sound(remux(picture, tmp_path / "late.mp4", *late), 16_000)[0]
    assert len(pcm) == pytest.approx(24_000, abs=64)
    assert float(np.abs(pcm[:7_900]).max()) == 0.0
    assert float(np.abs(pcm[8_100:9_000]).max()) > 0.4


def test_speech_share_and_gaps() -> None:
    facts = coverage((Span(start=2, end=5), Span(start=7, end=9)), 20.0, "by hand")
    assert (facts.share, facts.longest_gap_s) == (0.25, 11.0)
    assert coverage((), 12.0, "by hand").longest_gap_s == 12.0
    assert coverage((Span(start=0, end=30),), 12.0, "by hand").share == 1.0


@pytest.mark.parametrize("kind", ["silence", "music", "beeps"])
def test_what_is_not_speech(kind: str) -> None:
    seconds = np.arange(16_000 * 6) / 16_000
    chord = np.sum([0.1 * np.sin(2 * np.pi * f * seconds) for f in (220.0, 277.2, 329.6)], axis=0)
    beeps = 0.3 * np.sin(2 * np.pi * 1000 * seconds) * (np.floor(seconds * 4) % 2)
    pcm = {"silence": np.zeros_like(seconds), "music": chord, "beeps": beeps}[kind]
    assert speech_segments(pcm.astype(np.float32)) == ()


class Listener:
    """A model that calls loud windows English and others undecided Welsh."""

    name = "listener"

    def __init__(self) -> None:
        self.heard: list[int] = []

    def detect(self, pcm: NDArray[np.float32]) -> tuple[str, float]:
        self.heard.append(len(pcm))
        return ("en", 0.9) if float(np.abs(pcm).mean()) > 0.5 else ("cy", 0.2)


def test_windows_hold_speech_only() -> None:
    model = Listener()
    pcm = np.zeros(16_000 * 50, dtype=np.float32)
    pcm[16_000 * 5 : 16_000 * 35] = 1.0
    facts = language_facts(pcm, (Span(start=5, end=35), Span(start=40, end=45)), model)
    assert model.heard == [480_000, 80_000]
    assert [(w.start, w.end, w.language, w.p) for w in facts.windows] == [(5, 35, "en", 0.9), (40, 45, "cy", 0.2)]
    assert facts.engine == "listener"


def test_long_segments_are_cut_and_scraps_left_out() -> None:
    groups = speech_windows((Span(start=0, end=20), Span(start=21, end=61.5)))
    spoken = [sum(span.end - span.start for span in group) for group in groups]
    assert spoken == pytest.approx([30.0, 30.0])
    assert groups[0] == (Span(start=0, end=20), Span(start=21, end=31))


def test_a_missing_model_is_unmeasured_with_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VVB_WHISPER_MODEL", raising=False)
    pcm, spoken = np.zeros(16_000, dtype=np.float32), (Span(start=0, end=1),)
    facts = language_facts(pcm, spoken)
    assert (facts.measured, facts.windows) == (False, ())
    assert "VVB_WHISPER_MODEL" in str(facts.reason)
    monkeypatch.setenv("VVB_WHISPER_MODEL", str(tmp_path))
    broken = language_facts(pcm, spoken)
    assert broken.measured is False
    assert "cannot be loaded" in str(broken.reason)
    assert language_facts(pcm, ()).measured is True
