"""Gemini's batches: a JSONL file of requests, a batch with its token as display name, a file of results.

Files and not inline lists, because the SDK gives a file's bytes as they are.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.judges.batching.base import Line, json_lines
from vvb_resources.judges.providers.google import client_of
from vvb_resources.judges.service import Answered

ENDED = frozenset(
    {"JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED"}
    | {"JOB_STATE_PARTIALLY_SUCCEEDED"}
)
HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 16: 401}
"""HTTP status of a gRPC code inside a result; any other passes."""
PASSING = 503


def create(judge: JudgeConfig, key: str) -> GoogleBatches:
    """The interface of one judge's service."""
    return GoogleBatches(client_of(key, judge.endpoint, judge.limits.timeout_s), judge.model)


class GoogleBatches:
    """Batches of generateContent. The requests' file is named after the token, so that it can be deleted."""

    def __init__(self, client: Any, model: str) -> None:
        self._client, self._model = client, model

    def submit(self, token: str, lines: Sequence[Line]) -> str:
        """Upload the requests, then start the batch."""
        from google.genai import types

        rows = [json.dumps({"key": name, "request": body}, ensure_ascii=False) for name, body in lines]
        config = types.UploadFileConfig(mime_type="application/jsonl", display_name=token, name=token)
        stream = io.BytesIO("".join(row + "\n" for row in rows).encode())
        file = self._client.files.upload(file=stream, config=config)
        batch = self._client.batches.create(
            model=self._model, src=file.name, config=types.CreateBatchJobConfig(display_name=token)
        )
        return str(batch.name)

    def find(self, token: str, since: float) -> str | None:
        """Look through the batches for the display name."""
        for batch in self._client.batches.list(config={"page_size": 100}):
            if batch.display_name == token:
                return str(batch.name)
        return None

    def ended(self, batch: str) -> bool:
        """Is its state final."""
        state = self._client.batches.get(name=batch).state
        return state is not None and state.name in ENDED

    def results(self, batch: str) -> Iterator[tuple[str, Answered]]:
        """Responses as they came, errors with the status they stand for."""
        dest = self._client.batches.get(name=batch).dest
        if dest is None or not dest.file_name:
            return
        for line in json_lines(self._client.files.download(file=dest.file_name)):
            name, error = str(line.get("key")), line.get("error")
            if line.get("response") is not None:
                yield name, Answered(200, json.dumps(line["response"], ensure_ascii=False).encode(), {})
            elif isinstance(error, dict):
                yield name, Answered(HTTP.get(error.get("code", 0), PASSING), json.dumps({"error": error}).encode(), {})

    def forget(self, batch: str) -> None:
        """Delete the requests' file and the batch; the results' file goes with it."""
        found = self._client.batches.get(name=batch)
        self._client.files.delete(name=f"files/{found.display_name}")
        self._client.batches.delete(name=batch)
