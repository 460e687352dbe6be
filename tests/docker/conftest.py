"""Real containers. One engine a session; without Docker every test here is skipped by name, and no other one is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docker.engine import SMALL, Engine, EngineError, install_programs
from tests.sandbox.conftest import make_place
from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.sandbox.base import SandboxOutcome, SandboxPlace, SandboxRequest
from vvb_resources.sandbox.docker.sandbox import DockerSandbox

RunInContainer = Callable[..., tuple[SandboxOutcome, SandboxPlace, float]]
SIZE = {"cpus": 2, "memory_mb": 512, "processes": 64}


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A running engine with the reduced image. Skips, by name, only where there is none and none can be had."""
    try:
        install_programs()
        running = Engine()
    except EngineError as error:
        pytest.skip(f"no Docker engine: {error}")
    try:
        running.build_small()
        yield running
    finally:
        running.close()


@pytest.fixture
def docker(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The engine as the platform finds it; afterwards nothing of the test may be left on it."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    yield engine
    left = engine.left_over()
    engine.clear()  # one test's fault is not the next one's
    assert left == []


def policy_of(**more: object) -> SandboxPolicy:
    """A small container without a network."""
    return SandboxPolicy.model_validate({"kind": "docker", "image": SMALL, "network": "none", **SIZE, **more})


@pytest.fixture
def run(docker: Engine, tmp_path: Path) -> RunInContainer:
    """run(code, seconds=..., **policy) -> (outcome, place, Unix time of the deadline): Python source as the agent."""

    def call(code: str, seconds: float = 20.0, **policy: object) -> tuple[SandboxOutcome, SandboxPlace, float]:
        wanted = policy_of(**policy)
        sandbox = DockerSandbox(wanted)
        place = make_place(tmp_path / "sandbox" / "sketch--BALL--0001")
        deadline = time.time() + seconds
        outcome = sandbox.run(
            SandboxRequest(
                place=place,
                command=("python3", "-c", code),
                env=sandbox.view(place).environment,
                policy=wanted,
                deadline=deadline,
            )
        )
        return outcome, place, deadline

    return call


def stdout(place: SandboxPlace) -> str:
    """What the agent printed."""
    return (place.logs / "stdout.txt").read_text()


def processes_with(text: str) -> list[str]:
    """Command lines on this machine that hold `text`: a container's processes are processes of its host."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if text in line and not line.startswith("ps ")]
