"""What a batch interface is, and how one is found by its provider's name.

A batch is a file or list of requests that the service answers within a day, for less money. Each request has a custom
id, `<token>-<n>` with a random token: nothing in it tells whose video it is about. The token is known before the batch
is handed over, so that one whose id was never received can be found again.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.judges.service import Answered
from vvb_resources.judges.types import JudgeRequest

Line = tuple[str, dict[str, Any]]
"""Custom id and the body of a request."""


class Batchable(Protocol):
    """A provider whose requests can be put into a batch."""

    def body(self, request: JudgeRequest, batch: str = "") -> dict[str, Any]:
        """The request as a line of the batch with the token `batch`."""
        ...

    def close(self) -> None:
        """Let go of what the provider keeps of its video."""
        ...


class BatchService(Protocol):
    """The batch interface of one judge's service. Every method may raise what the SDK raises."""

    def submit(self, token: str, lines: Sequence[Line]) -> str:
        """Hand the requests over; returns the batch's id."""
        ...

    def find(self, token: str, since: float) -> str | None:
        """The id of the batch with this token, handed over after `since` (Unix seconds); None when there is none."""
        ...

    def ended(self, batch: str) -> bool:
        """Has the service done all it will do for the batch."""
        ...

    def results(self, batch: str) -> Iterator[tuple[str, Answered]]:
        """Custom id and answer of each request, in any order. A request without an answer may be absent."""
        ...

    def forget(self, batch: str) -> None:
        """Take back what was left with the service for the batch."""
        ...


def batch_service(judge: JudgeConfig, key: str) -> BatchService | None:
    """The batch interface of the judge's service; None where its provider has none here."""
    import vvb_resources.judges.batching as here

    names = {module.name for module in pkgutil.iter_modules(here.__path__)} - {"base"}
    if judge.provider not in names:
        return None
    module: Any = importlib.import_module(f"vvb_resources.judges.batching.{judge.provider}")
    return cast(BatchService, module.create(judge, key))


def has_batches(provider: str) -> bool:
    """Has the provider a batch interface here."""
    import vvb_resources.judges.batching as here

    return provider in {module.name for module in pkgutil.iter_modules(here.__path__)} - {"base"}


def json_lines(data: bytes) -> Iterator[Any]:
    """The documents of a JSONL file; lines that are no JSON are left out (their requests count as unanswered)."""
    from vvb_resources.judges.service import as_json

    for line in data.splitlines():
        document = as_json(line) if line.strip() else None
        if isinstance(document, dict):
            yield document
