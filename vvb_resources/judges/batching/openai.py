"""OpenAI's batches: a JSONL file of requests, a batch with its token as metadata, files of results and of errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.judges.batching.base import Line, json_lines
from vvb_resources.judges.openai_wire import client_of
from vvb_resources.judges.service import Answered

ENDPOINT = "/v1/responses"
TAG = "tag"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


def create(judge: JudgeConfig, key: str) -> OpenAIBatches:
    """The interface of one judge's service."""
    return OpenAIBatches(client_of(key, judge.endpoint, judge.limits.timeout_s))


class OpenAIBatches:
    """Batches of the responses interface."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, token: str, lines: Sequence[Line]) -> str:
        """Upload the requests, then start the batch."""
        rows = [{"custom_id": name, "method": "POST", "url": ENDPOINT, "body": body} for name, body in lines]
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        file = self._client.files.create(file=(f"{token}.jsonl", data), purpose="batch")
        batch = self._client.batches.create(
            input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", metadata={TAG: token}
        )
        return str(batch.id)

    def find(self, token: str, since: float) -> str | None:
        """Look through the batches from the newest to `since`."""
        for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(TAG) == token:
                return str(batch.id)
            if batch.created_at < since - 3600:
                return None
        return None

    def ended(self, batch: str) -> bool:
        """Is its status final."""
        return self._client.batches.retrieve(batch).status in ENDED

    def results(self, batch: str) -> Iterator[tuple[str, Answered]]:
        """Answers from the output file, refusals and expired requests from the error file."""
        found = self._client.batches.retrieve(batch)
        for file in (found.output_file_id, found.error_file_id):
            if not file:
                continue
            for line in json_lines(self._client.files.content(file).content):
                response, error = line.get("response"), line.get("error")
                name = str(line.get("custom_id"))
                if isinstance(response, dict) and response.get("body") is not None:
                    body = json.dumps(response["body"], ensure_ascii=False).encode()
                    yield name, Answered(int(response.get("status_code") or 0), body, {})
                elif error:
                    yield name, Answered(503, json.dumps({"error": error}).encode(), {})

    def forget(self, batch: str) -> None:
        """Delete its files; the batch's own record stays with the service and names no video."""
        found = self._client.batches.retrieve(batch)
        for file in (found.input_file_id, found.output_file_id, found.error_file_id):
            if file:
                self._client.files.delete(file)
