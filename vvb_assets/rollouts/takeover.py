"""Runs whose platform was killed: what a new one takes up again, and what it clears away.

Each run has a card in its folder, written before the agent can start and gone with the folder once the rollout is
committed. With it a killed run is finished (its container may have worked on, or be over), or made again without being
forgotten: no run is executed twice, none is lost, nothing is left without an owner.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vvb_resources.errors import SandboxError, VvbError
from vvb_resources.sandbox.base import SandboxPlace
from vvb_resources.sandbox.helpers import end_unowned
from vvb_resources.sandbox.reaper import alive, boot_id, mark
from vvb_resources.store.atomic import write_json
from vvb_resources.store.trees import remove_tree

CARD, DROPPED = "rollout.json", "rollout.dropped.json"


@dataclass(frozen=True)
class Card:
    """What has to be known of a run to go on with it. `given` is the digest of all that the agent is given.

    `brief` are the texts that it was told, `log` the path of its own log below the work folder, `kind` the sandbox's,
    `parser` and `stdout_is_log` what the harness says of its log.
    """

    system: str
    task: str
    kind: str
    attempt: int
    given: str
    log: str | None
    brief: dict[str, str]
    parser: str | None = None
    stdout_is_log: bool = False


def write_card(place: SandboxPlace, card: Card) -> None:
    """Put the card into the run's folder, durably, with the mark of this process as its owner."""
    write_json(place.root / CARD, {"card": asdict(card), "mark": mark(place.root)})


def read_card(place: SandboxPlace) -> Card | None:
    """The card of a run; None when there is none that can be read."""
    content = _content(place.root / CARD)
    try:
        return Card(**content["card"]) if content else None
    except (KeyError, TypeError):
        return None


def drop(place: SandboxPlace) -> None:
    """The run is not to be taken up again; its folder stays as evidence."""
    card = place.root / CARD
    if card.exists():
        card.replace(place.root / DROPPED)


def abandon(place: SandboxPlace, kind: str) -> None:
    """The run is of no use any more (what it was given has changed): end and remove it, keep its folder as evidence."""
    if kind == "docker":
        from vvb_resources.sandbox.docker.leftovers import remove_run

        remove_run(place)
    drop(place)


def left_runs(state_dir: Path) -> list[tuple[SandboxPlace, Card]]:
    """Runs below `state_dir` that have a card and no living owner, oldest attempt first."""
    found = []
    for path in sorted(state_dir.resolve().glob(f"*/{CARD}")):
        place = SandboxPlace(path.parent)
        card = read_card(place)
        if card is not None and not _owned(path):
            found.append((place, card))
    return sorted(found, key=lambda item: item[1].attempt)


def settle(state_dir: Path, committed: Callable[[str, str], str | None], *, engine: bool) -> list[str]:
    """Clear up what killed platforms left below `state_dir`; returns what was done, for a person.

    `committed(system, task)` names the run (its folder) that the stored rollout came from. What was committed goes
    away; what is over is brought out of its container; an agent that still works is left to the run that will want it.
    `engine` says that the benchmark uses the Docker engine, so that containers without a folder are looked for. An
    engine that is away is told, and the next platform tries again.
    """
    told = []
    for place, card in left_runs(state_dir):
        try:
            if committed(card.system, card.task) == place.root.name:
                release(place, card.kind)
                told.append(f"{place.root.name}: was committed; its folder is removed")
            elif card.kind == "docker":
                from vvb_resources.sandbox.docker.leftovers import bring_out

                told.append(f"{place.root.name}: {bring_out(place)}")
        except VvbError as error:
            told.append(f"{place.root.name}: left as it is ({error})")
    claimed = {path.parent.name for path in state_dir.glob(f"*/{CARD}")}
    told += [f"{name}: its helpers are ended" for name in end_unowned(state_dir, claimed)]
    return told + (_unclaimed(state_dir) if engine else [])


def release(place: SandboxPlace, kind: str) -> None:
    """Remove a run whose rollout is committed: what the engine may still have of it, then its folder."""
    if kind == "docker":
        from vvb_resources.sandbox.docker.leftovers import CARD as CONTAINER_CARD
        from vvb_resources.sandbox.docker.leftovers import remove_run

        if (place.root / CONTAINER_CARD).exists():
            remove_run(place)
    remove_tree(place.root)


def _unclaimed(state_dir: Path) -> list[str]:
    """Remove containers, volumes and networks of this data home that no card speaks for."""
    from vvb_resources.sandbox.docker.leftovers import remove_unclaimed

    try:
        claimed = {path.parent.name for path in state_dir.glob(f"*/{CARD}")}
        names = remove_unclaimed(state_dir, claimed)
        return [f"{name}: removed from the Docker engine, nothing speaks for it" for name in names]
    except SandboxError as error:
        return [f"containers could not be looked for: {error}"]


def _owned(path: Path) -> bool:
    """Does a living process of this boot own the card at `path`?"""
    content = _content(path)
    try:
        return bool(content) and content["mark"]["boot"] == boot_id() and alive(content["mark"]["parent"])
    except (KeyError, TypeError):
        return False


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
