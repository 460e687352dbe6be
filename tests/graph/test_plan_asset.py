"""The plan in the UI: an asset that looks and makes nothing."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from tests.exact.world import write_benchmark
from tests.graph.conftest import World
from vvb_assets.plan import make_plan
from vvb_assets.plan_asset import counts, heat_map, plan_asset
from vvb_assets.settings import Settings


def test_materialising_it_shows_the_plan_and_makes_nothing(tmp_path: Path) -> None:
    settings = Settings(write_benchmark(tmp_path / "benchmark", 2), None, tmp_path / "home")
    with dg.instance_for_test() as instance:
        result = dg.materialize([plan_asset(settings)], instance=instance)
    (event,) = result.asset_materializations_for_node("plan")
    shown = {name: value.value for name, value in event.metadata.items()}
    # what is stale before anything was made: everything
    assert shown["partitions"] == len(make_plan(settings.open()).stale)
    assert shown["calls"] == 9 * 2 * 4
    assert "| panels | " in shown["by stage"]
    for name in ("dense", "sparse", "split"):
        assert f"| {name} | " in shown["by panel"]
    assert "| T0001 | " in shown["by task"]
    assert shown["heat map"].startswith("![")
    assert "data:image/png;base64," in shown["heat map"]
    assert not (tmp_path / "home" / "paper" / "artifacts").exists()


def test_the_cells_of_the_heat_map_are_the_stale_runs(world: World) -> None:
    world.make_all()
    workspace = world.workspace()
    calm = heat_map(workspace.graph, make_plan(workspace))
    world.files["spec", "x"] = "second"
    workspace = world.workspace()
    plan = make_plan(workspace)  # two rollouts are held, and nothing else follows
    assert counts(workspace.graph, plan) == {"shared": {("a", "x"): 1, ("b", "x"): 1}}
    assert heat_map(workspace.graph, plan) != calm
