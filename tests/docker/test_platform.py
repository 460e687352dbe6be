"""`vvb run` with agents in containers, whole and killed in the middle."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docker.conftest import SIZE
from tests.docker.engine import SMALL, Engine
from tests.e2e.platform import Platform, copy_of_starter

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("docker")]

SYSTEM = """
id: clip
name: Test picture
lab: Tests
harness: generic
agent: [agents/clip]
command: [python3, "{{agent}}/clip/clip.py", "{seconds}"]
"""
BENCHMARK = """
name: starter
title: In containers
version: "1.0"
sandbox:
  {{kind: docker, image: "{image}", network: none, deadline_s: 60, cpus: {cpus}, memory_mb: 1024, processes: 128}}
budgets: {{workers: 2}}
"""


def platform_of(folder: Path, seconds: float) -> Platform:
    """Two tasks, one system in containers, one panel."""
    benchmark = copy_of_starter(folder, ("BOUNCE", "ORBIT"), ("none",), ("dense",))
    (benchmark / "agents" / "clip").mkdir()
    shutil.copyfile(Path(__file__).with_name("clip.py"), benchmark / "agents" / "clip" / "clip.py")
    (benchmark / "systems" / "clip.yaml").write_text(SYSTEM.format(seconds=seconds))
    (benchmark / "benchmark.yaml").write_text(BENCHMARK.format(image=SMALL, cpus=SIZE["cpus"]))
    return Platform(benchmark, folder / "home")


def executions(platform: Platform, engine: Engine) -> set[str]:
    """Numbers that agents left, in the store, in run folders or in volumes."""
    found = {path.read_text() for path in platform.home.rglob("executed")}
    for volume in engine.docker("volume", "ls", "--quiet", "--filter", "name=-work").split():
        mounted = engine.docker("volume", "inspect", "--format", "{{.Mountpoint}}", volume).strip()
        found |= {path.read_text() for path in Path(mounted).glob("delivery/executed")}
    return found


def start_and_kill(platform: Platform, log: Path, ready: Callable[[str], bool]) -> None:
    """Start `vvb run`, and kill it once `ready(its progress)`."""
    with log.open("w") as stderr:
        command = platform.command("run", "--only", "rollouts")
        process = subprocess.Popen(command, env=platform.environment, stdout=stderr, stderr=stderr)
        until = time.monotonic() + 120
        while not ready(log.read_text()):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < until, log.read_text()[-3000:]
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def test_from_container_to_leaderboard(docker: Engine, tmp_path: Path) -> None:
    platform = platform_of(tmp_path, 0)
    report = platform.json("run")
    assert report["failed"] == {}
    assert report["made"]["rollout"] == 2
    (row,) = platform.json("leaderboard")["systems"]
    assert (row["system"], row["delivered"]) == ("clip", 2)
    assert list((platform.home / "starter" / "sandbox").iterdir()) == []
    assert platform.json("plan")["stale"] == []


def test_killed_while_agents_work_then_again_then_whole(docker: Engine, tmp_path: Path) -> None:
    platform = platform_of(tmp_path, 6)
    start_and_kill(platform, tmp_path / "1.log", lambda _: len(executions(platform, docker)) == 2)
    first = executions(platform, docker)
    assert len(docker.docker("ps", "--quiet").split()) == 2, "the agents outlive their platform"
    # The second platform takes them up, and is killed once it has one of them.
    start_and_kill(platform, tmp_path / "2.log", lambda told: "made  rollout" in told)
    assert executions(platform, docker) == first, "nobody was executed twice"
    report = platform.json("run", "--only", "rollouts")
    assert report["failed"] == {}
    assert executions(platform, docker) == first
    assert len([path for path in platform.manifests() if path.startswith("rollout/")]) == 2
    assert list((platform.home / "starter" / "sandbox").iterdir()) == []
