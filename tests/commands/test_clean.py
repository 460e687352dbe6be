"""`vvb clean`: asks, keeps rollouts unless told otherwise, and removes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.exact.world import World, write_benchmark
from vvb_assets.commands.clean import command as clean
from vvb_assets.commands.plan import command as plan
from vvb_assets.making import make_partition
from vvb_resources.errors import VvbError


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two tasks, one of which loses its folder after two systems have a rollout and facts on it."""
    world = World(write_benchmark(tmp_path / "benchmark", 2), tmp_path / "home")
    workspace = world.workspace()
    for key in ("rollout", "l1_measurements"):
        for system in ("opus", "sol"):
            make_partition(workspace, workspace.graph.nodes[key], f"{system}|T0001")
    (world.benchmark / "tasks" / "T0001").rename(tmp_path / "away")
    monkeypatch.setenv("VVB_BENCHMARK", str(world.benchmark))
    monkeypatch.setenv("VVB_HOME", str(world.home))
    return world


def rollouts(world: World) -> int:
    return len(list((world.home / "paper" / "artifacts" / "rollout").rglob("artifact.json")))


def test_the_plan_tells_of_orphans_and_removes_nothing(world: World) -> None:
    told = CliRunner().invoke(plan, ["--orphans"], catch_exceptions=False).output
    assert "orphan: rollout[opus|T0001] (no task T0001)" in " ".join(told.split())
    assert "orphans: 5 artifacts" in told, "two rollouts, two sets of facts, the task's own file"
    assert rollouts(world) == 2


def test_nobody_to_ask_is_an_error_and_removes_nothing(world: World) -> None:
    result = CliRunner().invoke(clean, [])
    assert isinstance(result.exception, VvbError)
    assert "vvb clean --yes" in str(result.exception)
    assert len(list((world.home / "paper" / "artifacts").rglob("T0001"))) == 5


def test_rollouts_go_only_when_they_are_named(world: World) -> None:
    told = CliRunner().invoke(clean, ["--yes"], catch_exceptions=False).output
    assert "removed 3 artifacts" in told
    assert "kept 2 rollouts" in told
    assert rollouts(world) == 2
    assert "removed 2 artifacts" in CliRunner().invoke(clean, ["--yes", "--rollouts"], catch_exceptions=False).output
    assert rollouts(world) == 0
    assert "nothing to remove" in CliRunner().invoke(clean, ["--yes"], catch_exceptions=False).output
