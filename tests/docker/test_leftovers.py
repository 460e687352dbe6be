"""kill -9 at every step of a rollout: no run executed twice, none lost, nothing left without an owner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docker.conftest import policy_of
from tests.docker.engine import Engine
from tests.docker.standalone import STEPS, make
from tests.sandbox.conftest import make_place
from vvb_assets.rollouts.rollout import release_rollout
from vvb_assets.rollouts.takeover import settle
from vvb_resources.sandbox.base import SandboxPlace, SandboxRequest, WallsError
from vvb_resources.sandbox.docker.leftovers import remove_unclaimed, resume
from vvb_resources.sandbox.docker.sandbox import DockerSandbox
from vvb_resources.sandbox.processes import identity
from vvb_resources.store.home import CHECKOUT

pytestmark = pytest.mark.xdist_group("docker")

# Each execution leaves its own number in the delivery.
AGENT = "import os, time\nopen('delivery/executed', 'w').write(os.urandom(8).hex())\ntime.sleep(3.0)\nprint('done')"
BEFORE_THE_AGENT = ("before-volumes", "created")


def kill_at(folder: Path, step: str, code: str = AGENT, seconds: float = 30) -> None:
    """Start a platform, let it come to `step`, and kill it without mercy."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.docker.standalone", str(folder), step, code, str(seconds)],
        cwd=CHECKOUT,
        stderr=(folder / "stderr.txt").open("wb"),
    )
    until = time.monotonic() + 60
    while not (folder / f"at-{step}").exists():
        assert process.poll() is None, (folder / "stderr.txt").read_text()[-2000:]
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.wait()


def executions(engine: Engine, folder: Path) -> set[str]:
    """The number that the agent left, wherever a copy of it lies by now."""
    found = {path.read_text() for path in folder.rglob("executed")}
    for volume in engine.docker("volume", "ls", "--quiet", "--filter", "name=-work").split():
        mounted = engine.docker("volume", "inspect", "--format", "{{.Mountpoint}}", volume).strip()
        found |= {path.read_text() for path in Path(mounted).glob("delivery/executed")}
    return found


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.05)


# What the next platform clears up before it makes rollouts makes a difference at some steps alone.
@pytest.mark.parametrize(
    ("step", "settled"), [*((step, True) for step in STEPS), ("sent", False), ("ended", False), ("recorded", False)]
)
def test_killed_at(docker: Engine, tmp_path: Path, step: str, settled: bool) -> None:
    agent = AGENT if step in ("sent", "working") else AGENT.replace("3.0", "0.2")
    kill_at(tmp_path, step, agent)
    wait_for(lambda: step in BEFORE_THE_AGENT or bool(executions(docker, tmp_path)))
    before = executions(docker, tmp_path)
    assert len(before) == (0 if step in BEFORE_THE_AGENT else 1)
    if settled:
        settle(tmp_path / "state", lambda *_: None, engine=True)
        running = docker.docker("ps", "--quiet")
        assert bool(running.strip()) == (step in ("sent", "working")), "what is over is out, what works goes on"

    record = make(tmp_path, agent, 30)
    assert (record.ended, record.attempts) == ("self", 1)
    after = executions(docker, tmp_path)
    assert len(after) == 1, "the agent was executed once"
    assert before <= after, "what it made is what is delivered"
    assert docker.left_over() == []
    release_rollout(record, tmp_path / "state")
    kept = [path for path in (tmp_path / "state").iterdir() if (path / "rollout.json").exists()]
    assert kept == []


def test_killed_after_the_commit_leaves_only_a_folder_to_remove(docker: Engine, tmp_path: Path) -> None:
    kill_at(tmp_path, "recorded")
    (left,) = (tmp_path / "state").iterdir()
    told = settle(tmp_path / "state", lambda system, task: left.name, engine=True)
    assert told == [f"{left.name}: was committed; its folder is removed"]
    assert list((tmp_path / "state").iterdir()) == []


def test_an_agent_without_a_platform_keeps_its_deadline(docker: Engine, tmp_path: Path) -> None:
    started = time.time()
    kill_at(tmp_path, "working", "open('delivery/executed', 'w').write('1')\nwhile True: pass", 6)
    while docker.docker("ps", "--quiet").strip():
        assert time.time() < started + 40
        time.sleep(0.2)
    assert executions(docker, tmp_path) == {"1"}
    record = make(tmp_path, "", 6)
    assert record.ended == "timed_out"
    assert record.started_at is not None
    assert record.seconds is not None
    assert record.started_at + record.seconds <= record.started_at + 6 + 5


def test_a_run_that_was_given_other_things_is_not_taken_up(docker: Engine, tmp_path: Path) -> None:
    kill_at(tmp_path, "working", AGENT.replace("3.0", "20"))
    wait_for(lambda: bool(executions(docker, tmp_path)))
    before = executions(docker, tmp_path)
    (tmp_path / "agents/sketch/main.py").write_text(AGENT)
    record = make(tmp_path, AGENT, 30)
    after = {path.read_text() for path in (tmp_path / "out").rglob("executed")}
    assert record.ended == "self"
    assert after.isdisjoint(before)
    assert docker.docker("ps", "--quiet") == ""


def test_a_run_that_lost_its_gateway_is_an_infrastructure_fault(docker: Engine, tmp_path: Path) -> None:
    """What an agent does without the gateway that it was given says nothing about the agent."""
    code = f"""
import time
from pathlib import Path
from tests.docker.conftest import policy_of
from tests.sandbox.conftest import make_place
from vvb_resources.sandbox.base import SandboxRequest
from vvb_resources.sandbox.docker.sandbox import DockerSandbox
policy = policy_of(network="gateway")
sandbox, place = DockerSandbox(policy), make_place(Path({str(tmp_path)!r}) / "state" / "a--B--1")
with sandbox.gateway(place, policy) as point:
    env, ends = sandbox.view(place).environment, time.time() + 30
    sandbox.run(SandboxRequest(place, ("sleep", "30"), env, policy, ends, (), point))
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=CHECKOUT)
    while not docker.docker("ps", "--quiet").strip():
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.wait()
    place = SandboxPlace(tmp_path / "state" / "a--B--1")
    links = (place.root / "links").resolve()
    assert links.is_dir()
    with pytest.raises(WallsError, match="the agent lost its way to the model gateway"):
        resume(place)
    assert not links.exists()
    assert docker.left_over() == []


def test_what_nobody_speaks_for_is_removed_and_a_living_run_is_not(docker: Engine, tmp_path: Path) -> None:
    kill_at(tmp_path, "working", AGENT.replace("3.0", "20"))
    other = tmp_path / "elsewhere" / "state"
    other.mkdir(parents=True)
    assert remove_unclaimed(other, set()) == [], "another data home's"
    (left,) = (tmp_path / "state").iterdir()
    assert remove_unclaimed(tmp_path / "state", {left.name}) == []
    living = left / "container.json"
    content = json.loads(living.read_text())
    living.write_text(json.dumps({**content, "mark": {**content["mark"], "parent": identity(os.getpid())}}))
    assert remove_unclaimed(tmp_path / "state", set()) == []
    living.unlink()
    assert remove_unclaimed(tmp_path / "state", set()) == [left.name]
    assert docker.left_over() == []


def test_an_interrupted_caller_leaves_nothing(docker: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of()
    sandbox, place = DockerSandbox(policy), make_place(tmp_path / "state" / "a--B--1")

    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("vvb_resources.sandbox.docker.ending._wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sandbox.run(SandboxRequest(place, ("sleep", "60"), sandbox.view(place).environment, policy, time.time() + 60))
    assert docker.left_over() == []


def test_a_container_that_vanishes_is_an_infrastructure_fault(
    docker: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_of()
    sandbox, place = DockerSandbox(policy), make_place(tmp_path / "state" / "a--B--1")

    def vanish(client: object, container: str, *_: object) -> bool:
        docker.docker("rm", "--force", container)
        return False

    monkeypatch.setattr("vvb_resources.sandbox.docker.ending._wait", vanish)
    with pytest.raises(WallsError, match="the container of the run is gone"):
        sandbox.run(SandboxRequest(place, ("sleep", "60"), sandbox.view(place).environment, policy, time.time() + 60))
    assert docker.left_over() == []
