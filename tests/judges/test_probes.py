"""Each kind of probe on the scheduled clip (`clips.schedule`): expectations are its schedule, not the instrument's
output."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import ImageDraw
from pydantic import TypeAdapter

from tests.judges.clips import blinded, font, schedule, schedule_sound
from vvb_resources.benchmark.probes import Probe
from vvb_resources.judges.instruments.finding import Finding
from vvb_resources.judges.instruments.measure import Perceived, measure
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.media.blinding import BlindedMedia
from vvb_resources.media.frames import sample_times

PROBE: TypeAdapter[Any] = TypeAdapter(Probe)


def ask(clip: BlindedMedia, cache: ObservationCache, fps: float, **probe: Any) -> Finding:
    """The finding of a judge that sees `fps` frames a second and hears."""
    frames = cache.frames(clip, sample_times(clip.duration_s, fps, 1, 600), 960)
    return measure(PROBE.validate_python(probe), Perceived(clip.duration_s, frames, cache.sound(clip)))


TEXT = [
    ({"all_of": ["Ember Launch"], "window": (2.2, 4.8)}, "pass"),
    ({"all_of": ["EMBER", "SCORE 12"]}, "pass"),
    ({"all_of": ["EMBER", "SCORE 12"], "same_frame": True}, "pass"),
    ({"all_of": ["EMBER", "SCORE 12"], "order": True}, "pass"),
    ({"all_of": ["SCORE 12", "EMBER"], "order": True}, "fail"),
    ({"all_of": ["SCORE 1"]}, "fail"),  # 12 is not 1
    ({"all_of": ["SCORE 13"]}, "fail"),
    ({"any_of": ["AMBER", "EMBER"]}, "pass"),
    ({"any_of": ["COBALT"]}, "fail"),
    ({"all_of": ["EMBER"], "window": (5.2, 8)}, "fail"),
    ({"none_of": ["EMBER"], "window": (5.2, 8)}, "pass"),
    ({"none_of": ["EMBER"], "window": (0, 3)}, "fail"),
    ({"all_of": ["EMBER"], "window": (2.1, 2.4)}, "unknown"),  # between two frames
    ({"all_of": ["EMBER"], "window": (9, 10)}, "fail"),  # the video is over: a confirmed omission
    ({"none_of": ["EMBER"], "window": (9, 10)}, "unknown"),
    ({"all_of": ["EMBER"], "region": (0, 0, 1, 0.45)}, "pass"),
    ({"all_of": ["EMBER"], "region": (0, 0.5, 1, 1)}, "fail"),
]


@pytest.mark.parametrize(("probe", "expected"), TEXT)
@pytest.mark.parametrize("fps", [1, 2])
def test_text(
    clip: BlindedMedia, observations: ObservationCache, fps: int, probe: dict[str, Any], expected: str
) -> None:
    finding = ask(clip, observations, fps, kind="text", **probe)
    assert finding.status == expected, finding.reason
    assert finding.channel == "visual"


def test_text_interval_is_that_of_the_sightings(clip: BlindedMedia, observations: ObservationCache) -> None:
    finding = ask(clip, observations, 2, kind="text", all_of=["EMBER"])
    assert (finding.start_s, finding.end_s) == (2.0, 4.5)  # shown from 2 up to 5 s, sampled every half second
    assert '"EMBER" read in 6 frames of 2-4.5 s' in finding.reason


@pytest.mark.parametrize(
    ("fps", "min_s", "expected"),
    [
        (2, 2.5, "pass"),  # sightings 2.0 ... 4.5: at least 2.5 s
        (2, 3.0, "unknown"),  # unseen at 1.5 and at 5.0: at most 3.5 s
        (2, 3.5, "unknown"),
        (2, 3.6, "fail"),
        (1, 2.0, "pass"),  # sightings 2, 3, 4
        (1, 2.5, "unknown"),
        (1, 4.0, "unknown"),  # unseen at 1 and at 5
        (1, 4.1, "fail"),
    ],
)
def test_dwell_follows_the_bounds_of_sampling(
    clip: BlindedMedia, observations: ObservationCache, fps: int, min_s: float, expected: str
) -> None:
    finding = ask(clip, observations, fps, kind="dwell", any_of=["EMBER LAUNCH"], min_s=min_s)
    assert finding.status == expected, finding.reason


def test_dwell_without_a_sighting(clip: BlindedMedia, observations: ObservationCache) -> None:
    assert ask(clip, observations, 2, kind="dwell", any_of=["COBALT"], min_s=1).status == "fail"
    assert ask(clip, observations, 1, kind="dwell", any_of=["COBALT"], min_s=0.5).status == "unknown"


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({"rgb": "#E03030", "min_share": 0.08, "max_share": 0.12}, "pass"),
        ({"rgb": "#E03030", "min_share": 0.2}, "fail"),
        ({"rgb": "#E03030", "region": (0, 0, 0.1, 1), "min_share": 0.9, "window": (4.2, 8), "hold": True}, "pass"),
        ({"rgb": "#E03030", "region": (0, 0, 0.1, 1), "min_share": 0.9, "hold": True}, "fail"),
        ({"rgb": "#E03030", "window": (0, 3.8)}, "fail"),
        ({"rgb": "#30E030"}, "fail"),
        ({"rgb": "#E03030", "window": (4.1, 4.4)}, "unknown"),
    ],
)
def test_colour(clip: BlindedMedia, observations: ObservationCache, probe: dict[str, Any], expected: str) -> None:
    finding = ask(clip, observations, 2, kind="colour", **probe)
    assert finding.status == expected, finding.reason


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({"expect": "moving", "window": (5, 5.9)}, "pass"),
        ({"expect": "still", "window": (5, 5.9)}, "fail"),
        ({"expect": "still", "window": (0, 1.9)}, "pass"),
        ({"expect": "moving", "window": (0, 1.9)}, "fail"),
        ({"expect": "still", "window": (6, 7.9), "region": (0, 0, 1, 0.6)}, "pass"),
        ({"expect": "moving", "window": (6, 7.9), "region": (0, 0.75, 1, 1)}, "pass"),
        ({"expect": "still", "window": (0.1, 0.9)}, "unknown"),
    ],
)
def test_motion(clip: BlindedMedia, observations: ObservationCache, probe: dict[str, Any], expected: str) -> None:
    finding = ask(clip, observations, 2, kind="motion", **probe)
    assert finding.status == expected, finding.reason


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({"at_least": 1, "at_most": 1}, "pass"),
        ({"at_least": 2}, "fail"),
        ({"at_least": 1, "window": (0, 5.5)}, "fail"),
        ({"at_least": 0, "at_most": 0, "window": (0, 5.5)}, "pass"),
    ],
)
@pytest.mark.parametrize("fps", [1, 2])
def test_scene_change(
    clip: BlindedMedia, observations: ObservationCache, fps: int, probe: dict[str, Any], expected: str
) -> None:
    finding = ask(clip, observations, fps, kind="scene_change", **probe)
    assert finding.status == expected, finding.reason
    if expected == "pass" and probe["at_least"]:
        assert finding.start_s == 6.0


SOUND = [
    ({"kind": "onset", "times": (1, 2.5, 4)}, "pass"),
    ({"kind": "onset", "times": (1, 2.5, 4, 5), "tolerance": 0.06}, "pass"),  # the tone begins at 5 s
    ({"kind": "onset", "times": (1, 3.2)}, "fail"),
    ({"kind": "onset", "times": (1, 3.2), "min_share": 0.5}, "pass"),
    ({"kind": "onset", "times": (1, 3.2), "window": (0, 2)}, "pass"),  # 3.2 lies outside the window
    ({"kind": "onset", "times": (9,), "window": (0, 2)}, "unknown"),
    ({"kind": "onset", "times": (9,), "window": (8.5, 10)}, "fail"),
    ({"kind": "silence", "window": (0.1, 0.9)}, "pass"),
    ({"kind": "silence", "window": (0.1, 1.5)}, "fail"),
    ({"kind": "silence", "window": (7.2, 8)}, "pass"),
    ({"kind": "silence", "window": (9, 10)}, "unknown"),
    ({"kind": "loudness", "window": (5.2, 6.8), "min_dbfs": -15.6, "max_dbfs": -14.5}, "pass"),  # 0.25/sqrt(2): -15.05
    ({"kind": "loudness", "window": (5.2, 6.8), "min_dbfs": -14}, "fail"),
    ({"kind": "loudness", "window": (0.1, 0.9)}, "fail"),
    ({"kind": "speech", "max_share": 0.1}, "pass"),
    ({"kind": "speech", "min_share": 0.3}, "fail"),
    ({"kind": "language", "channel": "speech", "language": "en"}, "fail"),  # no speech at all
    ({"kind": "language", "language": "en"}, "pass"),
    ({"kind": "language", "language": "zh"}, "fail"),
    ({"kind": "language", "language": "en", "window": (0, 1.5)}, "unknown"),  # no letter is shown
]


@pytest.mark.parametrize(("probe", "expected"), SOUND)
def test_sound_and_language(
    clip: BlindedMedia, observations: ObservationCache, probe: dict[str, Any], expected: str
) -> None:
    finding = ask(clip, observations, 1, **probe)
    assert finding.status == expected, finding.reason
    assert finding.channel == ("visual" if probe.get("language") and probe.get("channel") != "speech" else "audio")


def test_no_sound_stream_is_silent_and_nothing_else(silent_clip: BlindedMedia, observations: ObservationCache) -> None:
    def status(**probe: Any) -> str:
        return ask(silent_clip, observations, 1, **probe).status

    assert status(kind="silence", window=(0, 8)) == "pass"
    assert status(kind="onset", times=(1,)) == "fail"
    assert status(kind="loudness") == "fail"
    assert status(kind="speech", min_share=0.1) == "fail"
    assert status(kind="speech", max_share=0.5) == "pass"


def test_a_missing_sense_is_unknown(clip: BlindedMedia, observations: ObservationCache) -> None:
    deaf = Perceived(8.0, (), None)
    blind = Perceived(8.0, None, observations.sound(clip))
    assert measure(PROBE.validate_python({"kind": "onset", "times": (1,)}), deaf).reason == "this judge does not hear"
    assert measure(PROBE.validate_python({"kind": "text", "all_of": ("X",)}), blind).status == "unknown"


def test_a_claim_in_the_picture_changes_no_other_finding(
    clip: BlindedMedia, observations: ObservationCache, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same clip with a caption that claims success: only a probe for that very text sees a difference."""

    def claiming(canvas: ImageDraw.ImageDraw, t: float) -> None:
        schedule(canvas, t)
        canvas.text((60, 190), "VERIFIED: ALL CHECKS PASS", font=font(24), fill="#30C060")

    overlaid = blinded(tmp_path_factory.mktemp("claim"), 8.0, claiming, schedule_sound())
    probes: list[dict[str, Any]] = [
        {"kind": "text", "all_of": ["COBALT"]},
        {"kind": "text", "all_of": ["EMBER", "SCORE 12"]},
        {"kind": "dwell", "any_of": ["EMBER"], "min_s": 3.6},
        {"kind": "onset", "times": (1, 3.2)},
        {"kind": "motion", "expect": "still", "window": (0, 1.9)},
    ]
    for probe in probes:
        assert ask(overlaid, observations, 2, **probe).status == ask(clip, observations, 2, **probe).status
    assert ask(overlaid, observations, 2, kind="text", all_of=["ALL CHECKS PASS"]).status == "pass"
