"""A change made by hand changes exactly the digests of what it is part of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmark.conftest import Edit
from vvb_resources.benchmark import digests
from vvb_resources.benchmark.loader import BenchmarkProblems, load_benchmark

TASK, RUBRIC, PROMPT = "tasks/BRIDGE/task.yaml", "tasks/BRIDGE/rubric.yaml", "tasks/BRIDGE/prompt.md"
PAINTER, WRITER, PANEL = "systems/painter.yaml", "systems/writer.yaml", "panels/one.yaml"
CONFIG, PRICES = "benchmark.yaml", "prices/2026-02-01.yaml"


def all_digests(root: Path) -> dict[str, str]:
    benchmark = load_benchmark(root)
    found = {
        "prices": digests.prices_digest(benchmark.prices),
        "limits": digests.limits_digest(benchmark.config),
        "sandbox": digests.sandbox_digest(benchmark.config),
    }
    for task in benchmark.tasks.values():
        found[f"task {task.id}"] = digests.task_digest(task)
        found[f"taxonomy {task.id}"] = digests.taxonomy_digest(task)
        found[f"rubric {task.id}"] = digests.rubric_digest(task)
    found |= {f"system {name}": digests.system_digest(benchmark, name) for name in benchmark.systems}
    found |= {f"panel {name}": digests.panel_digest(panel) for name, panel in benchmark.panels.items()}
    return found


CHANGES: list[tuple[str, str, str, set[str]]] = [
    (TASK, "title: A bus", "title: The bus", {"task BRIDGE"}),
    (TASK, "max: 15", "max: 14", {"task BRIDGE"}),
    (TASK, "optional, effects", "not_used, effects", {"task BRIDGE"}),
    (TASK, "category: C04", "category: C05", {"taxonomy BRIDGE"}),
    (TASK, "[S09, D09]", "[S09]", {"taxonomy BRIDGE"}),
    (TASK, "kind: core", "kind:    core  # a comment", set()),
    (TASK, "min: 12", "min: 12.0", set()),
    (TASK, "ambience: not_used}", "ambience: not_used, check: null}", set()),
    (PROMPT, "two seconds", "three seconds", {"task BRIDGE"}),
    ("tasks/BRIDGE/assets/colours.csv", "#C04020", "#C04021", {"task BRIDGE"}),
    (RUBRIC, "fail: It cannot.", "fail: It can not.", {"rubric BRIDGE"}),
    (RUBRIC, "criticality: detail", "criticality: core", {"rubric BRIDGE"}),
    (RUBRIC, "5: smooth", "5: very smooth", {"rubric BRIDGE"}),
    (RUBRIC, "{id: G1, title: The crossing is shown}", "{title: 'The crossing is shown', id: G1}", set()),
    (PAINTER, "name: Painter", "name: The painter", set()),
    (PAINTER, "lab: Hand-made", "lab: Another", set()),
    (PAINTER, '"{agent}/run.py"', '"{agent}/run.py", --fast', {"system painter"}),
    (WRITER, "model: writer-1", "model: writer-2", {"system writer"}),
    (WRITER, "price: writer-1", "price: judge-1\nfamily: w", set()),
    ("agents/run.py", "import kit", "import kit  # a byte is a byte", {"system painter"}),
    ("agents/kit/__init__.py", "WIDTH = 1", "WIDTH = 2", {"system painter"}),
    (PANEL, "title: One", "title: The one", set()),
    (PANEL, "price: judge-1", "price: writer-1\n    system: painter\n    family: f\n    key: A_KEY", set()),
    (PANEL, "price: judge-1", "limits: {timeout_s: 5, concurrency: 9, usd: 1, per_minute: 2}", set()),
    (PANEL, "price: judge-1", "limits: {max_output_tokens: 99}", {"panel one"}),
    (PANEL, "{fps: 2}", "{fps: 3}", {"panel one"}),
    (PANEL, "price: judge-1", "parameters: {seed: 1}", {"panel one"}),
    (PANEL, "model: instrument", "model: instrument-2", {"panel one"}),
    (PRICES, "input: 1.5", "input: 1.6", {"prices"}),
    ("prices/2026-01-01.yaml", "input: 1,", "input: 9,", set()),
    (CONFIG, "title: Two", "title: The two", set()),
    (CONFIG, 'version: "1"', 'version: "1"\nlimits: {black_s: 3}', {"limits"}),
    (CONFIG, 'version: "1"', 'version: "1"\nlimits: {black_s: 2}', set()),
    (CONFIG, 'version: "1"', 'version: "1"\nsandbox: {deadline_s: 90}', {"sandbox"}),
    (CONFIG, 'version: "1"', 'version: "1"\nbudgets: {workers: 1}', set()),
]


@pytest.mark.parametrize(("file", "old", "new", "changed"), CHANGES, ids=[f"{c[0]} {c[2][:24]}" for c in CHANGES])
def test_a_change_changes_exactly(small: Path, edit: Edit, file: str, old: str, new: str, changed: set[str]) -> None:
    before = all_digests(small)
    edit(file, old, new)
    after = all_digests(small)
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == changed


def test_names_of_assets_and_agent_files_count(small: Path) -> None:
    before = all_digests(small)
    (small / "tasks/LESSON/assets").mkdir()
    (small / "tasks/LESSON/assets/empty.txt").touch()
    (small / "agents/kit/__init__.py").rename(small / "agents/kit/core.py")
    after = all_digests(small)
    assert {name for name in before if before[name] != after[name]} == {"task LESSON", "system painter"}


def test_bytecode_does_not_count(small: Path) -> None:
    before = all_digests(small)
    (small / "agents/kit/__pycache__").mkdir()
    (small / "agents/kit/__pycache__/core.cpython-311.pyc").write_bytes(b"x")
    (small / "agents/kit/old.pyc").write_bytes(b"x")
    assert all_digests(small) == before


def test_the_place_of_the_folder_does_not_count(small: Path) -> None:
    before = all_digests(small)
    assert all_digests(small.rename(small.parent / "elsewhere")) == before


def test_no_prices_differ_from_an_empty_list(small: Path, edit: Edit) -> None:
    edit(PRICES, "models:\n  writer-1: {input: 1.5, output: 2.5}\n  judge-1: {input: null, output: null}", "models: {}")
    assert digests.prices_digest(load_benchmark(small).prices) != digests.prices_digest(None)


def test_an_agent_file_that_vanished_after_loading(small: Path) -> None:
    benchmark = load_benchmark(small)
    (small / "agents/run.py").unlink()
    with pytest.raises(BenchmarkProblems, match=r"agents/run\.py: agent file of painter is missing"):
        digests.system_digest(benchmark, "painter")
