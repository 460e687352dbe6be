"""A plan added up, and how long it takes by what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.graph.conftest import World
from vvb_assets.breakdown import added_up, breakdown, document, wall_seconds
from vvb_assets.plan import Plan, Stale, make_plan


def took(world: World, asset: str, seconds: dict[str, float]) -> None:
    """Write into manifests how long they took."""
    for partition, value in seconds.items():
        path: Path = world.workspace().store.folder(asset, partition) / "artifact.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": value}))


def test_a_new_run_takes_what_its_systems_runs_took(world: World) -> None:
    world.make_all()
    took(world, "rollout", {"a|x": 10.0, "a|y": 30.0, "b|x": 1.0, "b|y": 2.0})
    world.tasks, world.systems = ("x", "y", "z"), ("a", "b", "c")
    plan = make_plan(world.workspace())
    seconds = {item.partition: item.seconds for item in plan.stale if item.asset == "rollout"}
    # the mean of the system's own; of all four for a system that has none: (10 + 30 + 1 + 2) / 4
    assert seconds == {"a|z": 20.0, "b|z": 1.5, "c|x": 10.75, "c|y": 10.75, "c|z": 10.75}


def test_nothing_of_the_kind_was_made(world: World) -> None:
    plan = make_plan(world.workspace())
    sums = added_up(plan.stale)
    assert sums["untimed"] == sums["partitions"] == 16
    assert sums["seconds"] == 0


def test_sums_by_stage_system_and_task(world: World) -> None:
    world.make_all()
    world.files["limits", None] = "second"
    took(world, "checked", {"a|x": 1.0, "a|y": 2.0, "b|x": 4.0, "b|y": 8.0})
    workspace = world.workspace()
    by = breakdown(workspace.graph, make_plan(workspace))
    checked = next(row for row in by["stage"] if row["stage"] == "checked")
    assert (checked["partitions"], checked["seconds"], checked["wall_seconds"]) == (4, 15.0, 15.0)
    assert {row["system"]: row["partitions"] for row in by["system"]} == {"a": 4, "b": 4}
    assert {row["task"]: row["partitions"] for row in by["task"]} == {"x": 4, "y": 4}
    assert by["panel"] == []


def test_calls_tokens_and_unknown_prices(world: World) -> None:
    items = [
        Stale("checked", "a|x", (), False, calls=2, usd=0.25, input_tokens=100, output_tokens=10, seconds=3.0),
        Stale("checked", "b|x", (), False, calls=1, usd=None, input_tokens=50, output_tokens=5, seconds=None),
    ]
    sums = added_up(items)
    assert (sums["calls"], sums["input_tokens"], sums["output_tokens"], sums["usd"]) == (3, 150, 15, None)
    assert (sums["seconds"], sums["untimed"]) == (3.0, 1)
    assert added_up(items[:1])["usd"] == pytest.approx(0.25)
    graph = world.workspace().graph
    assert wall_seconds(graph, items) == 3.0
    totals = document(graph, Plan(stale=items, fresh=7))["totals"]
    assert (totals["partitions"], totals["fresh"], totals["wall_seconds"]) == (2, 7, 3.0)
