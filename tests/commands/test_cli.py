"""The command line's promises: exit codes, one line for bad input, an example in every help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.e2e.platform import STARTER
from vvb_assets.cli import COMMANDS, cli


def vvb(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VVB_")} | {"VVB_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "vvb_assets.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


ORBIT = STARTER / "tasks" / "ORBIT" / "task.yaml"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan", "--benchmark", "nowhere"), "give the folder that holds benchmark.yaml"),
        (("run", "--task", "NOPE"), "it has: BEAT, BOUNCE"),
        (("run", "--system", "nobody"), "it has: late, raster, vector"),
        (("run", "--panel", "none"), "it has: dense, sparse, split"),
        (("explain", "raster", "GEARS", "V99"), "no check 'V99'"),
        (("lint", "nowhere"), "is not a folder"),
        (("l1", "nowhere.mp4", "--spec", "nowhere.yaml"), "nowhere.yaml"),
        (("score", "nowhere"), "is not a folder"),
        (("import", "nowhere", "--system", "vector"), "is not a folder"),
        (("leaderboard",), "has not been made -- make it first: vvb run"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = vvb(*arguments, home=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_home_that_no_database_can_lie_in_is_refused_in_one_line(tmp_path: Path) -> None:
    done = vvb("plan", home=tmp_path / "what?")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("what?: a data home cannot have '?' in its path -- set VVB_HOME to another")
    assert not list(tmp_path.iterdir())


def test_a_missing_delivery_is_a_result_and_exit_1(tmp_path: Path) -> None:
    done = vvb("l1", str(tmp_path / "none.mp4"), "--spec", str(ORBIT), "--json", home=tmp_path)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert (report["delivered"], report["passed"]) == (False, False)
    assert report["checks"]["container"]["verdict"] == "fail"


def test_lint_fails_with_exit_1_and_names_the_line(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text('name: bench\ntitle: "t"\nversion: "1"\nlimitz: {}\n')
    done = vvb("lint", str(folder), home=tmp_path)
    assert done.returncode == 1
    assert "benchmark.yaml:4: " in done.stdout
    assert "limits" in done.stdout, "the nearest valid name is offered"
    assert vvb("lint", str(STARTER), home=tmp_path).returncode == 0


def test_a_benchmark_without_tasks_runs_to_empty_tables(tmp_path: Path) -> None:
    paper = STARTER.parent / "paper"
    done = vvb("run", "--benchmark", str(paper), "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failed"] == {}
    shown = vvb("leaderboard", "--benchmark", str(paper), "--json", home=tmp_path)
    rows = json.loads(shown.stdout)["systems"]
    assert all(row["rank"] is None and row["overall_nv0"] is None and row["reason"] for row in rows), rows


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_an_example(name: str) -> None:
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    for each in command.commands.values() if isinstance(command, click.Group) else [command]:
        assert f"Example:  vvb {name}" in (each.help or "")
        assert any(p.name == "as_json" for p in each.params) or name == "ui"


def test_dry_run_shows_the_plan_and_makes_nothing(tmp_path: Path) -> None:
    done = vvb("run", "--dry-run", "--json", home=tmp_path)
    assert done.returncode == 0
    plan = json.loads(done.stdout)
    assert plan["totals"]["partitions"] == len(plan["stale"])
    assert sum(item["asset"] == "rollout" for item in plan["stale"]) == 24
    assert plan["totals"]["calls"] == 24 * 4, "dense 1, sparse 1, split 2 judges for each of 24 runs"
    assert not (tmp_path / "starter").exists()
