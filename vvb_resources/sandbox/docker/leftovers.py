"""Runs whose platform was killed: taken up where they were, brought out of their container, or removed.

A run has a card beside it (container.json) from before its container is made until everything of it is on this
machine. Whatever carries this data home's label and has no card is nobody's, and is removed.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

from vvb_resources.sandbox.base import SandboxOutcome, SandboxPlace, load_outcome, save_outcome
from vvb_resources.sandbox.docker import container as engine_run
from vvb_resources.sandbox.docker.ending import Ending, finish
from vvb_resources.sandbox.docker.engine import connect, talking
from vvb_resources.sandbox.docker.naming import Names
from vvb_resources.sandbox.helpers import end_helpers
from vvb_resources.sandbox.reaper import alive, boot_id

CARD = "container.json"


def resume(place: SandboxPlace) -> SandboxOutcome | None:
    """Go on with the run in `place`: wait for its end, or take what it left.

    None when it never started, so that nothing is lost by a fresh start; everything of it is then removed. The caller
    knows that nobody else owns `place`. Raises WallsError when the run is lost: its way to the model gateway did not
    last, or its container did not. Then too nothing of it is left.
    """
    client = connect()
    outcome, ending = load_outcome(place), _read(place)
    if outcome is not None or ending is None:
        remove_run(place)
        return outcome
    try:
        outcome = finish(client, place, ending, resumed=True)
    except Exception:
        remove_run(place)
        raise
    if outcome is None:
        remove_run(place)
        return None
    end_helpers(place)
    return put_away(client, place, outcome)


def put_away(client: Any, place: SandboxPlace, outcome: SandboxOutcome) -> SandboxOutcome:
    """What the run left is whole and on disk: say so durably, then remove the original."""
    save_outcome(place, outcome)
    with talking(place.root.name):
        engine_run.remove(client, Names.of(place.root))
    (place.root / CARD).unlink(missing_ok=True)
    return outcome


def bring_out(place: SandboxPlace) -> str:
    """Finish a killed platform's run if its agent has ended; says in words how it stands. Raises SandboxError."""
    ending = _read(place)
    if ending is None or load_outcome(place) is not None:
        remove_run(place)
        return "had ended; what it left will be taken up"
    client, names = connect(), Names.of(place.root)
    with talking(names.container):
        found = client.containers(all=True, filters={"name": f"^/{names.container}$"})
    if found and found[0]["State"] == "running":
        until = dt.datetime.fromtimestamp(ending.deadline, dt.UTC).strftime("%H:%M:%S UTC")
        return f"its agent is still at work (until {until} at most) and will be taken up"
    return "had ended; what it left was brought out" if resume(place) else "had not begun; it is made again"


def remove_run(place: SandboxPlace) -> None:
    """Remove what the engine has of a run, its helpers and its card. Raises SandboxError."""
    end_helpers(place)
    with talking(place.root.name):
        engine_run.remove(connect(), Names.of(place.root))
    (place.root / CARD).unlink(missing_ok=True)


def remove_unclaimed(owner: Path, claimed: set[str]) -> list[str]:
    """Remove what the engine has of runs of the folder `owner` that are neither `claimed` nor a living process's.

    Returns the names of those runs. Raises SandboxError.
    """
    client, folder = connect(), owner.resolve()
    with talking(str(folder)):
        found = sorted(engine_run.left_runs(client, str(folder)) - claimed)
        gone = [run for run in found if not _owned(folder / run / CARD)]
        for run in gone:
            engine_run.remove(client, Names.of(folder / run))
    return gone


def _read(place: SandboxPlace) -> Ending | None:
    """What the card says of the run's end; None without one. It is written whole or not at all."""
    card = place.root / CARD
    if not card.exists():
        return None
    content = json.loads(card.read_text())
    content.pop("mark")
    return Ending.model_validate(content)


def _owned(card: Path) -> bool:
    """Does a living process of this boot own the run?"""
    if not card.exists():
        return False
    owner = json.loads(card.read_text())["mark"]
    return bool(owner["boot"] == boot_id() and alive(owner["parent"]))
