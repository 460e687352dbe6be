"""What a loaded benchmark holds, and the shipped folders."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from pathlib import Path

import pytest

import vvb_resources
from vvb_resources.benchmark.linter import lint
from vvb_resources.benchmark.loader import load_benchmark
from vvb_resources.benchmark.quoting import QuotableText, compact, words

CHECKOUT = Path(vvb_resources.__file__).parents[1]
TASK_DATA = CHECKOUT / "task_data"


def test_the_hand_made_benchmark(small: Path) -> None:
    benchmark = load_benchmark(small)
    assert list(benchmark.tasks) == ["BRIDGE", "LESSON"]
    assert list(benchmark.systems) == ["painter", "writer"]
    assert list(benchmark.panels) == ["one"]
    bridge = benchmark.tasks["BRIDGE"]
    assert bridge.folder == small / "tasks" / "BRIDGE"
    assert bridge.assets == (small / "tasks" / "BRIDGE" / "assets" / "colours.csv",)
    assert bridge.prompt.startswith("# A bus crosses a bridge\n")
    assert [check.id for check in bridge.rubric.checks] == ["V01", "V02", "V03", "A01"]
    assert bridge.rubric.quality["TM"].three == "uneven"
    assert benchmark.prices is not None
    assert benchmark.prices.date == dt.date(2026, 2, 1)
    assert benchmark.prices.models["judge-1"].input is None


def test_what_tools_leave_behind_is_no_part_of_a_benchmark(small: Path) -> None:
    (small / "tasks" / "BRIDGE" / "assets" / ".DS_Store").write_bytes(b"x")
    (small / "tasks" / ".hidden").mkdir()
    (small / "tasks" / "README.md").write_text("Tasks.")
    assert len(load_benchmark(small).tasks["BRIDGE"].assets) == 1


def test_yaml_is_version_1_2(small: Path) -> None:
    """`no` is a word, 010 is ten, and a Windows line end or byte order mark is no part of the text."""
    path = small / "benchmark.yaml"
    path.write_bytes(b'\xef\xbb\xbfname: small\r\ntitle: no\r\nversion: "1"\r\nbudgets: {workers: 010}\r\n')
    config = load_benchmark(small).config
    assert (config.title, config.budgets.workers) == ("no", 10)


def test_the_paper_benchmark() -> None:
    root = TASK_DATA / "paper"
    assert lint(root) == []
    benchmark = load_benchmark(root)
    assert set(benchmark.systems) == {"astra", "opus", "sonnet", "argon", "deepseek", "kimi", "glm", "sol", "flash"}
    assert {system.lab for system in benchmark.systems.values()} == {
        "OpenAI", "Anthropic", "Google", "DeepSeek", "Moonshot", "Zhipu",
    }  # fmt: skip
    assert [system.effort for system in benchmark.systems.values()].count("high") == 2  # the two Gemini agents
    assert (benchmark.config.sandbox.deadline_s, benchmark.config.sandbox.cpus) == (3600, 8)
    assert benchmark.prices is not None
    assert all(price.input is None and price.output is None for price in benchmark.prices.models.values())


def test_the_paper_panels() -> None:
    panels = load_benchmark(TASK_DATA / "paper").panels
    assert list(panels) == ["J1", "J2", "J3"]
    for panel, system in (("J1", "argon"), ("J2", "flash")):
        (judge,) = panels[panel].judges
        assert judge.sampling is not None
        assert (judge.system, judge.hears, judge.sampling.fps, judge.sampling.max_frames) == (system, True, 4, 600)
    omni, sol = panels["J3"].judges
    assert (omni.checks, omni.dims) == (("audio", "audio_visual"), ("AQ",))
    assert (sol.checks, sol.dims, sol.observations_from) == (("visual",), ("VQ", "VA", "CL", "TM"), omni.id)
    assert sol.sampling is not None
    assert (sol.sampling.min_frames, sol.sampling.max_frames, sol.sampling.max_side) == (24, 300, 1280)


def test_prices_beside_another_folders_panels(small: Path, tmp_path: Path) -> None:
    """The benchmark's own entry counts; what it does not name comes from the folder of the panels, its newest list."""
    other = tmp_path / "other"
    shutil.copytree(small / "panels", other / "panels")
    (other / "prices").mkdir()
    for day, models in (("2025-01-01", "{old: {input: 9, output: 9}}"), ("2026-05-05", "{far: {input: 3, output: 4}}")):
        (other / "prices" / f"{day}.yaml").write_text(f"date: {day}\nsource: x\nmodels: {models}\n")
    own = load_benchmark(small).prices
    assert own is not None
    both = load_benchmark(small, other / "panels").prices
    assert both is not None
    assert set(both.models) == {*own.models, "far"}
    assert both.models["far"].output == 4
    (other / "prices" / "2027-01-01.yaml").write_text(
        "date: 2027-01-01\nsource: x\nmodels: {judge-1: {input: 1, output: 1}}\n"
    )
    again = load_benchmark(small, other / "panels").prices
    assert again is not None
    assert again.models["judge-1"] == own.models["judge-1"]  # named by the benchmark, though as unknown
    shutil.rmtree(small / "prices")
    alone = load_benchmark(small, other / "panels").prices
    assert alone is not None
    assert set(alone.models) == {"judge-1"}


def test_the_starter_benchmark() -> None:
    root = TASK_DATA / "starter"
    assert [str(problem) for problem in lint(root)] == []
    benchmark = load_benchmark(root)
    assert len(benchmark.tasks) >= 8
    assert len({task.spec.category for task in benchmark.tasks.values()}) >= 8
    assert len(benchmark.systems) == len(benchmark.panels) == 3
    for task in benchmark.tasks.values():
        assert 12 <= len(task.rubric.checks) <= 30, task.id


@pytest.mark.parametrize(("text", "count"), [("It's a two-part test.", 4), ("播放 3 次 OK", 5), ("", 0)])
def test_words(text: str, count: int) -> None:
    assert words(text) == count


def test_compact() -> None:
    assert compact("A “Big”  **Bus**\n— ｆａｓｔ") == "a'big'bus-fast"


def test_sentences_and_their_lines() -> None:
    text = QuotableText("p", "One, e.g. this. Two\ngoes on.\n\n- Three at 2.5 s; four.\n第五。第六")
    assert [(s.text, s.line) for s in text.sentences] == [
        ("One, e.g. this.", 1),
        ("Two\ngoes on.", 1),
        ("- Three at 2.5 s;", 4),
        ("four.", 4),
        ("第五。", 5),
        ("第六", 5),
    ]  # fmt: skip


def test_the_example_of_the_manual_is_clean(tmp_path: Path) -> None:
    """Each fenced block of docs/benchmark_folder.md that begins with a file's name is that file."""
    manual = (CHECKOUT / "docs" / "benchmark_folder.md").read_text(encoding="utf-8")
    for name, content in re.findall(r"^```\w+\n# (\S+)\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert [str(problem) for problem in lint(tmp_path)] == []
    benchmark = load_benchmark(tmp_path)
    found = (list(benchmark.tasks), list(benchmark.systems), list(benchmark.panels))
    assert found == (["BRIDGE"], ["sketcher"], ["dense"])
    assert benchmark.prices is not None
