"""kill -9 in the middle, three times; then the same leaderboard as a run that nobody disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.platform import Platform, copy_of_starter

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("kill")]

# Killed while the first rollout is being made, after some rollouts, and in the middle of judging.
MOMENTS = ("made  catalogue", "made  rollout", "made  panel_dense")
RUNS = 4


def board(platform: Platform) -> list[dict[str, Any]]:
    return platform.json("leaderboard")["systems"]  # type: ignore[no-any-return]


def start_and_kill(platform: Platform, moment: str, log: Path) -> None:
    """Start a run, and kill it without mercy once its progress shows `moment`."""
    with log.open("w") as stderr:
        process = subprocess.Popen(platform.command("run"), env=platform.environment, stdout=stderr, stderr=stderr)
        until = time.monotonic() + 300
        while moment not in log.read_text():
            assert process.poll() is None, f"ended before {moment!r}:\n{log.read_text()}"
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def alive_below(folder: Path) -> list[str]:
    """Command lines of processes that name the folder or work in it: an agent that was left behind."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in command or str(entry.joinpath("cwd").resolve()).startswith(str(folder)):
                found.append(command)
        except OSError:
            continue
    return found


def test_a_run_that_was_killed_three_times_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    benchmark = copy_of_starter(tmp_path, tasks=("BOUNCE", "ORBIT"), systems=("raster", "vector"))
    calm, troubled = Platform(benchmark, tmp_path / "calm"), Platform(benchmark, tmp_path / "troubled")
    assert calm.json("run")["made"]["rollout"] == RUNS

    kept: dict[str, dict[str, Any]] = {}
    for number, moment in enumerate(MOMENTS):
        start_and_kill(troubled, moment, tmp_path / f"killed-{number}.log")
        on_disk = troubled.manifests()
        assert {path: on_disk.get(path) for path in kept} == kept, "what was on disk was made again"
        kept = on_disk
    time.sleep(1.0)
    assert alive_below(tmp_path / "troubled") == [], "an agent outlived the run that started it"

    report = troubled.json("run")
    assert report["failed"] == {}
    done = troubled.manifests()
    assert {path: done[path] for path in kept} == kept, "what was on disk was made again"
    assert board(troubled) == board(calm)
    assert troubled.json("plan")["stale"] == []

    again = troubled.json("run")
    assert (again["made"], again["published_again"]) == ({}, {}), "every artifact is published by now"
    assert list((troubled.home / "starter" / "staging").glob("*")) == []
