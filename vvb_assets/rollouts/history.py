"""The attempts of a (system, task) that did not count, each with its folder: what happened, when, and what it cost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vvb_assets.rollouts.faults import EndKind
from vvb_assets.rollouts.takeover import DROPPED
from vvb_resources.gateway.calls import GatewaySummary
from vvb_resources.sandbox.base import SandboxOutcome, SandboxPlace
from vvb_resources.store.atomic import write_json

ATTEMPT = "attempt.json"


class Attempt(BaseModel):
    """An attempt that ended otherwise than by the agent. `run` names its folder below the data home's sandbox folder.

    `at` is Unix time; `seconds`, `calls` and `usd` are None where they are not known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: str
    task: str
    run: str
    kind: EndKind
    why: str
    at: float
    seconds: float | None
    calls: int | None
    usd: float | None


def write_attempt(
    place: SandboxPlace,
    system: str,
    task: str,
    kind: EndKind,
    why: str,
    outcome: SandboxOutcome | None = None,
    gateway: GatewaySummary | None = None,
) -> None:
    """Write down, in the folder that stays, how an attempt ended."""
    attempt = Attempt(
        system=system,
        task=task,
        run=place.root.name,
        kind=kind,
        why=why,
        at=outcome.started_at if outcome else time.time(),
        seconds=outcome.seconds if outcome else None,
        calls=gateway.calls if gateway else None,
        usd=gateway.usd if gateway else None,
    )
    place.root.mkdir(parents=True, exist_ok=True)
    write_json(place.root / ATTEMPT, attempt.model_dump(mode="json"))


def past_attempts(state_dir: Path, system: str, task: str) -> tuple[Attempt, ...]:
    """Attempts of the pair below `state_dir` that did not count, oldest first."""
    found = [a for a in _attempts(state_dir) if (a.system, a.task) == (system, task)]
    return tuple(sorted(found, key=lambda attempt: attempt.at))


def _attempts(state_dir: Path) -> Iterator[Attempt]:
    """Those that were written down, and those that were dropped when their platform was killed."""
    for path in state_dir.glob(f"*/{ATTEMPT}"):
        try:
            yield Attempt.model_validate_json(path.read_text())
        except (OSError, ValidationError):
            continue
    for path in state_dir.glob(f"*/{DROPPED}"):
        if (path.parent / ATTEMPT).exists():
            continue
        try:
            card = json.loads(path.read_text())["card"]
            yield Attempt(
                system=card["system"],
                task=card["task"],
                run=path.parent.name,
                kind="interrupted",
                why="the platform was killed",
                at=path.stat().st_mtime,
                seconds=None,
                calls=None,
                usd=None,
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue
