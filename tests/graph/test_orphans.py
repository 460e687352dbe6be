"""What removed systems, tasks and panels leave: listed with sizes, counting for nothing, removed only when asked."""

from __future__ import annotations

from tests.graph.conftest import World
from vvb_assets.orphans import by_reason, left_behind
from vvb_resources.store.orphans import find_orphans, remove


def told(world: World) -> dict[str, str]:
    return {item.name: item.why for item in left_behind(world.workspace())}


def test_nothing_is_left_behind_while_all_is_named(world: World) -> None:
    world.make_all()
    assert told(world) == {}


def test_a_removed_task_leaves_its_file_and_its_runs(world: World) -> None:
    world.make_all()
    world.tasks = ("x",)
    expected = {f"{asset}[{system}|y]": "no task y" for asset in ("rollout", "checked", "scored") for system in "ab"}
    expected["spec[y]"] = "no task y"
    assert told(world) == expected
    left = left_behind(world.workspace())
    for item in left:
        files = [path for path in item.orphan.folder.rglob("*") if path.is_file()]
        assert item.orphan.bytes == sum(path.stat().st_size for path in files) > 0
    assert by_reason(left)["no task y"] == (7, sum(item.orphan.bytes for item in left))
    # the table is made again without it, and what remains is untouched
    assert world.make_all() == [("table", None)]
    assert told(world) == expected


def test_a_removed_system_comes_back_as_it_was(world: World) -> None:
    world.make_all()
    world.systems = ("a",)
    world.make_all()
    assert set(told(world).values()) == {"no system b"}
    world.systems = ("a", "b")
    assert told(world) == {}
    assert world.make_all() == [("table", None)], "no run is made again"


def test_removing_takes_exactly_what_was_asked_for(world: World) -> None:
    world.make_all()
    world.tasks = ("x",)
    workspace = world.workspace()
    kept = {path for path in world.root.rglob("artifact.json") if path.parent.name != "y"}
    for item in left_behind(workspace):
        remove(workspace.store, item.orphan)
    assert told(world) == {}
    assert set(world.root.rglob("artifact.json")) == kept
    assert not list(world.root.rglob("y"))


def test_whole_assets_that_are_gone_are_found(world: World) -> None:
    world.make_all()
    store = world.workspace().store
    known = {"rollout": (frozenset("ab"), frozenset("xy")), "scored": (frozenset("ab"), frozenset("xy"))}
    found = {(o.manifest.asset, o.manifest.partition) for o in find_orphans(store, known)}
    # two files of tasks, one of limits, four runs checked, the table
    assert {asset for asset, _ in found} == {"spec", "limits", "checked", "table"}
    assert len(found) == 2 + 1 + 4 + 1
