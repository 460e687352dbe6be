"""One module a task, found by the task's id in lower case; each has `make(brief) -> Piece`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from kit.brief import Brief

from raster.finish import Piece


def scene_for(task: str) -> Callable[[Brief], Piece]:
    """The scene of `task`. Raises LookupError for a task nobody wrote one for."""
    name = task.lower()
    if not name.isidentifier() or not (Path(__file__).parent / f"{name}.py").is_file():
        raise LookupError(f"spec.json: no scene is written for task {task}")
    return import_module(f"raster.scenes.{name}").make
