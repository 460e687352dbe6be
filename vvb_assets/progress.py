"""How far a run is, for a person at a terminal. Steps report here; by default nobody listens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from vvb_assets.graph import Node


class Progress(Protocol):
    """A listener: told what is about to be made, and of each partition that was finished, failed or put off.

    Put off (`paused`): a limit of money was reached before it could be judged.
    """

    def begin(self, node: Node, total: int) -> None: ...

    def done(self, node: Node, partition: str | None, made: bool) -> None: ...

    def failed(self, node: Node, partition: str | None, why: str) -> None: ...

    def paused(self, node: Node, partition: str | None, why: str) -> None: ...


class Silent:
    """Listens to nothing (runs launched by the UI: Dagster's own log tells the story)."""

    def begin(self, node: Node, total: int) -> None:
        return

    def done(self, node: Node, partition: str | None, made: bool) -> None:
        return

    def failed(self, node: Node, partition: str | None, why: str) -> None:
        return

    def paused(self, node: Node, partition: str | None, why: str) -> None:
        return


_listeners: list[Progress] = [Silent()]


def current_progress() -> Progress:
    """The listener of this process."""
    return _listeners[-1]


@contextmanager
def listening(progress: Progress) -> Iterator[None]:
    """Let `progress` hear of what runs in this process meanwhile."""
    _listeners.append(progress)
    try:
        yield
    finally:
        _listeners.remove(progress)
