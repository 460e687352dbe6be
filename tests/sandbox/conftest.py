"""A sandbox to test in: once without walls, and once inside bubblewrap where that works on this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.sandbox.base import SandboxOutcome, SandboxPlace, SandboxRequest
from vvb_resources.sandbox.bubblewrap import find_bubblewrap
from vvb_resources.sandbox.local import LocalSandbox

WALLS = ["open", "bubblewrap"] if find_bubblewrap()[0] else ["open"]

RunCode = Callable[..., tuple[SandboxOutcome, SandboxPlace]]


def make_place(root: Path) -> SandboxPlace:
    """The folders of a run, with one read-only input."""
    place = SandboxPlace(root)
    for folder in (place.work, place.inputs, place.delivery, place.bin, place.agent):
        folder.mkdir(parents=True)
    (place.work / "home").mkdir()
    (place.work / "tmp").mkdir()
    (place.inputs / "note.txt").write_text("given")
    (place.inputs / "note.txt").chmod(0o444)
    place.inputs.chmod(0o555)
    return place


def run_code(sandbox: LocalSandbox, root: Path, code: str, seconds: float, policy: SandboxPolicy) -> SandboxOutcome:
    """Run Python source as the agent."""
    place = make_place(root)
    view = sandbox.view(place)
    request = SandboxRequest(
        place=place,
        command=(sys.executable, "-c", code),
        env=view.environment,
        policy=policy,
        deadline=time.time() + seconds,
    )
    return sandbox.run(request)


@pytest.fixture(params=WALLS)
def sandbox(request: pytest.FixtureRequest) -> LocalSandbox:
    return LocalSandbox() if request.param == "bubblewrap" else LocalSandbox(None)


@pytest.fixture
def run(sandbox: LocalSandbox, tmp_path: Path) -> RunCode:
    """run(code, seconds=..., **policy) -> (outcome, place)."""

    def call(code: str, seconds: float = 20.0, **policy: object) -> tuple[SandboxOutcome, SandboxPlace]:
        root = tmp_path / "run"
        outcome = run_code(sandbox, root, code, seconds, SandboxPolicy.model_validate(policy))
        return outcome, SandboxPlace(root)

    return call


# A daemon that leaves session and process group by a double fork, and a beat that shows whether it lives.
DAEMON = """
import os, time
def beat():
    while True:
        open('tmp/beat', 'w').write(str(time.time()))
        time.sleep(0.02)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        beat()
    os._exit(0)
os.wait()
while not os.path.exists('tmp/beat'):
    time.sleep(0.01)
"""


def beats(work: Path) -> bool:
    """Does the daemon of DAEMON still write."""
    before = (work / "tmp" / "beat").stat().st_mtime_ns
    time.sleep(0.3)
    return (work / "tmp" / "beat").stat().st_mtime_ns != before
