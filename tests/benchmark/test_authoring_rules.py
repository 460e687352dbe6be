"""Each broken authoring rule: exactly one line with the right file, line and remedy; the folder still loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmark.conftest import SMALL, Edit
from vvb_resources.benchmark.linter import lint
from vvb_resources.benchmark.loader import load_benchmark

TASK, RUBRIC, PROMPT = "tasks/BRIDGE/task.yaml", "tasks/BRIDGE/rubric.yaml", "tasks/BRIDGE/prompt.md"
LESSON, WRITER, PANEL = "tasks/LESSON/task.yaml", "systems/writer.yaml", "panels/one.yaml"
BASIS = 'basis: "leave the left bank at 3 s and reach the far bank at 8 s"'
MOTION = "probe: {kind: motion, expect: moving, window: [3, 8]}"
HORN = "pass: A horn is heard at both instants."

# file to edit, text, replacement, file and line blamed, what the message must say, what the remedy must say
EDITS = [
    (
        "basis",
        RUBRIC,
        BASIS,
        'basis: "leave the left bank at 4 s"',
        RUBRIC,
        17,
        "basis of check V01 is not",
        "line 4 says",
    ),
    (
        "quote",
        RUBRIC,
        'quote: "a bird may',
        'quote: "a crow may',
        RUBRIC,
        8,
        "quote of requirement R4 is not",
        "word for word",
    ),
    ("unmapped", RUBRIC, "[V02]", "[V01]", RUBRIC, 21, "no requirement names the check V02", "name it"),
    ("unknown check", RUBRIC, "[V02]", "[V02, V99]", RUBRIC, 6, "names the check V99", "mend the id"),
    ("unknown goal", RUBRIC, "V01\n    goal: G1", "V01\n    goal: G7", RUBRIC, 12, "names the goal G7", "G1, G2"),
    (
        "idle goal",
        RUBRIC,
        "is heard}",
        "is heard}\n  - {id: G3, title: Idle}",
        RUBRIC,
        4,
        "goal G3 has no check",
        "remove",
    ),
    (
        "check twice",
        RUBRIC,
        "checks: [V03]",
        "checks: [V02]",
        RUBRIC,
        31,
        "no requirement names the check V03",
        "name it",
    ),
    (
        "goal twice",
        RUBRIC,
        "{id: G2, title",
        "{id: G1, title: Again}\n  - {id: G2, title",
        RUBRIC,
        3,
        "goal id G1 is given",
        "own id",
    ),
    (
        "requirement twice",
        RUBRIC,
        "{id: R5,",
        "{id: R4,",
        RUBRIC,
        9,
        "id R4 is given twice (first on line 8)",
        "own id",
    ),
    (
        "permission",
        RUBRIC,
        "criticality: detail",
        "criticality: core",
        RUBRIC,
        37,
        "V03 makes optional wording mandatory (prompt line 7)",
        "detail",
    ),
    ("could", RUBRIC, BASIS, 'basis: "trees could stand on the bank"', RUBRIC, 17, "optional wording", "demand"),
    ("example", RUBRIC, BASIS, 'basis: "e.g. three pines"', RUBRIC, 17, "optional wording", "demand"),
    (
        "tool",
        RUBRIC,
        HORN,
        "pass: A horn made in FFmpeg is heard.",
        RUBRIC,
        43,
        "production method ('FFmpeg')",
        "heard",
    ),
    (
        "method",
        RUBRIC,
        HORN,
        "pass: The horn must be rendered with samples.",
        RUBRIC,
        43,
        "production method",
        "not how",
    ),
    (
        "same",
        RUBRIC,
        "fail: A horn is missing.",
        "fail: A  horn is heard at *both* instants.",
        RUBRIC,
        44,
        "the same",
        "failure",
    ),
    (
        "visual onset",
        RUBRIC,
        MOTION,
        "probe: {kind: onset, times: [3]}",
        RUBRIC,
        20,
        "onset probe hears; check V01 is visual",
        "modality",
    ),
    (
        "audible motion",
        RUBRIC,
        "probe: {kind: onset, times: [2.0, 9.0]}",
        MOTION,
        RUBRIC,
        49,
        "motion probe sees; check A01 is audio",
        "modality",
    ),
    (
        "visual speech",
        RUBRIC,
        MOTION,
        "probe: {kind: language, language: en, channel: speech}",
        RUBRIC,
        20,
        "language probe hears",
        "modality",
    ),
    (
        "late window",
        RUBRIC,
        "window: [3, 8]",
        "window: [3, 15.6]",
        RUBRIC,
        20,
        "ends at 15.6 s, after the longest video (15.5 s)",
        "within",
    ),
    ("late onset", RUBRIC, "[2.0, 9.0]", "[2.0, 19.0]", RUBRIC, 49, "sound at 19 s, outside 0-15.5 s", "within"),
    (
        "onset outside its window",
        RUBRIC,
        "[2.0, 9.0]",
        "[2.0, 9.0], window: [1, 8]",
        RUBRIC,
        49,
        "9 s, outside 1-8 s",
        "within",
    ),
    (
        "frames",
        TASK,
        "frames: 420",
        "frames: 359",
        TASK,
        13,
        "359 frames at 30 fps last 11.967 s, outside 12-15 s",
        "agree",
    ),
    (
        "frames of a lesson",
        LESSON,
        "max: 20}",
        "max: 20}, frames: 510",
        LESSON,
        8,
        "frame count on a lesson",
        "core tasks",
    ),
    (
        "silent lesson",
        LESSON,
        "narration: required",
        "narration: optional",
        LESSON,
        9,
        "lesson task whose narration is optional",
        "required",
    ),
    (
        "price",
        WRITER,
        "price: writer-1",
        "price: writer-2",
        WRITER,
        6,
        "'writer-2' is not in prices/2026-02-01.yaml",
        "add it to",
    ),
    (
        "price of a judge",
        PANEL,
        "price: judge-1",
        "price: judge-2",
        PANEL,
        12,
        "'judge-2' is not in prices/2026-02-01.yaml",
        "null",
    ),
    (
        "key",
        WRITER,
        "WRITER_API_KEY",
        "sk-0123",
        WRITER,
        7,
        "not the name of an environment variable",
        "EXAMPLE_API_KEY",
    ),
    (
        "key in env",
        WRITER,
        "keys: [WRITER_API_KEY]",
        "env: {WRITER_API_KEY: x}",
        WRITER,
        7,
        "does not belong",
        "under keys",
    ),
    ("todo", PROMPT, "For visitors", "TODO: For visitors", PROMPT, 3, "'TODO'", "remove"),
    ("reviewer", PROMPT, "For visitors", "Reviewer: For visitors", PROMPT, 3, "'Reviewer'", "remove"),
    ("rubric", PROMPT, "For visitors", "See the rubric. For visitors", PROMPT, 3, "'rubric'", "remove"),
    ("check id", PROMPT, "For visitors", "(V02) For visitors", PROMPT, 3, "'check id V02'", "remove"),
]


@pytest.mark.parametrize(
    ("file", "old", "new", "blamed", "line", "what", "remedy"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS]
)
def test_one_broken_rule_gives_one_line(
    small: Path, edit: Edit, file: str, old: str, new: str, blamed: str, line: int, what: str, remedy: str
) -> None:
    edit(file, old, new)
    problems = lint(small)
    assert len(problems) == 1, [str(p) for p in problems]
    assert (problems[0].file, problems[0].line) == (blamed, line), str(problems[0])
    assert what in problems[0].what
    assert remedy in problems[0].remedy
    assert "\n" not in str(problems[0])
    load_benchmark(small)  # authoring rules are the linter's alone


def test_the_hand_made_benchmark_is_clean() -> None:
    assert lint(SMALL) == []


def test_a_repeated_check_id(small: Path, edit: Edit) -> None:
    edit(RUBRIC, "- id: V03", "- id: V02")
    # V03 is gone: the requirement that names it says so too.
    assert [(p.line, p.what.split(" (")[0]) for p in lint(small)] == [
        (8, "requirement R4 names the check V03, which does not exist"),
        (31, "the check id V02 is given twice"),
    ]


def test_required_sound_needs_a_check_that_hears(small: Path, edit: Edit) -> None:
    edit(RUBRIC, "modality: audio\n    probe: {kind: onset, times: [2.0, 9.0]}", "modality: visual")
    problems = lint(small)
    assert [(p.file, p.line) for p in problems] == [(RUBRIC, 10)]
    assert "requires effects" in problems[0].what


def test_short_prompt(small: Path) -> None:
    (small / "tasks/LESSON/prompt.md").write_text("旁白必须解释二分之一等于四分之二。" + "好" * 22, encoding="utf-8")
    problems = lint(small)
    assert [(p.file, p.line) for p in problems] == [("tasks/LESSON/prompt.md", 1)]
    assert "38 words" in problems[0].what  # each Chinese character is a word


def test_a_tool_the_prompt_demands_is_no_prescribed_method(small: Path, edit: Edit) -> None:
    edit(PROMPT, "Style, camera", "The logo of Blender must be seen. Style, camera")
    edit(RUBRIC, HORN, "pass: The Blender logo is seen and the horn is heard.")
    assert lint(small) == []


@pytest.mark.parametrize(
    ("sentence", "basis"),
    [
        ("The deck may not be cut.", "The deck may not be cut"),
        ("No sign may cover the bus.", "No sign may cover the bus"),
        ("The tower is grey, e.g. like slate.", "The tower is grey"),
        ("In May the river is high.", "In May the river is high"),
        ("The deck is red; the sky may vary.", "The deck is red"),
    ],
)
def test_demands_that_only_look_optional(small: Path, edit: Edit, sentence: str, basis: str) -> None:
    edit(PROMPT, "Style, camera", f"{sentence} Style, camera")
    edit(RUBRIC, BASIS, f"basis: {basis!r}")
    assert lint(small) == []


@pytest.mark.parametrize("sentence", ["雨声可以由远及近。", "雨声为可选。"])
def test_optional_wording_in_chinese(small: Path, edit: Edit, sentence: str) -> None:
    edit("tasks/LESSON/prompt.md", "配乐可以省略。", sentence)
    edit("tasks/LESSON/rubric.yaml", "旁白必须解释二分之一 等于四分之二", sentence)
    problems = lint(small)
    assert [p.file for p in problems] == ["tasks/LESSON/rubric.yaml"]
    assert "optional wording" in problems[0].what


@pytest.mark.parametrize(
    "basis", ["effects: required", "deck,#C04020", "LEAVE the left bank at 3 s and reach", "‘Safe Load 12 T’"]
)
def test_what_a_basis_may_quote(small: Path, edit: Edit, basis: str) -> None:
    """The spec, a text asset, and the prompt regardless of case, line breaks, emphasis and kind of quotes."""
    edit(RUBRIC, BASIS, f"basis: {basis!r}")
    assert lint(small) == []


def test_a_basis_of_another_task_is_none(small: Path, edit: Edit) -> None:
    edit(RUBRIC, BASIS, "basis: 旁白必须解释二分之一等于四分之二")
    assert [(p.file, p.line) for p in lint(small)] == [(RUBRIC, 17)]


def test_panels_of_another_folder(small: Path, tmp_path: Path, edit: Edit) -> None:
    other = tmp_path / "other"
    other.mkdir()
    text = (small / PANEL).read_text()
    (other / "two.yaml").write_text(text.replace("id: one", "id: two").replace("judge-1", "judge-9"))
    edit(PANEL, "sees: video", "sees: stars")  # not read
    assert list(load_benchmark(small, other).panels) == ["two"]
    problems = lint(small, other)
    assert [(p.file, p.line) for p in problems] == [((other / "two.yaml").as_posix(), 12)]
