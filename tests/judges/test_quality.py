"""L3 proxies: monotone, null where nothing is measurable, silence by the task's audio policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judges.shapes import make_spec
from vvb_resources.benchmark.models import AudioPolicy
from vvb_resources.judges.instruments.frames_pass import FrameFacts
from vvb_resources.judges.instruments.ocr import TextLine
from vvb_resources.judges.instruments.quality import Measured, ramp, score_dimension
from vvb_resources.judges.instruments.sound_pass import SoundFacts

POLICY = make_spec().audio
UNUSED = {"narration": "not_used", "music": "not_used", "effects": "not_used", "ambience": "not_used"}


def frame(t: float, lines: tuple[TextLine, ...] = (), level: int = 100, sharpness: float = 40.0) -> FrameFacts:
    thumb = np.full((27, 48, 3), level, np.uint8)
    thumb[:9] = 20
    return FrameFacts(t, lines, thumb, sharpness, 0.05)


def sound_of(amplitude: float, seconds: float = 4.0, **kwargs: Any) -> SoundFacts:
    count = round(seconds * 22_050 / 220)
    levels = np.full(count, amplitude)
    return SoundFacts(True, seconds, levels, levels**2 / 2, (), kwargs.get("speech", ()), kwargs.get("clipped", 0.0))


NO_SOUND = SoundFacts(False, 0.0, np.zeros(0), np.zeros(0), (), (), 0.0)


def score(dim: str, audio: AudioPolicy = POLICY, **kwargs: Any) -> int | None:
    parts: dict[str, Any] = {"frames": None, "sound": None, "text_findings": ()} | kwargs
    return score_dimension(dim, Measured(duration_s=4.0, audio=audio, **parts)).score


def test_nothing_measured_is_null_never_three() -> None:
    assert [score(dim) for dim in ("VQ", "VA", "CL", "TM", "AQ")] == [None] * 5
    assert score("CL", text_findings=("unknown", "unknown")) is None


@pytest.mark.parametrize(("passed", "expected"), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
def test_content_logic_is_the_share_of_text_probes(passed: int, expected: int) -> None:
    findings = ["pass"] * passed + ["fail"] * (4 - passed) + ["unknown"]
    assert score("CL", text_findings=findings) == expected


def test_silence_is_judged_by_the_audio_policy() -> None:
    silent = AudioPolicy.model_validate(UNUSED)
    optional = AudioPolicy.model_validate(UNUSED | {"music": "optional"})
    assert score("AQ", POLICY, sound=NO_SOUND) == 1  # effects are required
    assert score("AQ", silent, sound=NO_SOUND) == 5  # silence is what was asked
    assert score("AQ", optional, sound=NO_SOUND) is None  # nothing to assess
    assert score("AQ", silent, sound=sound_of(0.2)) == 2  # sound where none belongs
    assert score("AQ", POLICY, sound=sound_of(0.001)) == 1  # -60 dBFS is not audible


def test_audio_level_and_clipping() -> None:
    assert score("AQ", sound=sound_of(0.2)) == 5  # -17 dBFS, nothing clipped
    assert score("AQ", sound=sound_of(0.2, clipped=0.01)) == 3  # one of two measures at worst
    narrated = AudioPolicy.model_validate(UNUSED | {"narration": "required"})
    assert score("AQ", narrated, sound=sound_of(0.2, speech=((0.0, 2.0),))) == 5
    assert score("AQ", narrated, sound=sound_of(0.2)) == 4  # two good measures, no speech


def test_timing_prefers_movement_to_a_still() -> None:
    still = [frame(t * 0.5) for t in range(8)]
    moving = [frame(t * 0.5, level=100 + 40 * (t % 2)) for t in range(8)]
    assert score("TM", frames=still) == 1
    assert score("TM", frames=moving) == 5


def test_visual_quality_falls_with_misread_small_text() -> None:
    good = TextLine("EMBER", 0.99, (0.1, 0.1, 0.5, 0.2))
    poor = TextLine("EMBER", 0.6, (0.1, 0.1, 0.5, 0.115))
    assert score("VQ", frames=[frame(0, (good,), sharpness=80)]) == 5
    assert score("VQ", frames=[frame(0, (poor,), sharpness=80)]) == 3


def test_a_ring_read_as_a_letter_is_no_text() -> None:
    ring = TextLine("O", 0.5, (0.1, 0.0, 0.9, 0.95))
    found = score_dimension("VQ", Measured(4.0, [frame(0, (ring,))], None, (), POLICY))
    assert "text" not in found.reason


def test_dwell_of_text_is_the_middle_of_its_bounds() -> None:
    line = TextLine("EMBER", 0.99, (0.1, 0.1, 0.5, 0.2))
    frames = [frame(t * 0.5, (line,) if 2 <= t <= 4 else ()) for t in range(8)]  # seen at 1, 1.5 and 2 s
    found = score_dimension("TM", Measured(4.0, frames, None, (), POLICY))
    assert "dwell of text: median 1.5 s" in found.reason  # between 1 and 2 s


@given(st.floats(0.5, 1.0), st.floats(0.5, 1.0), st.floats(0.01, 0.2), st.floats(0, 120))
def test_more_legible_never_scores_lower(a: float, b: float, height: float, sharpness: float) -> None:
    low, high = sorted((a, b))
    scores = [
        score("VQ", frames=[frame(0, (TextLine("EMBER", c, (0, 0, 0.5, height)),), sharpness=sharpness)])
        for c in (low, high)
    ]
    assert scores[0] is not None
    assert scores[1] is not None
    assert 1 <= scores[0] <= scores[1] <= 5


def test_ramp_runs_both_ways() -> None:
    assert [ramp(v, 0.0, 2.0) for v in (-1, 0, 1, 2, 3)] == [0, 0, 0.5, 1, 1]
    assert [ramp(v, 0.5, 0.0) for v in (0, 0.25, 0.5)] == [1, 0.5, 0]


def test_reasons_say_proxy_and_name_the_nearer_anchor() -> None:
    found = score_dimension("CL", Measured(4.0, None, None, ("pass", "fail", "fail", "fail"), POLICY))
    assert found.score == 2
    assert found.reason.startswith("Proxy, closer to ")
