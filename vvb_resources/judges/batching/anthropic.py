"""Anthropic's message batches. They carry no name of ours, so a lost one is known by the custom ids of its results."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.judges.batching.base import Line, json_lines
from vvb_resources.judges.providers.anthropic import client_of
from vvb_resources.judges.service import Answered

POLL_S = (0.2, 60.0)
STATUS = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
"""HTTP status of an error inside a result; any other passes."""
PASSING = 503


def create(judge: JudgeConfig, key: str) -> AnthropicBatches:
    """The interface of one judge's service."""
    return AnthropicBatches(client_of(key, judge.endpoint, judge.limits.timeout_s))


class AnthropicBatches:
    """Message batches."""

    def __init__(self, client: Any) -> None:
        self._batches = client.messages.batches

    def submit(self, token: str, lines: Sequence[Line]) -> str:
        """Hand the requests over."""
        batch = self._batches.create(requests=[{"custom_id": name, "params": body} for name, body in lines])
        return str(batch.id)

    def find(self, token: str, since: float) -> str | None:
        """Wait for each batch handed over after `since`, and look at the custom ids of its results."""
        for batch in self._batches.list(limit=100):
            if batch.created_at.timestamp() < since - 60:
                return None
            pause = POLL_S[0]
            while not self.ended(batch.id):
                time.sleep(pause)
                pause = min(POLL_S[1], pause * 1.5)
            if any(name.startswith(f"{token}-") for name, _ in self.results(batch.id)):
                return str(batch.id)
        return None

    def ended(self, batch: str) -> bool:
        """Has processing ended."""
        return bool(self._batches.retrieve(batch).processing_status == "ended")

    def results(self, batch: str) -> Iterator[tuple[str, Answered]]:
        """Messages as they came, errors with the status they stand for."""
        with self._batches.with_streaming_response.results(batch) as response:
            data = response.read()
        for line in json_lines(data):
            result = line.get("result") or {}
            name = str(line.get("custom_id"))
            if result.get("type") == "succeeded":
                yield name, Answered(200, json.dumps(result.get("message"), ensure_ascii=False).encode(), {})
            else:
                error = (result.get("error") or {}).get("error") or {"message": f"the request {result.get('type')}"}
                status = STATUS.get(str(error.get("type")), PASSING)
                yield name, Answered(status, json.dumps({"error": error}).encode(), {})

    def forget(self, batch: str) -> None:
        """Delete the batch with its requests and results."""
        self._batches.delete(batch)
