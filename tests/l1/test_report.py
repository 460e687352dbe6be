"""From a file to its verdicts, on generated clips; each clip has one fault, planted by how it was made."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.media.clips import BLACK, SILENCE, delivery, make_clip
from vvb_assets.l1.report import l1_report
from vvb_resources.benchmark.models import L1Limits, TaskFacts

REFERENCE = os.environ.get("VVB_REFERENCE")


def spec(width: int, height: int, seconds: float, frames: int | None, kind: str = "core") -> TaskFacts:
    channels = dict.fromkeys(("narration", "music", "effects", "ambience"), "optional")
    return TaskFacts.model_validate(
        {
            "id": "T",
            "kind": kind,
            "language": "en",
            "delivery": {
                "width": width,
                "height": height,
                "fps": 30,
                "duration": {"min": seconds, "max": seconds},
                "frames": frames,
            },
            "audio": {**channels, "check": True},
        }
    )


def failing(report: Mapping[str, Any]) -> set[str]:
    return {name for name, check in report["checks"].items() if check["applies"] and check["verdict"] != "pass"}


SMALL = spec(64, 48, 1, 30)


def test_a_sound_delivery_passes(tmp_path: Path) -> None:
    folder = delivery(tmp_path / "d", make_clip(tmp_path / "clip.mp4"))
    report = l1_report(folder, SMALL, L1Limits(), tmp_path)
    assert list(report) == ["facts", "checks", "delivered", "passed"]
    assert (failing(report), report["delivered"], report["passed"]) == (set(), True, True)
    assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ({"sound": SILENCE}, {"audible"}),
        ({"sound": None}, {"audible"}),
        ({"size": "48x64"}, {"resolution"}),
        ({"rate": "30000/1001", "extra": ["-frames:v", "30"]}, {"fps"}),
        ({"rate": "25"}, {"fps", "frames"}),
        ({"extra": ["-frames:v", "29"]}, {"frames"}),
        ({"seconds": "1.6"}, {"frames", "duration"}),
        ({"picture": None}, {"decode", "resolution", "fps", "duration", "frames", "audible", "source_project"}),
    ],
)
def test_each_fault_is_found_by_its_check(how: dict[str, Any], fault: set[str], tmp_path: Path) -> None:
    folder = delivery(tmp_path / "d", make_clip(tmp_path / "clip.mp4", **how))
    report = l1_report(folder, SMALL, L1Limits(), tmp_path)
    assert failing(report) == fault
    assert report["passed"] is False
    assert report["delivered"] is ("decode" not in fault)


def test_a_lesson_that_is_black_and_dumb(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", picture=BLACK, sound=SILENCE, seconds="9", rate="30")
    report = l1_report(clip, spec(64, 48, 9, None, "lesson"), L1Limits(), tmp_path)
    assert failing(report) == {"audible", "narration_coverage", "narration_language", "black", "frozen"}
    assert report["checks"]["black"]["measured"] == 9.0


def test_no_project_beside_the_video(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    make_clip(folder / "video.mp4")
    assert failing(l1_report(folder, SMALL, L1Limits(), tmp_path)) == {"source_project"}


def test_a_missing_delivery_is_a_result(tmp_path: Path) -> None:
    report = l1_report(tmp_path / "nowhere", SMALL, L1Limits(), tmp_path)
    assert (report["delivered"], report["passed"]) == (False, False)
    assert report["checks"]["container"]["why"] == "there is no such file or folder"


def test_odd_names_are_names(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4")
    for name in ("-i.mp4", "pipe:0.mp4", "concat:clip.mp4", " 中文 é.mp4", "new\nline.mp4", "quote'\"$(x).mp4"):
        (tmp_path / name).write_bytes(clip.read_bytes())
        report = l1_report(tmp_path / name, SMALL, L1Limits(), tmp_path)
        assert (name, report["delivered"]) == (name, True)
    (tmp_path / "concat:clip.mp4").write_text("not a video")
    assert not l1_report(tmp_path / "concat:clip.mp4", SMALL, L1Limits(), tmp_path)["delivered"]


def hard_cases() -> list[str]:
    if REFERENCE is None:
        return ["-"]
    folder = Path(REFERENCE) / "media" / "hard_cases"
    files = json.loads((folder / "manifest.json").read_text())["files"]
    return [name for name in files if (folder / name).is_file()]


# Policy: what docs/l1.md says of the disputable ones.
POLICY = {
    ("trailing_garbage.mp4", "container"): "pass",
    ("fps_30_01_edge.mp4", "fps"): "pass",
    ("video_starts_at_0_5.mp4", "duration"): "pass",
    ("editlist_trims_1s.mp4", "container"): "pass",
    ("non_monotonic_dts.mp4", "decode"): "fail",
    ("rot90_displays_320x180.mp4", "resolution"): "pass",
    ("claims_16384.mp4", "decode"): "fail",
    ("claims_16384.mp4", "resolution"): "pass",
    ("bomb_8192.mp4", "decode"): "fail",
    ("audio_only.mp4", "audible"): "na",
    ("cover_art_only.mp4", "audible"): "na",
    ("two_video_streams.mp4", "container"): "pass",
    ("two_video_streams.mp4", "resolution"): "fail",
    ("quicktime_brand.mp4", "container"): "pass",
    ("codec_hevc.mp4", "container"): "pass",
    ("codec_av1.mp4", "container"): "pass",
    ("codec_vp9.mp4", "container"): "pass",
    ("h264_10bit.mp4", "container"): "pass",
    ("h264_444.mp4", "container"): "pass",
    ("two_audio_first_silent.mp4", "audible"): "fail",
    ("frozen_under_noise.mp4", "frozen"): "pass",
    ("dark_letterboxed_scene.mp4", "black"): "pass",
    ("black_with_tiny_cursor.mp4", "black"): "pass",
    ("black_with_tiny_cursor.mp4", "frozen"): "pass",
    ("black_8s.mp4", "frozen"): "pass",
    ("dup_10to30.mp4", "fps"): "pass",
}


@pytest.mark.skipif(REFERENCE is None, reason="VVB_REFERENCE is not set: the folder of reference material")
@pytest.mark.parametrize("name", hard_cases())
def test_hard_case(name: str, tmp_path: Path) -> None:
    folder = Path(str(REFERENCE)) / "media" / "hard_cases"
    case = json.loads((folder / "manifest.json").read_text())["files"][name]
    task = spec(320, 180, case["contract"]["T"], case["contract"]["frames"])
    checks = l1_report(folder / name, task, L1Limits(), tmp_path)["checks"]
    wanted = {check: verdict for check, verdict in case["verdict"].items() if check != "overall"}
    for check, verdict in wanted.items():
        if verdict == "policy":
            wanted[check] = POLICY.get((name, check), checks[check]["verdict"])
    assert {check: checks[check]["verdict"] for check in wanted} == wanted
