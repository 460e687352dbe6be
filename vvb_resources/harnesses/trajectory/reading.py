"""A harness's log -> its trajectory: finds the parser, reads what is there, and says what is not."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import harness_ids
from vvb_resources.harnesses.trajectory.draft import Reading
from vvb_resources.harnesses.trajectory.lines import LogFile, Notes, read_log
from vvb_resources.harnesses.trajectory.types import Trajectory

Parser = Callable[[Sequence[LogFile], Notes], Reading]


def parser_ids() -> tuple[str, ...]:
    """Ids of the harnesses whose log can be read, sorted."""
    return tuple(name for name in harness_ids() if _module(name) is not None)


def read_trajectory(parser_id: str, path: Path) -> Trajectory:
    """The trajectory in the log `path`, a file or a folder, of the harness `parser_id`.

    Whatever the content, something is returned, and `complete` says whether it is whole. Raises SandboxError for an
    unknown parser and for a path that is not there or cannot be read.
    """
    module = _module(parser_id) if parser_id in harness_ids() else None
    if module is None:
        raise SandboxError(
            f"no harness {parser_id!r} whose log can be read",
            where=str(path),
            remedy=f"use one of: {', '.join(parser_ids())}",
        )
    if not path.exists():
        raise SandboxError("there is no such log", where=str(path), remedy="name a log file or the folder of logs")
    notes = Notes()
    try:
        files = read_log(path, module.LOG_FILES, notes)
    except OSError as error:
        raise SandboxError(f"cannot be read ({error.strerror})", where=str(path)) from error
    reading = cast(Parser, module.parse)(files, notes)
    reading.unanswered(notes)
    reading.unmetered(notes)
    return Trajectory(
        harness=parser_id,
        harness_version=reading.version,
        session=reading.session,
        steps=tuple(draft.step() for draft in reading.drafts),
        complete=notes.count == 0,
        problems=notes.all(),
        reported_usd=reading.reported_usd,
    )


def _module(name: str) -> Any:
    """The harness's module, if it can parse."""
    module = importlib.import_module(f"vvb_resources.harnesses.{name}")
    return module if hasattr(module, "parse") else None
