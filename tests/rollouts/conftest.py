"""A task and an agent for rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import AudioPolicy, BenchmarkConfig, Rubric, SystemConfig, TaskSpec


def make_spec() -> TaskSpec:
    return TaskSpec.model_validate(
        {
            "id": "BALL",
            "title": "A ball",
            "category": "C04",
            "subcategories": ["S09"],
            "language": "en",
            "kind": "core",
            "freedom": "All else.",
            "delivery": {"width": 64, "height": 48, "fps": 25, "duration": {"min": 1, "max": 2}, "frames": 25},
            "audio": AudioPolicy(narration="not_used", music="optional", effects="required", ambience="not_used"),
        }
    )


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with one asset, and no rubric at all: a rollout must not look at it."""
    folder = tmp_path / "benchmark" / "tasks" / "BALL"
    (folder / "assets" / "data").mkdir(parents=True)
    asset = folder / "assets" / "data" / "table.csv"
    asset.write_text("a,b\n1,2\n")
    return Task(
        id="BALL", folder=folder, spec=make_spec(), prompt="Show a ball.\n", rubric=cast(Rubric, None), assets=(asset,)
    )


def make_config(**sandbox: object) -> BenchmarkConfig:
    return BenchmarkConfig.model_validate({"name": "b", "title": "B", "version": "1", "sandbox": sandbox})


def make_system(root: Path, code: str, **more: object) -> SystemConfig:
    """A system whose agent is this Python source."""
    (root / "agents" / "sketch").mkdir(parents=True)
    (root / "agents" / "sketch" / "main.py").write_text(code)
    return SystemConfig.model_validate(
        {
            "id": "sketch",
            "name": "Sketch",
            "lab": "Tests",
            "harness": "generic",
            "agent": ["agents/sketch"],
            "command": ["{python}", "{agent}/sketch/main.py", "{prompt}"],
            **more,
        }
    )


# Makes a true video of one second with the ffmpeg that lies on the PATH.
FILM = """
import subprocess
def film(path, *options):
    source = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1"]
    subprocess.run(["ffmpeg", "-v", "error", *source, "-pix_fmt", "yuv420p", *options, path], check=True)
"""
