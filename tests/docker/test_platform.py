"""`vvb run` with agents in containers, killed in the middle; test_harnesses.py has a whole one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docker.conftest import SIZE, processes_with
from tests.docker.engine import SMALL, Engine
from tests.e2e.platform import Platform, copy_of_starter
from tests.standin.scripted import ScriptedModel

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


CALLER = """
import json, os, time, urllib.request
def call():
    body = {"model": "stand-in", "max_tokens": 99, "messages": [{"role": "user", "content": "go on"}]}
    headers = {"x-api-key": os.environ["TOKEN"], "content-type": "application/json", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(os.environ["BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request, timeout=20))["content"][0]["text"]
open("delivery/executed", "w").write(os.urandom(8).hex())
first = call()
time.sleep(6)
open("delivery/calls.txt", "w").write(first + "\\n" + call())
"""
MODEL_SYSTEM = """
id: caller
name: Caller
lab: Tests
harness: generic
agent: [agents/caller.py]
command: [python3, "{{agent}}/caller.py"]
env: {{BASE_URL: "{{base_url}}", TOKEN: "{{token}}"}}
wire: anthropic
model: stand-in
endpoint: {endpoint}
"""


def test_an_agent_keeps_its_model_when_its_platform_is_killed(
    docker: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gateway outlives the platform too: the run is finished, not repeated, and all of its calls are accounted."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    with ScriptedModel() as model:
        platform = platform_of(tmp_path, 0)
        (platform.benchmark / "agents" / "caller.py").write_text(CALLER)
        (platform.benchmark / "systems" / "clip.yaml").unlink()
        (platform.benchmark / "systems" / "caller.yaml").write_text(MODEL_SYSTEM.format(endpoint=model.url))
        settings = platform.benchmark / "benchmark.yaml"
        settings.write_text(settings.read_text().replace("network: none", "network: gateway"))
        shutil.rmtree(platform.benchmark / "tasks" / "ORBIT")
        start_and_kill(platform, tmp_path / "1.log", lambda _: len(model.requests) == 1)
        first = executions(platform, docker)
        report = platform.json("run", "--only", "rollouts")
        assert report["failed"] == {}
        assert executions(platform, docker) == first, "nobody was executed twice"
        assert len(model.requests) == 2
    folder = platform.payload("rollout", "caller|BOUNCE")
    record = json.loads((folder / "record.json").read_text())
    assert (record["ended"], record["attempts"], record["history"]) == ("self", 1, [])
    assert record["gateway"]["calls"] == 2
    assert len((folder / "delivery" / "calls.txt").read_text().splitlines()) == 2
    assert processes_with("vvb_resources.gateway.process") == []
    assert list((platform.home / "starter" / "sandbox").iterdir()) == []
