"""A parent that is killed with SIGKILL leaves nothing that runs, and nothing innocent is ever killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.conftest import WALLS, beats
from vvb_resources.sandbox.processes import identity
from vvb_resources.sandbox.reaper import alive, boot_id, reap_stale, strays

PARENT = """
import sys, pathlib, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored when the tests themselves run in the background
from tests.sandbox.conftest import DAEMON, run_code
from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.sandbox.local import LocalSandbox
sandbox = LocalSandbox() if sys.argv[2] == "bubblewrap" else LocalSandbox(None)
run_code(sandbox, pathlib.Path(sys.argv[1]), DAEMON + "time.sleep(120)", 120, SandboxPolicy())
"""
REPOSITORY = Path(__file__).resolve().parents[2]


@contextmanager
def running(root: Path, walls: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    """A platform process in the middle of a run, and the state file of that run."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(root), walls], cwd=REPOSITORY)
    try:
        until = time.monotonic() + 30
        while not ((root / "work/tmp/beat").exists() and (root / "state.json").exists()):
            assert time.monotonic() < until, "the agent did not start"
            time.sleep(0.02)
        yield parent, json.loads((root / "state.json").read_text())
    finally:
        parent.kill()
        parent.wait()


def gone(root: Path) -> bool:
    """Wait up to ten seconds for every process of the run to be gone."""
    until = time.monotonic() + 10
    while strays(root) and time.monotonic() < until:
        time.sleep(0.02)
    return not strays(root)


@pytest.mark.parametrize("walls", WALLS)
def test_killed_parent_takes_its_agent_along(tmp_path: Path, walls: str) -> None:
    root = tmp_path / "run"
    with running(root, walls) as (parent, state):
        assert beats(root / "work")
        parent.kill()
        parent.wait()
        assert gone(root)
        assert not beats(root / "work")
    reaped = reap_stale(tmp_path)
    assert [item.root for item in reaped] == [root]
    assert not alive(state["supervisor"])
    assert not (root / "state.json").exists()
    assert reap_stale(tmp_path) == []


@pytest.mark.parametrize("walls", WALLS)
def test_reaper_ends_what_a_stopped_supervisor_cannot(tmp_path: Path, walls: str) -> None:
    root = tmp_path / "run"
    with running(root, walls) as (parent, state):
        os.kill(state["supervisor"]["pid"], signal.SIGSTOP)
        parent.kill()
        parent.wait()
        assert beats(root / "work")
        (reaped,) = reap_stale(tmp_path)
    assert state["supervisor"]["pid"] in reaped.ended
    assert len(reaped.ended) >= 2
    assert gone(root)
    assert not beats(root / "work")


def test_run_of_a_living_parent_is_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "run"
    with running(root, "open"):
        assert reap_stale(tmp_path) == []
        assert beats(root / "work")
        assert (root / "state.json").exists()
    assert gone(root)


def test_recycled_process_id_is_not_killed(tmp_path: Path) -> None:
    innocent = subprocess.Popen(["sleep", "60"])
    try:
        root = tmp_path / "run"
        root.mkdir()
        other = {"pid": innocent.pid, "ticks": identity(innocent.pid)["ticks"] - 1}
        state = {"root": str(root), "boot": boot_id(), "parent": other, "supervisor": other}
        (root / "state.json").write_text(json.dumps(state))
        (reaped,) = reap_stale(tmp_path)
        assert reaped.ended == ()
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


def test_state_of_another_boot_names_nobody(tmp_path: Path) -> None:
    innocent = subprocess.Popen(["sleep", "60"])
    try:
        root = tmp_path / "run"
        root.mkdir()
        mine = identity(innocent.pid)
        (root / "state.json").write_text(
            json.dumps({"root": str(root), "boot": "another", "parent": mine, "supervisor": mine})
        )
        (reaped,) = reap_stale(tmp_path)
        assert reaped.ended == ()
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


def test_interrupted_caller_ends_the_agent_first(tmp_path: Path) -> None:
    root = tmp_path / "run"
    with running(root, "open") as (parent, _):
        parent.send_signal(signal.SIGINT)
        assert parent.wait(20) != 0
        assert strays(root) == []
