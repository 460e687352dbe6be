"""L1 verdicts from facts: each check both ways, its edges, and what counts for whom."""

from __future__ import annotations

from typing import Any

import pytest

from vvb_assets.l1.checks import CHECKS, L1Result, applicable, check_l1
from vvb_resources.benchmark.models import L1Limits, TaskFacts
from vvb_resources.media.facts import (
    ContainerFacts,
    DecodeFacts,
    DeliveryFacts,
    LanguageFacts,
    LanguageWindow,
    MediaFacts,
    PictureFacts,
    SoundFacts,
    SpeechFacts,
    StreamFacts,
    TimingFacts,
    VideoFacts,
)


def task(kind: str = "core", **changes: Any) -> TaskFacts:
    delivery = {"width": 320, "height": 180, "fps": 30, "duration": {"min": 5, "max": 6}, "frames": 150}
    audio: dict[str, Any] = {
        "narration": "optional",
        "music": "optional",
        "effects": "required",
        "ambience": "not_used",
    }
    if kind != "core":
        del delivery["frames"]
        audio["narration"] = "required"
    delivery.update(changes.pop("delivery", {}))
    audio.update(changes.pop("audio", {}))
    return TaskFacts.model_validate(
        {"id": "T", "kind": kind, "language": "en", "delivery": delivery, "audio": audio, **changes}
    )


GOOD = MediaFacts(
    digest="0" * 32,
    delivery=DeliveryFacts(video="video.mp4", fault=None, project=True, timing=True, notes=True),
    container=ContainerFacts(sound=True, fault=None, message="", size_bytes=1000, major_brand="isom"),
    streams=StreamFacts(video=1, audio=1, attached_pictures=0, others=0),
    video=VideoFacts(
        codec="h264",
        profile="High",
        pix_fmt="yuv420p",
        coded_width=320,
        coded_height=180,
        sar="1/1",
        rotation=0,
        width=320,
        height=180,
        time_base="1/15360",
        header_frames=150,
        header_fps="30/1",
    ),
    timing=TimingFacts(frames=150, constant=True, fps="30/1", fps_value=30.0, start="0/1", end="5/1"),
    decode=DecodeFacts(ok=True),
    picture=PictureFacts(
        black=(),
        longest_black_s=2.0,
        frozen=(),
        longest_frozen_s=8.0,
        luma_mean=100,
        luma_contrast=40,
        motion_share=0.1,
        scene_changes=1,
    ),
    sound=SoundFacts(
        codec="aac",
        rate=48_000,
        channels=1,
        layout="mono",
        start="0/1",
        end="5/1",
        peaks_dbfs=(-49.885,),
        peak_dbfs=-49.885,
        rms_dbfs=-55,
        silent=False,
        loudness_lufs=None,
        silence=(),
    ),
    speech=SpeechFacts(measured=True, engine="x", segments=({"start": 0, "end": 2.5},), share=0.5, longest_gap_s=20.0),
    language=LanguageFacts(
        measured=True,
        engine="x",
        windows=tuple(LanguageWindow(start=0, end=1, language="en" if at else "de", p=0.5) for at in range(10)),
    ),
    duration="5/1",
    duration_s=5.0,
)
EMPTY = GOOD.model_copy(
    update={
        **dict.fromkeys(("streams", "video", "timing", "picture", "sound", "speech", "language", "duration")),
        "duration_s": None,
        "decode": DecodeFacts(ok=False, errors=("no ftyp box",)),
        "container": ContainerFacts(sound=False, fault="not_mp4", message="no ftyp box", size_bytes=9),
    }
)


def judged(facts: MediaFacts = GOOD, spec: TaskFacts | None = None, **limits: float) -> L1Result:
    return check_l1(facts, spec or task(), L1Limits(**limits))


def verdict(name: str, part: str | None = None, spec: TaskFacts | None = None, **changes: Any) -> str:
    facts = GOOD
    if part is not None:
        facts = GOOD.model_copy(update={part: getattr(GOOD, part).model_copy(update=changes)})
    elif changes:
        facts = GOOD.model_copy(update=changes)
    return judged(facts, spec).checks[name].verdict


def test_values_on_every_edge_pass() -> None:
    for spec in (task(), task("lesson"), task("paper")):
        result = judged(spec=spec)
        named = {name: check.verdict for name, check in result.checks.items()}
        expected = dict.fromkeys(CHECKS, "pass") | ({} if spec.kind == "core" else {"frames": "na"})
        assert named == expected
        assert (result.delivered, result.passed) == (True, True)


def test_what_counts() -> None:
    everyone = {"container", "decode", "resolution", "fps", "duration"}
    core = {name for name, counts in applicable(task()).items() if counts}
    lesson = {name for name, counts in applicable(task("lesson")).items() if counts}
    assert core == everyone | {"frames", "audible", "source_project"}
    assert lesson == everyone | {"audible", "narration_coverage", "narration_language", "black", "frozen"}
    assert not applicable(task(delivery={"frames": None}))["frames"]
    assert not applicable(task(audio={"effects": "optional"}))["audible"]
    assert not applicable(task(audio={"check": False}))["audible"]
    assert applicable(task(audio={"effects": "optional", "check": True}))["audible"]


def test_a_benchmark_of_the_papers_shape_has_1449_checks() -> None:
    exact, audible = task(), task(delivery={"frames": None})
    plain = task(delivery={"frames": None}, audio={"check": False})
    # 205 core tasks: 54 with an exact number of frames, 98 with the audible check; 34 lessons and papers.
    core = [exact] * 54 + [audible] * 44 + [plain] * 107
    narrated = [task("lesson")] * 20 + [task("paper")] * 14
    counts = [sum(len(judged(spec=spec).counted()) for spec in group) for group in (core, narrated)]
    assert counts == [1177, 272]


def test_counted_merges_the_worse_verdict() -> None:
    facts = GOOD.model_copy(update={"decode": DecodeFacts(ok=False, errors=("damage",))})
    assert judged(facts, task("lesson")).counted()["container"] == "fail"
    assert set(judged(spec=task("lesson")).counted()) == {
        *("container", "resolution", "fps", "duration", "audible", "narration_coverage", "narration_language", "black")
    }


@pytest.mark.parametrize(
    ("fps", "constant", "expected"),
    [
        ("3001/100", True, "pass"),
        ("2999/100", True, "pass"),
        ("300100001/10000000", True, "fail"),
        ("30000/1001", True, "fail"),
        ("30/1", False, "fail"),
        (None, None, "fail"),
    ],
)
def test_rate(fps: str | None, constant: bool | None, expected: str) -> None:
    value = None if fps is None else 30.0
    assert verdict("fps", "timing", fps=fps, fps_value=value, constant=constant) == expected


def test_a_rate_of_decimals_is_met_by_its_fraction() -> None:
    spec = task(delivery={"fps": 29.97})
    assert verdict("fps", "timing", spec, fps="30000/1001", fps_value=29.97003) == "pass"


@pytest.mark.parametrize(
    ("whole", "end", "expected"),
    [
        ("9/2", "9/2", "pass"),  # 4.5 = 5 - 0.5
        ("13/2", "13/2", "pass"),  # 6.5 = 6 + 0.5
        ("44999/10000", "44999/10000", "fail"),
        ("65001/10000", "65001/10000", "fail"),
        ("8/1", "5/1", "fail"),  # sound outlasts the picture
        ("5/1", "4/1", "fail"),  # picture ends before its range
    ],
)
def test_duration(whole: str, end: str, expected: str) -> None:
    assert GOOD.timing is not None
    changed = {"duration": whole, "timing": GOOD.timing.model_copy(update={"end": end})}
    assert judged(GOOD.model_copy(update=changed)).checks["duration"].verdict == expected


def test_resolution_is_what_a_viewer_sees() -> None:
    assert verdict("resolution", "video", coded_width=180, coded_height=320, rotation=90) == "pass"
    assert verdict("resolution", "video", width=640, sar="2/1") == "fail"


def test_frames() -> None:
    assert verdict("frames", "timing", frames=149) == "fail"
    assert verdict("frames", spec=task(delivery={"frames": None})) == "na"


def test_audible_is_strictly_above_its_limit() -> None:
    assert verdict("audible", "sound", peak_dbfs=-50.0) == "fail"
    assert verdict("audible", "sound", peak_dbfs=-49.999) == "pass"
    assert verdict("audible", "sound", peak_dbfs=None, silent=True) == "fail"
    assert verdict("audible", sound=None) == "fail"


def test_source_project() -> None:
    assert verdict("source_project", "delivery", project=False) == "fail"
    assert verdict("source_project", "delivery", project=None) == "na"
    alone = GOOD.model_copy(update={"delivery": GOOD.delivery.model_copy(update={"project": None})})
    assert judged(alone).passed is False
    assert judged(alone, task("lesson")).passed is True


def test_narration_coverage() -> None:
    assert verdict("narration_coverage", "speech", share=0.458) == "fail"
    assert verdict("narration_coverage", "speech", longest_gap_s=25.0) == "fail"
    assert verdict("narration_coverage", speech=None, sound=None) == "fail"
    missing = SpeechFacts(measured=False, reason="no voice activity detection")
    result = judged(GOOD.model_copy(update={"speech": missing, "language": None}), task("lesson"))
    assert result.checks["narration_coverage"].verdict == "unmeasured"
    assert result.checks["narration_language"].verdict == "unmeasured"
    assert result.passed is None


def windows(*pairs: tuple[str, float]) -> LanguageFacts:
    found = tuple(LanguageWindow(start=0, end=1, language=language, p=p) for language, p in pairs)
    return LanguageFacts(measured=True, engine="x", windows=found)


def test_narration_language() -> None:
    nine, eight = [("en", 0.9)] * 9, [("en", 0.9)] * 8
    assert verdict("narration_language", language=windows(*nine, ("de", 0.9))) == "pass"
    assert verdict("narration_language", language=windows(*eight, ("de", 0.9))) == "fail"
    assert verdict("narration_language", language=windows(*eight, ("de", 0.49))) == "pass"
    assert verdict("narration_language", language=windows(("en", 0.49))) == "fail"
    assert verdict("narration_language", "speech", segments=()) == "na"
    missing = LanguageFacts(measured=False, reason="no speech model")
    result = judged(GOOD.model_copy(update={"language": missing}), task("lesson"))
    assert (result.checks["narration_language"].verdict, result.passed) == ("unmeasured", None)
    assert judged(GOOD.model_copy(update={"language": missing}), task()).passed is True


def test_black_and_frozen_stretches() -> None:
    assert verdict("black", "picture", longest_black_s=2.000001) == "fail"
    assert verdict("frozen", "picture", longest_frozen_s=8.000001) == "fail"
    assert judged(black_s=1.9).checks["black"].verdict == "fail"


def test_a_refused_file_has_nothing_to_judge() -> None:
    result = judged(EMPTY)
    assert (result.checks["container"].verdict, result.checks["decode"].verdict) == ("fail", "fail")
    assert {check.verdict for name, check in result.checks.items() if name not in ("container", "decode")} == {"na"}
    assert (result.delivered, result.passed) == (False, False)


def test_a_picture_too_large_to_decode_has_the_wrong_size() -> None:
    assert GOOD.video is not None
    changes = {
        **dict.fromkeys(("timing", "picture", "sound", "speech", "language", "duration")),
        "video": GOOD.video.model_copy(update={"width": 8192, "height": 8192}),
        "decode": DecodeFacts(ok=False, errors=("too large",), refused=True),
    }
    result = judged(GOOD.model_copy(update=changes))
    assert [result.checks[name].verdict for name in ("container", "decode", "resolution", "fps")] == [
        *("pass", "fail", "fail", "na")
    ]


def test_json_is_plain() -> None:
    report = judged().to_json()
    assert list(report) == ["checks", "delivered", "passed"]
    assert tuple(report["checks"]) == CHECKS
    assert all(set(c) == {"applies", "verdict", "measured", "required", "why"} for c in report["checks"].values())
