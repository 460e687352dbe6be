"""The folders of a run before the agent starts: inputs and the agent's own files (read-only), and its keys."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxPlace


def lay_out(benchmark_root: Path, system: SystemConfig, task: Task, place: SandboxPlace) -> None:
    """Make the folders, the tools, and read-only copies of the task's inputs and the agent's files."""
    for folder in (place.work, place.delivery, place.work / "home", place.work / "tmp", place.bin, place.agent):
        folder.mkdir(parents=True)
    place.inputs.mkdir()
    for asset in task.assets:
        target = place.inputs / asset.relative_to(task.assets_root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(asset, target)
    for entry in system.agent:
        source = benchmark_root / entry
        target = place.agent / source.name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    for folder in (place.inputs, place.agent):
        _read_only(folder)


def _read_only(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def passed_keys(system: SystemConfig) -> dict[str, str]:
    """The variables that a system names in `keys`. Raises SandboxError for one that is not set."""
    missing = [name for name in system.keys if name not in os.environ]
    if missing:
        raise SandboxError(
            f"needs {', '.join(missing)}", where=f"system {system.id}", remedy="set it in the environment of vvb"
        )
    return {name: os.environ[name] for name in system.keys}
