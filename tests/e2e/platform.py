"""Driving `vvb` as a person does: another process, a benchmark folder of its own, a data home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
STARTER = REPOSITORY / "task_data" / "starter"


@dataclass(frozen=True)
class Platform:
    """A benchmark folder, a data home, and the checkout whose code is run (a copy, where a test edits code)."""

    benchmark: Path
    home: Path
    code: Path = field(default=REPOSITORY, kw_only=True)

    @property
    def environment(self) -> dict[str, str]:
        copied = {} if self.code == REPOSITORY else {"PYTHONPATH": str(self.code)}
        return {**os.environ, "VVB_BENCHMARK": str(self.benchmark), "VVB_HOME": str(self.home), **copied}

    @property
    def artifacts(self) -> Path:
        return self.home / "starter" / "artifacts"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "vvb_assets.cli", *arguments]

    def vvb(self, *arguments: str, expect: int = 0) -> str:
        """Run a command to its end; returns stdout. Fails with stderr when the exit code is another."""
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            cwd=self.code,
            capture_output=True,
            text=True,
            check=False,
            timeout=1500,
        )
        assert done.returncode == expect, f"vvb {' '.join(arguments)}: {done.returncode}\n{done.stderr[-4000:]}"
        return done.stdout

    def json(self, *arguments: str, expect: int = 0) -> Any:
        """Run a command with --json."""
        return json.loads(self.vvb(*arguments, "--json", expect=expect))

    def manifests(self) -> dict[str, dict[str, Any]]:
        """Every manifest by its path below the artifacts: the state of the store."""
        found = sorted(self.artifacts.rglob("artifact.json"))
        return {p.parent.relative_to(self.artifacts).as_posix(): json.loads(p.read_text()) for p in found}

    def payload(self, asset: str, partition: str | None = None) -> Path:
        """Folder with the files of an artifact."""
        place = self.artifacts / asset / ("_" if partition is None else partition.replace("|", "/"))
        return place / str(json.loads((place / "artifact.json").read_text())["payload"])


def copy_of_code(folder: Path) -> Path:
    """The two packages and Dagster's settings in `folder`, for a test that edits code; returns where."""
    target = folder / "code"
    for package in ("vvb_assets", "vvb_resources"):
        shutil.copytree(REPOSITORY / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "dagster.yaml", target)
    return target


def copy_of_starter(
    folder: Path, tasks: tuple[str, ...] = (), systems: tuple[str, ...] = (), panels: tuple[str, ...] = ()
) -> Path:
    """The starter benchmark in `folder`, cut down to some tasks, systems and panels (all, when none are named)."""
    target = folder / "starter"
    shutil.copytree(STARTER, target, ignore=shutil.ignore_patterns("__pycache__"))
    for task in (target / "tasks").iterdir():
        if tasks and task.name not in tasks:
            shutil.rmtree(task)
    for kind, kept in (("systems", systems), ("panels", panels)):
        for file in (target / kind).glob("*.yaml"):
            if kept and file.stem not in kept:
                file.unlink()
    return target
