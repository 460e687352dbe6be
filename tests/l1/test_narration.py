"""Narration, from the file to the verdict, heard by a real multilingual model: espeak-ng's speech, music, beeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.l1.test_report import spec
from tests.media.speaking import Pcm, beeps, music, narrated, pause, speech, under, whisper_model
from vvb_assets.l1.report import l1_report
from vvb_resources.benchmark.models import L1Limits
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.measure import measure

pytestmark = pytest.mark.xdist_group("narration")  # one worker loads the model once


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whisper_model(tmp_path_factory.mktemp("whisper"))


def heard(pcm: Pcm, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("VVB_WHISPER_MODEL", str(model))
    clip = narrated(tmp_path / "clip.mp4", pcm)
    lesson = spec(64, 48, len(pcm) / 16_000, None, "lesson")
    checks = l1_report(clip, lesson, L1Limits(), tmp_path)["checks"]
    assert checks["narration_coverage"]["applies"]
    assert checks["narration_language"]["applies"]
    return {name.removeprefix("narration_"): checks[name] for name in ("narration_coverage", "narration_language")}


def english() -> Pcm:
    return speech("en")


def of_share(share: float) -> Pcm:
    """English between two pauses, so that speech fills `share` of the whole; no pause is longer than 20 s."""
    spoken = english()
    silent = len(spoken) / 16_000 * (1 / share - 1)
    return np.concatenate([pause(silent / 2), spoken, pause(silent / 2)])


CASES = {
    "english": (english, "pass", "pass"),
    "under music at -10 dB": (lambda: under(english(), music(30), -10), "pass", "pass"),
    "under music at -20 dB": (lambda: under(english(), music(30), -20), "pass", "pass"),
    "music alone": (lambda: music(20), "fail", "na"),
    "silence": (lambda: pause(20), "fail", "na"),
    "beeps": (lambda: beeps(20), "fail", "na"),
    "45.8% speech": (lambda: of_share(0.458), "fail", "pass"),
    "a gap of 25 s": (lambda: np.concatenate([english(), pause(25), english()]), "fail", "pass"),
    "spanish": (lambda: speech("es"), "pass", "fail"),
    "one half spanish": (lambda: np.concatenate([english(), speech("es"), speech("es")]), "pass", "fail"),
}


@pytest.mark.parametrize("name", CASES)
def test_narration(name: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, coverage, language = CASES[name]
    found = heard(make(), model, tmp_path, monkeypatch)
    verdicts = {check: outcome["verdict"] for check, outcome in found.items()}
    assert verdicts == {"coverage": coverage, "language": language}, found


def test_the_share_and_the_gap_are_those_that_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VVB_WHISPER_MODEL", raising=False)
    clip = narrated(tmp_path / "clip.mp4", of_share(0.458))
    found = measure(find_delivery(clip), tmp_path).speech
    assert found is not None
    # Pauses between sentences are shorter than 0.3 s but for a few: speech is all of the spoken part but 6% at most.
    assert 0.458 * 0.94 <= (found.share or 0.0) <= 0.458 * 1.01
    assert found.longest_gap_s == pytest.approx(len(english()) / 16_000 * (1 / 0.458 - 1) / 2, abs=0.3)


def test_without_a_model_the_language_is_unmeasured_and_never_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VVB_WHISPER_MODEL", raising=False)
    pcm = english()
    report = l1_report(
        narrated(tmp_path / "clip.mp4", pcm), spec(64, 48, len(pcm) / 16_000, None, "lesson"), L1Limits(), tmp_path
    )
    assert report["checks"]["narration_coverage"]["verdict"] == "pass"
    assert report["checks"]["narration_language"]["verdict"] == "unmeasured"
    assert "VVB_WHISPER_MODEL" in report["checks"]["narration_language"]["why"]
    assert report["passed"] is None
