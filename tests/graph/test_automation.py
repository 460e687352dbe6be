"""Automation over a small graph on a real Dagster instance: what it asks for, once each, and what it leaves alone."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import RUN_KEY_TAG

from tests.graph.conftest import World
from tests.graph.wired import Automated
from vvb_assets.automation import Memory
from vvb_assets.graph import Graph, Workspace
from vvb_assets.plan import make_plan
from vvb_assets.processes import HOST_TAG, PID_TAG, RUN_TAG, STARTED_TAG, end_dead_runs, process_tags
from vvb_assets.provenance import recorded_versions
from vvb_assets.sweep import Busy, Policy, Sweep, Sweeper, Tries
from vvb_assets.unfinished import find_busy
from vvb_resources.benchmark.models import Automation

RUNS = ("a|x", "a|y", "b|x", "b|y")
STAGES = ("rollout", "checked", "scored")


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as found:
        yield found


@pytest.fixture
def robot(world: World, instance: dg.DagsterInstance) -> Automated:
    return Automated(world, instance)


def made_since(world: World, before: Counter[tuple[str, str | None]]) -> dict[tuple[str, str | None], int]:
    return dict(world.made - before)


def test_everything_is_made_stage_by_stage_and_asked_for_once(robot: Automated) -> None:
    assert [(r.op, r.partitions) for r in robot.look().sweep.requests] == [("rollout", RUNS)]
    robot.asked, robot.memory = [], Memory()
    found = robot.until_quiet()
    expected = [(stage, run) for stage in STAGES for run in RUNS] + [("table", None)]
    assert robot.asked == expected
    assert robot.world.made == Counter(expected)
    assert found.sweep.summary == "everything is fresh"
    assert make_plan(robot.world.workspace()).stale == []
    assert len(robot.instance.get_runs()) == 4, "one run a stage"


def test_an_edit_makes_what_the_plan_says_and_nothing_else(robot: Automated) -> None:
    robot.until_quiet()
    world, before = robot.world, Counter(robot.world.made)
    world.files["limits", None] = "second"
    robot.asked = []
    planned = [(i.asset, i.partition) for i in make_plan(world.workspace()).stale if i.asset != "limits"]
    robot.until_quiet()
    assert robot.asked == planned
    assert made_since(world, before) == dict.fromkeys(planned, 1)

    before = Counter(world.made)
    world.files["limits", None] = "first"  # and back: the same set once more, from versions that were wanted before
    robot.until_quiet()
    world.files["limits", None] = "second"
    robot.until_quiet()
    assert made_since(world, before) == dict.fromkeys(planned, 2)


def test_an_arbitrary_set_is_one_run(robot: Automated) -> None:
    robot.until_quiet()
    workspace = robot.world.workspace()
    for partition in ("a|y", "b|x"):
        (workspace.store.folder("checked", partition) / "artifact.json").unlink()
    (request,) = robot.look().sweep.requests
    assert (request.assets, request.partitions) == (("checked",), ("a|y", "b|x"))


def test_what_an_unfinished_run_makes_is_left_out(robot: Automated) -> None:
    first = robot.look()
    (key,) = first.keys
    config = {"ops": {"rollout": {"config": {"partitions": list(RUNS[:3])}}}}
    run = robot.instance.add_run(
        dg.DagsterRun(
            job_name="make_rollout",
            run_id="11111111-1111-4111-8111-111111111111",
            status=dg.DagsterRunStatus.NOT_STARTED,
            run_config=config,
            tags={RUN_KEY_TAG: key, "dagster/partition": RUNS[0]},
        )
    )
    busy = find_busy(robot.instance, robot.world.workspace().graph)
    assert busy.partitions == {"rollout": frozenset(RUNS[:3])}
    second = robot.look()
    assert [request.partitions for request in second.sweep.requests] == [RUNS[3:]]
    assert set(second.memory.open) == {key, *second.keys}
    robot.instance.report_run_failed(run)
    third = robot.look()
    assert [request.partitions for request in third.sweep.requests] == [RUNS], "the set of a failed run is asked again"
    assert len({*first.keys, *second.keys, *third.keys}) == 3


def test_two_edits_one_after_the_other(robot: Automated) -> None:
    """The second comes after the first was asked for and before it was made: nothing is lost, nothing made in vain."""
    robot.until_quiet()
    world, before = robot.world, Counter(robot.world.made)
    world.files["limits", None] = "second"
    found = robot.look()
    (world.workspace().store.folder("rollout", "b|y") / "artifact.json").unlink()
    robot.work(found)
    robot.until_quiet()
    assert made_since(world, before)["rollout", "b|y"] == 1
    assert {run: made_since(world, before)["checked", run] for run in RUNS} == dict.fromkeys(RUNS, 1)
    assert make_plan(world.workspace()).stale == []


def test_a_partition_that_fails_is_tried_three_times_and_the_rest_goes_on(robot: Automated) -> None:
    world = robot.world
    world.broken.add(("checked", "a|y"))
    robot.until_quiet()
    assert world.made["table", None] == 0, "the table waits while there is hope"
    for _ in range(12):
        robot.now += dt.timedelta(minutes=5)
        robot.until_quiet()
    assert robot.asked.count(("checked", "a|y")) == 3
    assert world.made["table", None] == 1
    assert world.made["scored", "b|x"] == 1
    assert robot.look().sweep.left["failed too often: see their runs, then reset this sensor's cursor"] == 1
    world.broken.clear()
    assert robot.look().keys == (), "it does not know that the fault has passed"
    robot.memory = Memory()  # what resetting the cursor does
    robot.until_quiet()
    assert world.made["checked", "a|y"] == 1
    assert world.made["table", None] == 2
    assert make_plan(world.workspace()).stale == []


def test_another_version_of_what_failed_is_tried_at_once(robot: Automated) -> None:
    robot.world.broken.add(("checked", "a|y"))
    robot.until_quiet()
    robot.world.broken.clear()
    robot.world.files["limits", None] = "mended"
    robot.until_quiet()
    assert make_plan(robot.world.workspace()).stale == []


def test_rollouts_are_made_only_with_leave_and_stale_ones_never(robot: Automated) -> None:
    robot.world.automation = Automation()
    found = robot.until_quiet()
    assert (robot.asked, robot.world.made) == ([], Counter())
    assert found.sweep.left["missing rollouts: not permitted (automation.rollouts in benchmark.yaml)"] == len(RUNS)
    robot.world.automation = Automation(rollouts="missing")
    robot.until_quiet()
    robot.world.files["spec", "x"] = "another prompt"
    robot.asked = []
    found = robot.until_quiet()
    assert robot.asked == []
    assert found.sweep.left["stale rollouts are held: vvb run --rerun-rollouts makes them"] == 2


def test_an_event_that_was_lost_is_published_without_making(robot: Automated) -> None:
    world = robot.world
    world.make_all()
    before = Counter(world.made)
    robot.until_quiet()
    assert made_since(world, before) == {}
    graph = world.workspace().graph
    assert recorded_versions(robot.instance, graph.nodes["checked"]).keys() == set(RUNS)


def test_a_cursor_of_another_release_is_an_empty_memory() -> None:
    assert Memory.of("no json") == Memory.of('{"since": 1}') == Memory.of(None) == Memory()


def sweep(world: World, *, usd: float, price: float | None, loaded: Graph | None = None) -> Sweep:
    """One sweep with `checked` as if judges were paid for it; everything before it is made."""
    workspace = world.workspace()
    nodes = dict(workspace.graph.nodes)
    nodes["checked"] = replace(nodes["checked"], judges=1)
    graph = replace(workspace.graph, nodes=nodes)
    workspace = Workspace(workspace.benchmark, workspace.home, graph)
    every = frozenset(n.op_name for n in graph.nodes.values() if n.version_of is None)
    return Sweeper(
        workspace,
        make_plan(workspace),
        loaded or graph,
        lambda node: {
            p: m.data_version for p, m in workspace.store.manifests(node.key, graph.partitions(node)).items()
        },
        Busy(),
        Policy(every, usd=usd),
        lambda version: Tries(),
        lambda items: [price] * len(items),
    ).sweep()


@pytest.fixture
def unjudged(world: World) -> World:
    world.make_all()
    for run in RUNS:
        (world.workspace().store.folder("checked", run) / "artifact.json").unlink()
    return world


def test_no_more_is_asked_for_than_the_money_covers(unjudged: World) -> None:
    found = sweep(unjudged, usd=5.0, price=2.0)
    assert [request.partitions for request in found.requests] == [RUNS[:2]]
    assert found.usd == 4.0
    assert (
        found.left["judgments wait for money: the limit of a day is reached (automation.usd_day in benchmark.yaml)"]
        == 2
    )
    assert [r.partitions for r in sweep(unjudged, usd=0.0, price=0.0).requests] == [RUNS], "what is free needs no money"
    unpriced = sweep(unjudged, usd=1e9, price=None)
    assert (unpriced.requests, unpriced.left["judgments have no known price"]) == ([], 4)


def test_what_dagster_has_not_loaded_yet_is_named(unjudged: World) -> None:
    loaded = replace(unjudged.workspace().graph, systems=("a",))
    found = sweep(unjudged, usd=0.0, price=0.0, loaded=loaded)
    assert [request.partitions for request in found.requests] == [RUNS[:2]]
    new = {("checked", "b|x"), ("checked", "b|y"), ("scored", "b|x"), ("scored", "b|y")}
    assert found.left["are new in the benchmark's files: reload the code location"] == len(new)


def test_a_run_whose_process_is_gone_is_marked_as_failed(instance: dg.DagsterInstance) -> None:
    ids = [f"{number}1111111-1111-4111-8111-111111111111" for number in range(5)]
    alive = {name: value for name, value in process_tags(ids[0]).items() if name != RUN_TAG}
    gone = {**alive, PID_TAG: "4194304", STARTED_TAG: "1"}  # beyond the largest process id
    another = {**alive, STARTED_TAG: "1"}  # its id is in use again
    elsewhere = {**gone, HOST_TAG: "another machine"}
    named = [{**tags, RUN_TAG: own} for own, tags in zip(ids, (alive, gone, another, elsewhere), strict=False)]
    retry = named[1]  # Dagster gives a retry the tags of the run that was killed
    for run_id, tags in zip(ids, (*named, retry), strict=True):
        instance.add_run(dg.DagsterRun("make_x", run_id, status=dg.DagsterRunStatus.STARTED, tags=tags))
    assert len(end_dead_runs(instance)) == 2
    failed = [run.run_id for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))]
    assert sorted(failed) == ids[1:3]
