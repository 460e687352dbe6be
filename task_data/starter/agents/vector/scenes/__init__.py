"""One module a task, found by the task's id in lower case; each has `make(brief, style) -> Film`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from kit.brief import Brief
from kit.deliver import Film

from vector.style import Style


def scene_of(brief: Brief) -> tuple[Callable[[Brief, Style], Film], Path]:
    """The scene made for `brief`'s task and the file it is in. Raises LookupError for a task nobody wrote one for."""
    name = brief.id.lower()
    path = Path(__file__).parent / f"{name}.py"
    if not name.isidentifier() or not path.is_file():
        raise LookupError(f"spec.json: no scene is written for task {brief.id}")
    return import_module(f"vector.scenes.{name}").make, path
