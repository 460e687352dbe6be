"""Each structural mistake: one line with the right file, line and a remedy, from the loader and the linter alike."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmark.conftest import Edit
from vvb_resources.benchmark.linter import lint
from vvb_resources.benchmark.loader import BenchmarkProblems, load_benchmark, load_task_facts
from vvb_resources.benchmark.problems import Problem

TASK, RUBRIC, PROMPT = "tasks/BRIDGE/task.yaml", "tasks/BRIDGE/rubric.yaml", "tasks/BRIDGE/prompt.md"
PAINTER, PANEL = "systems/painter.yaml", "panels/one.yaml"


def only_problem(root: Path) -> Problem:
    """The one problem of a folder, which loader and linter must agree on."""
    problems = lint(root)
    assert len(problems) == 1, [str(p) for p in problems]
    with pytest.raises(BenchmarkProblems) as caught:
        load_benchmark(root)
    assert caught.value.problems == problems
    assert "\n" not in str(caught.value)
    assert problems[0].remedy
    return problems[0]


# file, text, replacement, line, what the message must say, what the remedy must say
EDITS = [
    ("bad syntax", RUBRIC, "  - {id: G1,", "  - {id: G1", 2, "bad YAML", "syntax"),
    ("unclosed quote", TASK, "language: en", 'language: "en', 5, "bad YAML", "syntax"),
    ("control character", TASK, "crosses", "cro\x01sses", 2, "\\x01", "remove"),
    ("tab", TASK, "  width: 1280", "\twidth: 1280", 9, "bad YAML", "syntax"),
    ("duplicate key", TASK, "kind: core", "kind: core\nlanguage: zh", 7, "'language' is given twice", "keep one"),
    ("unknown tag", TASK, "kind: core", "kind: !!python/name:os.system core", 6, "unknown tag", "plain text"),
    ("not finite", TASK, "min: 12", "min: .inf", 12, "finite", "finite"),
    ("two documents", TASK, "kind: core", "---\nkind: core", 6, "bad YAML", "syntax"),
    ("unknown field", TASK, "  frames: 420", "  frame: 420", 13, "unknown field `delivery.frame`", "`frames`"),
    ("misspelt needed field", TASK, "title: A", "titel: A", 2, "unknown field `titel`", "did you mean `title`"),
    ("far-off field", TASK, "kind: core", "kind: core\nqqq: 1", 7, "unknown field `qqq`", "freedom"),
    ("unknown probe field", RUBRIC, "min_s: 2}", "mins: 2}", 30, "`checks[1].probe.dwell.mins`", "`min_s`"),
    ("alias by attribute name", RUBRIC, "pass: The bus is", "pass_: The bus is", 14, "`checks[0].pass_`", "`pass`"),
    ("text for a number", TASK, "fps: 30", 'fps: "30"', 11, "must be a number", "a number"),
    ("number for text", TASK, "id: BRIDGE", "id: 12", 1, "`id` must be text, not 12", "text"),
    ("yes for true", RUBRIC, "l1: true", "l1: yes", 9, "must be true or false", "true or false"),
    ("text for a list", TASK, "[S09, D09]", "S09", 4, "must be a list", "a list"),
    ("not a choice", TASK, "category: C04", "category: C13", 3, "none of the choices", "C12"),
    ("unknown probe", RUBRIC, "kind: motion", "kind: wiggle", 20, "'wiggle'", "'motion'"),
    ("range upside down", TASK, "min: 12", "min: 16", 12, "max (15) is less than min (16)", "agree"),
    ("missing field", TASK, "kind: core\n", "", 1, "`kind` is missing", "add `kind:`"),
    ("missing anchor", RUBRIC, "1: ugly, 3: plain, 5", "1: ugly, 5", 52, "`quality.VA.3` is missing", "add `3:`"),
    ("missing fail", RUBRIC, "    fail: It cannot.\n", "", 31, "`checks[2].fail` is missing", "add `fail:`"),
    ("no check", RUBRIC, 'at 9.0 s.", checks: [A01]}', 'at 9.0 s."}', 7, "requirement R3 has no check", "agree"),
    ("illegal id", PAINTER, "id: painter", "id: pain|ter", 1, "illegal form", "form"),
    ("id not the file's", PAINTER, "id: painter", "id: printer", 1, "differs from its name 'painter'", "`id: painter`"),
    ("id not the folder's", TASK, "id: BRIDGE", "id: RIVER", 1, "differs from its name 'BRIDGE'", "`id: BRIDGE`"),
    ("duplicate system", PAINTER, "id: painter", "id: writer", 1, "also the id of systems/writer.yaml", "another id"),
    ("duplicate task", TASK, "id: BRIDGE", "id: LESSON", 1, "also the id of tasks/LESSON/task.yaml", "another id"),
    ("case", PAINTER, "id: painter", "id: Writer", 1, "only in case from 'writer'", "another id"),
    ("missing agent", PAINTER, "agents/run.py,", "agents/walk.py,", 6, "'agents/walk.py' does not exist", "add it"),
    ("agent leaves", PAINTER, "agents/run.py,", "../run.py,", 6, "'../run.py' leaves the folder", "into the benchmark"),
    ("absolute agent", PAINTER, "agents/run.py,", "/bin/sh,", 6, "'/bin/sh' leaves the folder", "into the benchmark"),
    (
        "missing asset",
        PROMPT,
        "inputs/colours.csv",
        "inputs/colors.csv",
        10,
        "'colors.csv' is not among",
        "add assets/",
    ),
    ("asset leaves", PROMPT, "inputs/colours.csv", "inputs/../task.yaml", 10, "leaves the assets folder", "below"),
    ("unrouted", PANEL, "[visual, audio, audio_visual]", "[visual, audio]", 1, "audio_visual to 0 judges", "agree"),
    ("prices twice", "prices/2026-02-01.yaml", "2026-02-01", "2026-01-01", 1, "also that of prices/2026-01", "merge"),
    ("bad date", "prices/2026-01-01.yaml", "2026-01-01", "tomorrow", 1, '`date` is "tomorrow"', "date"),
]


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "what", "remedy"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS]
)
def test_one_mistake_gives_one_line(
    small: Path, edit: Edit, file: str, old: str, new: str, line: int, what: str, remedy: str
) -> None:
    edit(file, old, new)
    problem = only_problem(small)
    assert (problem.file, problem.line) == (file, line), str(problem)
    assert what in problem.what
    assert remedy in problem.remedy


def _reserved(root: Path) -> None:
    panel = root / "panels" / "one.yaml"
    (root / "panels" / "rubric.yaml").write_text(panel.read_text().replace("id: one", "id: rubric"))


def _outside(root: Path) -> Path:
    outside = root.parent / "outside.txt"
    outside.write_text("secret")
    return outside


def _replace_by_link(root: Path, name: str) -> None:
    (root / name).unlink()
    (root / name).symlink_to(_outside(root))


CHANGES: list[tuple[str, Callable[[Path], object], str, int | None, str]] = [
    ("no rubric", lambda r: (r / RUBRIC).unlink(), RUBRIC, None, "missing"),
    ("no prompt", lambda r: (r / PROMPT).unlink(), PROMPT, None, "missing"),
    ("no spec", lambda r: (r / TASK).unlink(), TASK, None, "missing"),
    ("no benchmark.yaml", lambda r: (r / "benchmark.yaml").unlink(), "benchmark.yaml", None, "missing"),
    ("empty file", lambda r: (r / TASK).write_text("# nothing\n"), TASK, None, "empty"),
    ("a list", lambda r: (r / "benchmark.yaml").write_text("- 1\n"), "benchmark.yaml", 1, "must hold fields"),
    ("empty prompt", lambda r: (r / PROMPT).write_text(" \n"), PROMPT, None, "empty"),
    ("Latin-1", lambda r: (r / PROMPT).write_bytes(b"one\ntwo caf\xe9\n"), PROMPT, 2, "not UTF-8 (byte 0xe9)"),
    ("oversized", lambda r: (r / RUBRIC).write_bytes(b"#" * (2 * 1024 * 1024 + 1)), RUBRIC, None, "2,097,153 bytes"),
    ("spec links out", lambda r: _replace_by_link(r, TASK), TASK, None, "link that leaves"),
    ("prompt links out", lambda r: _replace_by_link(r, PROMPT), PROMPT, None, "link that leaves"),
    ("system links out", lambda r: _replace_by_link(r, PAINTER), PAINTER, None, "link that leaves"),
    (
        "asset links out",
        lambda r: (r / "tasks/BRIDGE/assets/extra.txt").symlink_to(_outside(r)),
        "tasks/BRIDGE/assets/extra.txt",
        None,
        "link that leaves",
    ),
    (
        "dangling asset",
        lambda r: (r / "tasks/BRIDGE/assets/extra.txt").symlink_to("nowhere.txt"),
        "tasks/BRIDGE/assets/extra.txt",
        None,
        "neither a file nor a folder",
    ),
    (
        "agent file links out",
        lambda r: (r / "agents/kit/extra.py").symlink_to(_outside(r)),
        "agents/kit/extra.py",
        None,
        "link that leaves",
    ),
    (
        "pipe among assets",
        lambda r: os.mkfifo(r / "tasks/BRIDGE/assets/pipe"),
        "tasks/BRIDGE/assets/pipe",
        None,
        "neither a file nor a folder",
    ),
    ("yml", lambda r: (r / "systems/x.yml").write_text("id: x\n"), "systems/x.yml", None, ".yml"),
    ("reserved panel", _reserved, "panels/rubric.yaml", 1, "'rubric' is a key of the graph"),
]


@pytest.mark.parametrize(("change", "file", "line", "what"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_files_missing_unreadable_or_elsewhere(
    small: Path, change: Callable[[Path], object], file: str, line: int | None, what: str
) -> None:
    change(small)
    problem = only_problem(small)
    assert (problem.file, problem.line) == (file, line), str(problem)
    assert what in problem.what


def test_every_problem_of_a_folder_is_listed_at_once(small: Path, edit: Edit) -> None:
    edit(TASK, "fps: 30", "fps: fast")
    edit(TASK, "width: 1280", "width: wide")
    edit(PAINTER, "lab: Hand-made", "lab: Hand-made\nlab: Other")
    edit(PANEL, "sees: video", "sees: stars")
    (small / "tasks/LESSON/prompt.md").unlink()
    with pytest.raises(BenchmarkProblems) as caught:
        load_benchmark(small)
    assert [(p.file, p.line) for p in caught.value.problems] == [
        (PANEL, 7),
        (PAINTER, 4),
        (TASK, 9),
        (TASK, 11),
        ("tasks/LESSON/prompt.md", None),
    ]
    assert "5 problems" in str(caught.value)


def test_every_repeated_key_of_a_file_is_listed(small: Path, edit: Edit) -> None:
    edit(TASK, "kind: core", "kind: core\nkind: core\nlanguage: en")
    assert [p.line for p in lint(small)] == [7, 8]


def test_aliases_cannot_blow_a_file_up(small: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (small / "benchmark.yaml").write_text("\n".join(levels))
    assert "aliases" in only_problem(small).what


def test_an_alias_to_itself_ends(small: Path) -> None:
    (small / "benchmark.yaml").write_text("name: &n [*n]\n")
    assert only_problem(small).file == "benchmark.yaml"


@pytest.mark.parametrize("name", ["absent", "benchmark.yaml"])
def test_a_root_that_is_no_folder(small: Path, name: str) -> None:
    assert only_problem(small / name).file == "."


def test_facts_of_the_least_spec(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        "id: X\nkind: core\nlanguage: zh\n"
        "delivery: {width: 320, height: 180, fps: 30, duration: {min: 14, max: 16}, frames: 450}\n"
        "audio: {narration: optional, music: not_used, effects: not_used, ambience: not_used}\n"
    )
    facts = load_task_facts(path)
    assert (facts.id, facts.language, facts.delivery.frames, facts.delivery.duration.max) == ("X", "zh", 450, 16.0)
    assert facts.audio.audible_check is False


def test_facts_of_a_whole_spec(small: Path) -> None:
    facts = load_task_facts(small / TASK)
    assert (facts.id, facts.kind, facts.audio.required) == ("BRIDGE", "core", ("effects",))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [("fps: 30", "fps: x", 11), ("kind: core", "kind: other", 6), ("frames: 420", "frame: 420", 13)],
)
def test_faults_of_a_spec_outside_a_benchmark(small: Path, edit: Edit, old: str, new: str, line: int) -> None:
    edit(TASK, old, new)
    with pytest.raises(BenchmarkProblems) as caught:
        load_task_facts(small / TASK)
    assert [(p.file, p.line) for p in caught.value.problems] == [("task.yaml", line)]


def test_a_spec_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkProblems, match="missing"):
        load_task_facts(tmp_path / "none.yaml")
