"""The scripted systems' kit, and what their scenes read from a brief: no picture is rendered here."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

STARTER = Path(__file__).parents[2] / "task_data" / "starter"
sys.path.insert(0, str(STARTER / "agents"))

from kit import motion, synth  # noqa: E402
from kit.brief import prompt_tables, read_brief, read_deadline  # noqa: E402
from kit.encode import fit  # noqa: E402
from kit.sheets import Cue, write_notes, write_project, write_timing  # noqa: E402
from late import habits  # noqa: E402
from vector.scenes import bounce, fract, gears, scene_of, tower  # noqa: E402
from vector.script import length, read_lines  # noqa: E402

VOICES = {
    "tone": lambda: synth.tone(440, 0.5),
    "pluck": lambda: synth.pluck(440),
    "kick": synth.kick,
    "knock": synth.knock,
    "tick": synth.tick,
    "hat": synth.hat,
}


@pytest.fixture
def work(tmp_path: Path) -> SimpleNamespace:
    """A work folder for a made-up task with one table and a deadline."""
    spec = {
        "id": "DEMO",
        "title": "A demonstration",
        "language": "en",
        "kind": "core",
        "delivery": {"width": 320, "height": 180, "fps": 25, "duration": {"min": 3, "max": 5}, "frames": None},
        "audio": {"narration": "not_used", "music": "required", "effects": "optional", "ambience": "not_used"},
    }
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    (tmp_path / "prompt.txt").write_text("# Demo\n\n```csv strings\nstage,start_s,end_s,text\n1,0.0,4.0,HELLO\n```\n")
    (tmp_path / "ENVIRONMENT.md").write_text(
        "# Here\n\nDeadline: x\nDeadline (Unix time): 1764000000.5\nBudget: 90 s\n"
    )
    return SimpleNamespace(root=tmp_path)


@pytest.mark.parametrize("name", VOICES)
def test_a_voice_is_heard_where_it_was_placed(name: str) -> None:
    mix = synth.Mix(3.0)
    mix.add(VOICES[name](), at=1.5)
    track = mix.render()
    loud = np.flatnonzero(np.abs(track).max(axis=1) > 0.1 * np.abs(track).max())
    assert track.shape == (3 * 48_000, 2)
    assert 1.5 <= loud[0] / 48_000 <= 1.505
    assert not track[: round(1.5 * 48_000)].any()


def test_mix_is_normalised_to_three_decibels_below_full_scale() -> None:
    mix = synth.Mix(1.0)
    for at in (0.0, 0.1, 0.2):
        mix.add(synth.kick(), at, gain=5.0)
    assert np.abs(mix.render()).max() == pytest.approx(10 ** (-3 / 20), abs=1e-6)
    assert not synth.Mix(1.0).render().any()


def test_mix_cuts_at_its_end_and_refuses_times_before_zero() -> None:
    mix = synth.Mix(1.0)
    mix.add(np.ones(48_000), at=0.75)
    assert np.count_nonzero(mix.track[:, 0]) == 12_000
    with pytest.raises(ValueError, match=r"-0\.5"):
        mix.add(np.ones(4), at=-0.5)


def test_pan_is_of_equal_power() -> None:
    mix = synth.Mix(0.001)
    mix.add(np.ones(1), at=0.0, pan=-1.0)
    assert mix.track[0] == pytest.approx((np.sqrt(2), 0.0))
    mix = synth.Mix(0.001)
    mix.add(np.ones(1), at=0.0, pan=0.0)
    assert mix.track[0] == pytest.approx((1.0, 1.0))


def test_level_is_set_by_rms_and_bounded_by_peak() -> None:
    square = np.tile([[0.5, 0.5], [-0.5, -0.5]], (100, 1))
    assert np.abs(synth.at_level(square, -20.0)).max() == pytest.approx(0.1, abs=1e-6)
    assert np.abs(synth.at_level(square, 0.0)).max() == pytest.approx(10 ** (-3 / 20), abs=1e-6)


def test_sound_is_fitted_to_the_picture() -> None:
    sound = np.ones((48_000, 2), np.float32)
    assert fit(sound, frames=15, fps=30.0).shape == (24_000, 2)
    longer = fit(sound, frames=60, fps=30.0)
    assert longer.shape == (96_000, 2)
    assert longer[48_000:].sum() == 0


def test_tables_of_both_kinds_in_order() -> None:
    text = "a,b\n\n```csv beats\nbeat,time_s\n1,0.5\n2, 1.0\n```\n\n| Text | From |\n|:---|---:|\n| `HI` | 2 |\n\nend\n"
    assert prompt_tables(text) == [
        [{"beat": "1", "time_s": "0.5"}, {"beat": "2", "time_s": "1.0"}],
        [{"Text": "HI", "From": "2"}],
    ]


def test_brief_is_read_from_the_work_folder(work: SimpleNamespace) -> None:
    brief = read_brief(work.root)
    assert (brief.width, brief.height, brief.fps) == (320, 180, 25.0)
    assert brief.frames(4.0) == 100
    assert brief.deadline == 1764000000.5
    assert [(line.start, line.end, line.text) for line in read_lines(brief)] == [(0.0, 4.0, "HELLO")]
    with pytest.raises(LookupError, match="found: stage, start_s, end_s, text"):
        brief.table("month", "value")
    with pytest.raises(LookupError, match="no scene is written for task DEMO"):
        scene_of(brief)


def test_without_a_deadline_there_is_no_hurry() -> None:
    assert read_deadline("nothing here") == float("inf")


def test_timing_sheet_is_ordered_and_names_frames(tmp_path: Path) -> None:
    write_timing(tmp_path / "timing.csv", [Cue(2.0, 2.5, "tick, loud", "effects"), Cue(0.5, 3.0, "TITLE")], fps=30.0)
    with (tmp_path / "timing.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["start_s"], r["start_frame"], r["channel"], r["what"]) for r in rows] == [
        ("0.500", "15", "picture", "TITLE"),
        ("2.000", "60", "effects", "tick, loud"),
    ]


def test_notes_name_the_video_and_keep_unverified_apart(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes.md", title="T", video="v.mp4", made=["m"], verified=["300 frames"], open_points=[])
    text = (tmp_path / "notes.md").read_text()
    assert text.startswith("---\nvideo: v.mp4\n---\n")
    assert text.index("300 frames") < text.index("## Not verified\n- nothing")


def test_project_is_an_editable_copy(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "data.csv").write_text("a\n")
    (inputs / "data.csv").chmod(0o444)
    source = tmp_path / "scene"
    (source / "__pycache__").mkdir(parents=True)
    (source / "main.py").write_text("print()\n")
    (source / "__pycache__" / "main.pyc").write_text("x")
    assert write_project(tmp_path / "project", [source], inputs, "python main.py") == ["README.md", "inputs", "scene"]
    assert [p.name for p in (tmp_path / "project" / "scene").iterdir()] == ["main.py"]
    assert (tmp_path / "project" / "inputs" / "data.csv").stat().st_mode & 0o200


def test_easings_meet_their_ends() -> None:
    for ease in (motion.ease_in, motion.ease_out, motion.ease_in_out, motion.overshoot):
        assert (ease(0.0), ease(1.0)) == pytest.approx((0.0, 1.0))
    assert motion.ease_in_out(0.5) == pytest.approx(0.5)
    assert motion.overshoot(0.7) > 1.0
    assert motion.appear(1.0, start=1.0) == 0.0
    assert motion.appear(2.0, start=1.0, end=3.0) == 1.0
    assert motion.appear(3.0, start=1.0, end=3.0) == 0.0


def task(task_id: str, tmp_path: Path) -> Path:
    """A work folder with the real prompt of a task of the starter benchmark and an outline of its spec."""
    folder = STARTER / "tasks" / task_id
    delivery = {"width": 640, "height": 360, "fps": 30, "duration": {"min": 8, "max": 20}}
    outline = {"id": task_id, "title": task_id, "language": "en", "kind": "core", "delivery": delivery, "audio": {}}
    (tmp_path / "spec.json").write_text(json.dumps(outline))
    (tmp_path / "prompt.txt").write_text((folder / "prompt.md").read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("task_id", "seconds"),
    [
        ("EMBER", 11.0),
        ("GEARS", 12.0),
        ("RAIN", 14.0),
        ("ORBIT", 9.5),
        ("BOUNCE", 10.0),
        ("TOWER", 13.0),
        ("BEAT", 8.7),
    ],
)
def test_length_and_scene_of_each_task(task_id: str, seconds: float, tmp_path: Path) -> None:
    brief = read_brief(task(task_id, tmp_path))
    assert length(read_lines(brief)) == seconds
    assert scene_of(brief)[1].name == f"{task_id.lower()}.py"


def test_the_ball_is_where_each_event_says(tmp_path: Path) -> None:
    legs = bounce.ball_legs(read_brief(task("BOUNCE", tmp_path)).table("event", "time_s", "sound"), 640.0, 360.0)
    touch_left = bounce.MARGIN + bounce.PADDLE_W + bounce.RADIUS
    touch_right = 640 - touch_left
    for t, x in (
        (0.0, 320),
        (0.2, 320),
        (0.7, touch_left),
        (1.7, touch_right),
        (2.7, touch_left),
        (4.2, 320),
        (5.7, touch_right),
    ):
        ball = bounce.ball_at(legs, t)
        assert ball is not None
        assert ball[0] == pytest.approx(x)
    for hit, path in (
        (0.7, bounce.LEFT_PATH),
        (1.7, bounce.RIGHT_PATH),
        (2.7, bounce.LEFT_PATH),
        (5.7, bounce.RIGHT_PATH),
    ):
        ball = bounce.ball_at(legs, hit)
        assert ball is not None
        assert abs(ball[1] - 180 - bounce.along(path, hit)) < bounce.PADDLE_H / 2
    for miss, path in ((3.7, bounce.RIGHT_PATH), (6.7, bounce.LEFT_PATH)):
        ball = bounce.ball_at(legs, miss)
        assert ball is not None
        assert abs(ball[1] - 180 - bounce.along(path, miss)) > bounce.PADDLE_H / 2 + bounce.RADIUS
    assert bounce.ball_at(legs, 3.9) is None
    assert bounce.ball_at(legs, 7.0) is None


def test_gears_have_the_teeth_they_claim_and_reach_across() -> None:
    for teeth, module in ((gears.LARGE, 10.0), (gears.SMALL, 10.0)):
        outline = gears.gear(teeth, module)
        radii = [np.hypot(p.x(), p.y()) for p in outline.getPoints(outline.countPoints())]
        tip = max(radii)
        assert tip == pytest.approx(teeth * 5 + gears.ADDENDUM * module, abs=0.01)
        on_tip = np.isclose(radii, tip, atol=0.01)
        assert np.count_nonzero(on_tip & ~np.roll(on_tip, 1)) == teeth
    # A tip stays clear of the partner's root.
    assert gears.ADDENDUM < gears.DEDENDUM


def test_blocks_narrow_upwards_and_fit_the_prompt() -> None:
    assert list(tower.WIDTHS) == sorted(tower.WIDTHS, reverse=True)
    assert tower.WIDTHS[-1] >= 0.12
    assert tower.HEIGHT >= 0.10
    assert tower.FALL <= 1.0


def test_the_lesson_shows_only_what_its_note_says(tmp_path: Path) -> None:
    lines = read_lines(read_brief(task("FRACT", tmp_path)))
    note = (STARTER / "tasks" / "FRACT" / "assets" / "note.md").read_text(encoding="utf-8")
    fract.check_against_note(lines, note)
    with pytest.raises(ValueError, match="1/2 = 2/4"):
        fract.check_against_note(lines, note.replace("1/2 = 2/4", "1/2 = 2/3"))


def test_sentences_stay_in_their_stages() -> None:
    ends = (5.0, 10.0, 15.0, 15.0, 18.0)
    assert all(sentence.end < end for sentence, end in zip(fract.NARRATION, ends, strict=True))
    pairs = zip(fract.NARRATION, fract.NARRATION[1:], strict=False)
    assert all(sentence.end < following.start for sentence, following in pairs)


def test_two_tasks_are_polished_to_the_last_minute(tmp_path: Path) -> None:
    assert set(habits.LAST_MINUTE) == {"BEAT", "TOWER"}
    brief = read_brief(task("BEAT", tmp_path))
    assert habits.last_minute_folder(brief) is None
    (tmp_path / "ENVIRONMENT.md").write_text("Deadline (Unix time): 1764000000\n")
    brief = read_brief(tmp_path)
    assert habits.last_minute_folder(brief) == brief.delivery
    # At this pace a film of 8.7 s cannot be done in the time that is left.
    assert habits.PACE * length(read_lines(brief)) > 3 * habits.LAST_CALL_S
