"""The parse cache: the same benchmark, the same complaints, and no edit is ever missed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from vvb_resources.benchmark.loader import Benchmark, BenchmarkProblems, load_benchmark
from vvb_resources.benchmark.parse_cache import ParseCache, parsing_through
from vvb_resources.benchmark.yaml_source import parse_yaml

SMALL = Path(__file__).parents[1] / "data" / "benchmark" / "small"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SMALL, tmp_path / "small"))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "home" / "parsed.json"


def load(folder: Path, kept: Path, parser: str = "1") -> Benchmark:
    with parsing_through(ParseCache(kept, parser)):
        return load_benchmark(folder)


def count_parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed: list[str] = []
    stock = YAML.compose

    def compose(self: YAML, text: str) -> Any:
        parsed.append(text)
        return stock(self, text)

    monkeypatch.setattr(YAML, "compose", compose)
    return parsed


def test_the_second_load_parses_nothing_and_is_equal(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = load_benchmark(folder)
    assert load(folder, kept) == plain
    parsed = count_parses(monkeypatch)
    assert load(folder, kept) == plain
    assert parsed == []


def test_an_edited_file_is_parsed_and_the_old_text_is_dropped(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(folder, kept)
    before = set(json.loads(kept.read_text())["values"])
    spec = folder / "tasks" / "BRIDGE" / "task.yaml"
    spec.write_text(spec.read_text().replace("A bus crosses a bridge", "A tram crosses a bridge"))
    parsed = count_parses(monkeypatch)
    assert load(folder, kept).tasks["BRIDGE"].spec.title == "A tram crosses a bridge"
    assert len(parsed) == 1
    after = set(json.loads(kept.read_text())["values"])
    assert (len(before - after), len(after - before)) == (1, 1)


def test_a_complaint_names_the_line_also_from_the_cache(folder: Path, kept: Path) -> None:
    spec = folder / "tasks" / "BRIDGE" / "task.yaml"
    lines = spec.read_text().splitlines()
    place = next(n for n, line in enumerate(lines, start=1) if line.startswith("kind:"))
    spec.write_text("\n".join(["kind: nonsense" if n == place else line for n, line in enumerate(lines, start=1)]))
    source = parse_yaml(spec.read_text(), "x")
    with pytest.raises(BenchmarkProblems) as without:
        load_benchmark(folder)
    cache = ParseCache(kept, "1")
    cache.put(spec.read_text(), source.value)
    cache.save()
    with pytest.raises(BenchmarkProblems) as found:
        load(folder, kept)
    assert str(found.value) == str(without.value)
    assert f"task.yaml:{place}" in str(found.value)


@pytest.mark.parametrize(
    "content", ["", "{ half", "[]", '{"parser": "1", "values": []}', '{"parser": "2", "values": {}}']
)
def test_an_unusable_cache_is_made_anew(folder: Path, kept: Path, content: str) -> None:
    kept.parent.mkdir()
    kept.write_text(content)
    assert load(folder, kept) == load_benchmark(folder)
    assert json.loads(kept.read_text())["parser"] == "1"


def test_another_parser_parses_everything_again(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(folder, kept)
    parsed = count_parses(monkeypatch)
    load(folder, kept, parser="2")
    assert len(parsed) == len(list(folder.rglob("*.yaml")))


def test_a_home_that_cannot_be_written_is_no_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the folder would be")
    assert load(folder, tmp_path / "home" / "parsed.json") == load_benchmark(folder)


def test_numbers_and_text_keep_their_types(kept: Path) -> None:
    text = 'a: 30\nb: 30.0\nc: "30"\nd: 2026-01-01\ne: no\nf: null\ng: [1, {h: ÄÖ \U0001f600}]\n'
    value = parse_yaml(text, "x").value
    first = ParseCache(kept, "1")
    first.put(text, value)
    first.save()
    again = ParseCache(kept, "1").get(text)
    assert again == value
    assert [type(again[k]) for k in "abcde"] == [int, float, str, str, str]
