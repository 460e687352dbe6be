"""The plan: exactly what is stale, why, and nothing else."""

from __future__ import annotations

import pytest

from tests.graph.conftest import World
from vvb_assets.making import UpstreamMissingError, make_partition
from vvb_assets.plan import make_plan

RUNS = ["a|x", "a|y", "b|x", "b|y"]


def stale(world: World, rerun_held: bool = False) -> set[tuple[str, str | None]]:
    return {(i.asset, i.partition) for i in make_plan(world.workspace(), rerun_held=rerun_held).stale}


def test_at_first_everything_is_missing_and_then_nothing(world: World) -> None:
    plan = make_plan(world.workspace())
    assert len(plan.stale) == 2 + 1 + 4 * 3 + 1
    assert all(item.missing for item in plan.stale)
    assert len(world.make_all()) == 4 * 3 + 1
    after = make_plan(world.workspace())
    assert (after.stale, after.held, after.fresh) == ([], [], 16)
    assert world.make_all() == []


def test_an_edited_limit_rechecks_all_runs_and_measures_none(world: World) -> None:
    world.make_all()
    world.files["limits", None] = "second"
    plan = make_plan(world.workspace())
    checked = [i for i in plan.stale if i.asset == "checked"]
    assert [i.partition for i in checked] == RUNS
    assert [(r.input, r.recorded, r.expected) for r in checked[0].reasons] == [("limits", "file:first", "file:second")]
    assert {i.asset for i in plan.stale} == {"limits", "checked", "scored", "table"}
    assert {i.reasons[0].expected for i in plan.stale if i.asset == "scored"} == {None}
    made = world.make_all()
    assert [p for key, p in made if key == "checked"] == RUNS
    assert not [key for key, _ in made if key == "rollout"]


def test_an_edited_task_holds_its_rollouts_and_leaves_the_other_task_alone(world: World) -> None:
    world.make_all()
    world.files["spec", "x"] = "second"
    plan = make_plan(world.workspace())
    assert [i.partition for i in plan.held] == ["a|x", "b|x"]
    assert {(i.asset, i.partition) for i in plan.stale} == {("spec", "x")}
    assert world.make_all() == []
    assert stale(world, rerun_held=True) == {
        *(("rollout", p) for p in ("a|x", "b|x")),
        *(("checked", p) for p in ("a|x", "b|x")),
        *(("scored", p) for p in ("a|x", "b|x")),
        ("table", None),
    }
    made = world.make_all(rerun_held=True)
    assert [p for key, p in made if key == "rollout"] == ["a|x", "b|x"]
    assert make_plan(world.workspace()).held == []


def test_an_input_that_turns_out_unchanged_makes_nothing_downstream(world: World) -> None:
    world.output["checked"] = "same verdict"
    world.make_all()
    world.files["limits", None] = "second"
    assert ("table", None) in stale(world)
    assert {key for key, _ in world.make_all()} == {"checked"}


def test_a_new_code_version_is_a_reason(world: World) -> None:
    world.make_all()
    world.code["checked"] = "2"
    item = next(i for i in make_plan(world.workspace()).stale if i.asset == "checked")
    assert [(r.input, r.recorded, r.expected) for r in item.reasons] == [("code", "1", "2")]


def test_a_new_system_makes_its_own_runs_and_the_table(world: World) -> None:
    world.make_all()
    world.systems = ("a", "b", "c")
    made = world.make_all()
    assert {p for key, p in made if key == "rollout"} == {"c|x", "c|y"}
    assert ("table", None) in made


def test_a_failure_leaves_the_rest_and_is_the_only_one_made_again(world: World) -> None:
    world.broken.add(("checked", "a|y"))
    workspace = world.workspace()
    failed = []
    for node in workspace.graph.nodes.values():
        for partition in workspace.graph.partitions(node):
            try:
                make_partition(workspace, node, partition)
            except (RuntimeError, UpstreamMissingError) as error:
                failed.append((node.key, partition, type(error).__name__))
    assert ("checked", "a|y", "RuntimeError") in failed
    assert world.made["table", None] == 1
    world.broken.clear()
    before = dict(world.made)
    world.make_all()
    again = {key for key, n in world.made.items() if n != before.get(key)}
    assert again == {("checked", "a|y"), ("scored", "a|y"), ("table", None)}


def test_a_missing_input_says_what_to_make_first(world: World) -> None:
    workspace = world.workspace()
    with pytest.raises(UpstreamMissingError) as caught:
        make_partition(workspace, workspace.graph.nodes["checked"], "a|x")
    assert "needs rollout[a|x]" in str(caught.value)


def test_a_held_artifact_is_not_made_again_by_materialising_it(world: World) -> None:
    world.make_all()
    world.files["spec", "x"] = "second"
    workspace = world.workspace()
    assert make_partition(workspace, workspace.graph.nodes["rollout"], "a|x").made is False
    assert make_partition(workspace, workspace.graph.nodes["rollout"], "a|x", force=True).made is True


def test_plan_json_has_the_documented_shape(world: World) -> None:
    world.make_all()
    world.files["limits", None] = "second"
    document = make_plan(world.workspace()).to_json()
    assert set(document) == {"stale", "held", "totals"}
    assert document["stale"][0] == {
        "asset": "limits",
        "partition": None,
        "missing": False,
        "reasons": [{"input": "file", "recorded": "file:first", "expected": "file:second"}],
    }
    assert document["totals"] == {"partitions": 10, "calls": 0, "usd": 0.0}
