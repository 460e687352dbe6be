"""The list of planted faults agrees with the benchmark folder, the scenes' source and the table in the docs."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from vvb_assets.l1.checks import applicable
from vvb_resources.benchmark.loader import Benchmark, load_benchmark
from vvb_resources.benchmark.models import Check

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "task_data" / "starter"
FAULTS: list[dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "starter_faults.json").read_text())
NAMED = [pytest.param(fault, id=f"{fault['system']}-{fault['task']}-{n}") for n, fault in enumerate(FAULTS)]


@cache
def starter() -> Benchmark:
    return load_benchmark(STARTER)


def all_checks(fault: dict[str, Any]) -> set[str]:
    """Every check that some panel fails for this fault."""
    return {*fault["checks"], *(check for ids in fault.get("checks_by_panel", {}).values() for check in ids)}


@pytest.mark.parametrize("fault", NAMED)
def test_a_fault_names_what_exists(fault: dict[str, Any]) -> None:
    benchmark = starter()
    assert fault["system"] in benchmark.systems
    rubric: dict[str, Check] = {check.id: check for check in benchmark.tasks[fault["task"]].rubric.checks}
    assert all_checks(fault) <= set(rubric)
    assert set(fault.get("checks_by_panel", {})) <= set(benchmark.panels)
    without_probe = [check for check in all_checks(fault) if rubric[check].probe is None]
    assert without_probe == [], "an instrument cannot fail a check without a probe"


@pytest.mark.parametrize("fault", NAMED)
def test_a_fault_is_found_by_something_that_counts(fault: dict[str, Any]) -> None:
    counted = applicable(starter().tasks[fault["task"]].spec)
    assert [name for name in fault["l1"] if not counted.get(name)] == []
    assert fault["l1"] or fault["checks"]


def test_every_fault_of_the_raster_system_is_marked_in_its_scene() -> None:
    listed = Counter(fault["task"] for fault in FAULTS if fault["system"] == "raster")
    scenes = STARTER / "agents" / "raster" / "scenes"
    marked = {task: (scenes / f"{task.lower()}.py").read_text().count("# planted fault:") for task in starter().tasks}
    assert marked == {task: listed[task] for task in starter().tasks}
    assert sum(marked.values()) == 9
    assert [task for task, faults in marked.items() if not faults] == ["TOWER"]


def test_the_table_in_the_docs_says_the_same() -> None:
    panels = ("dense", "sparse", "split")
    told: set[tuple[str, ...]] = set()
    l1_told: set[tuple[str, str, str]] = set()
    for line in (ROOT / "docs" / "starter_faults.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] not in starter().systems:
            continue
        system, task, _, l1, checks, *verdicts = cells
        l1_told |= {(system, task, name) for name in l1.split(", ") if name != "-"}
        for panel, verdict in zip(panels, verdicts, strict=True):
            told |= {(system, task, check, panel) for check in checks.split(", ") if verdict == "fail"}
    listed = {
        (fault["system"], fault["task"], check, panel)
        for fault in FAULTS
        for panel in panels
        for check in [*fault["checks"], *fault.get("checks_by_panel", {}).get(panel, [])]
    }
    assert told == listed
    assert l1_told == {(fault["system"], fault["task"], name) for fault in FAULTS for name in fault["l1"]}
