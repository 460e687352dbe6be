"""Batches of the three services: handed over, done after `batch_polls` looks, each request answered as a call is."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.standin.shapes import Refused, Reply, Request, only, require

if TYPE_CHECKING:
    from tests.standin.server import StandIn

CUSTOM_ID = r"[0-9a-f]{16}-\d+"


@dataclass
class HeldBatch:
    """A batch as the service holds it; `results` are (custom id, reply) once it is done."""

    id: str
    service: str
    lines: list[tuple[str, Any]]
    label: str = ""
    input_file: str = ""
    at: float = field(default_factory=time.time)
    polls: int = 0
    results: list[tuple[str, Reply]] | None = None

    @property
    def created(self) -> str:
        return dt.datetime.fromtimestamp(self.at, dt.UTC).isoformat()


def take(server: StandIn, service: str, lines: list[tuple[str, Any]], label: str = "", file: str = "") -> HeldBatch:
    """Accept a batch. Its custom ids have to be unique, and to say nothing about what they stand for."""
    names = [name for name, _ in lines]
    require(lines, "a batch needs a request")
    require(len(set(names)) == len(names), "custom ids must be unique")
    require(all(re.fullmatch(CUSTOM_ID, name) for name in names), f"a telling custom id: {names[:1]}")
    batch = HeldBatch(f"batch_{uuid.uuid4().hex[:10]}", service, lines, label, file)
    with server.lock:
        server.batches[batch.id] = batch
    return batch


def look(server: StandIn, batch: HeldBatch, work: Callable[[Any], tuple[str, Reply]]) -> bool:
    """One look at a batch; does its work when its time has come. True: it is done.

    `work` gives the prompt's text and the reply to one request's body.
    """
    with server.lock:
        batch.polls += 1
        if batch.results is None and batch.polls > server.batch_polls:
            batch.results = []
            due = True
        else:
            due = False
    if due:
        for name, body in batch.lines:
            marker, reply = work(body)
            server.log_batched(f"{batch.service}.batched", body, marker, reply)
            batch.results.append((name, reply))
    return batch.results is not None


def held(server: StandIn, batch_id: str) -> HeldBatch:
    """The batch, or the refusal that it is not there."""
    require(batch_id in server.batches, "batch not found", 404)
    return server.batches[batch_id]


def worked(server: StandIn, service: str, error: Callable[[int, str], Any], call: Callable[[Any, Any], Reply]) -> Any:
    """What does the work of one request: the service's own answer, or a pushed fault, or its refusal."""

    def work(body: Any) -> tuple[str, Reply]:
        found = re.search(r"\[\[marker: ([\w.-]+)\]\]", json.dumps(body))
        marker = found[1] if found else ""
        from tests.standin.shapes import Fault

        fault = server.fault_for(f"{service}.batched", marker) or Fault("none")
        if fault.kind == "status":
            return marker, Reply(error(fault.status, "injected"), fault.status)
        try:
            return marker, call(body, fault)
        except Refused as refused:
            return marker, Reply(error(refused.status, refused.message), refused.status)

    return work


# ---------------------------------------------------------------- Anthropic


def anthropic(server: StandIn, request: Request, work: Any) -> Reply:
    """/v1/messages/batches ..."""
    rest, url = request.path.removeprefix("/v1/messages/batches").strip("/"), f"{server.url}/anthropic"
    if request.method == "POST":
        only(request.json, {"requests"}, "request")
        lines = [(row["custom_id"], row["params"]) for row in request.json["requests"]]
        return Reply(_anthropic(take(server, "anthropic", lines)))
    if not rest:
        found = [b for b in server.batches.values() if b.service == "anthropic"]
        rows = [_anthropic(b, url) for b in sorted(found, key=lambda b: -b.at)]
        return Reply({"data": rows, "has_more": False, "first_id": None, "last_id": None})
    batch = held(server, rest.split("/")[0])
    if request.method == "DELETE":
        del server.batches[batch.id]
        return Reply({"id": batch.id, "type": "message_batch_deleted"})
    if not rest.endswith("/results"):
        look(server, batch, work)
        return Reply(_anthropic(batch, url))
    require(batch.results is not None, "not ended")
    rows = []
    for name, reply in batch.results or []:
        good = {"type": "succeeded", "message": reply.body}
        rows.append({"custom_id": name, "result": good if reply.status == 200 else _errored(reply)})
    return Reply(_jsonl(rows), headers={"content-type": "application/x-jsonl"})


def _errored(reply: Reply) -> dict[str, Any]:
    return {"type": "errored", "error": reply.body}


def _anthropic(batch: HeldBatch, url: str = "") -> dict[str, Any]:
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.results is not None else "in_progress",
        "request_counts": dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0),
        "created_at": batch.created,
        "expires_at": batch.created,
        "ended_at": None,
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"{url}/v1/messages/batches/{batch.id}/results" if batch.results is not None else None,
    }


# ---------------------------------------------------------------- OpenAI


def openai(server: StandIn, request: Request, work: Any) -> Reply:
    """/v1/files and /v1/batches ..."""
    kind, _, rest = request.path.removeprefix("/v1/").partition("/")
    if kind == "files":
        return _openai_file(server, request, rest)
    if request.method == "POST":
        only(request.json, {"input_file_id", "endpoint", "completion_window", "metadata"}, "request")
        require(request.json["endpoint"] == "/v1/responses", "unsupported endpoint")
        file = request.json["input_file_id"]
        require(file in server.batch_files, "no such file", 404)
        rows = [json.loads(line) for line in server.batch_files[file].splitlines()]
        for row in rows:
            only(row, {"custom_id", "method", "url", "body"}, "line")
            require((row["method"], row["url"]) == ("POST", "/v1/responses"), "wrong method or url")
        lines = [(row["custom_id"], row["body"]) for row in rows]
        return Reply(_openai(take(server, "openai", lines, request.json["metadata"]["tag"], file)))
    if not rest:
        rows = [_openai(b) for b in server.batches.values() if b.service == "openai"]
        return Reply({"object": "list", "data": rows[::-1], "has_more": False})
    batch = held(server, rest)
    if look(server, batch, work) and f"file-{batch.id}" not in server.batch_files and batch.polls > 0:
        rows = []
        for name, reply in batch.results or []:
            response = {"status_code": reply.status, "request_id": "r", "body": reply.body}
            rows.append({"id": "l", "custom_id": name, "response": response, "error": None})
        server.batch_files.setdefault(f"file-{batch.id}", _jsonl(rows))
    return Reply(_openai(batch))


def _openai_file(server: StandIn, request: Request, rest: str) -> Reply:
    if request.method == "POST":
        require(b'name="purpose"\r\n\r\nbatch' in request.raw, "purpose must be batch")
        found = re.search(rb'filename="([^"]+)"[^\r]*\r\n(?:[^\r]+\r\n)*\r\n(.*?)\r\n--', request.raw, re.DOTALL)
        require(found, "no file")
        assert found is not None
        require(re.fullmatch(rb"[0-9a-f]{16}\.jsonl", found[1]), f"a telling file name: {found[1]!r}")
        name = f"file-{uuid.uuid4().hex[:8]}"
        server.batch_files[name] = found[2]
        return Reply({"id": name, "object": "file", "bytes": 1, "created_at": 0, "filename": "f", "purpose": "batch"})
    file = rest.split("/", maxsplit=1)[0]
    require(file in server.batch_files, "no such file", 404)
    if request.method == "DELETE":
        del server.batch_files[file]
        return Reply({"id": file, "object": "file", "deleted": True})
    return Reply(server.batch_files[file], headers={"content-type": "application/octet-stream"})


def _openai(batch: HeldBatch) -> dict[str, Any]:
    done = batch.results is not None
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/responses",
        "completion_window": "24h",
        "created_at": int(batch.at),
        "input_file_id": batch.input_file,
        "status": "completed" if done else "in_progress",
        "output_file_id": f"file-{batch.id}" if done else None,
        "metadata": {"tag": batch.label},
    }


# ---------------------------------------------------------------- Gemini


def gemini(server: StandIn, request: Request, work: Any) -> Reply:
    """models/X:batchGenerateContent, batches/..., files/...:download."""
    path = re.sub(r"^/v1(?:beta)?/", "", request.path)
    if path.endswith(":batchGenerateContent"):
        only(request.json, {"batch"}, "request")
        batch_body = request.json["batch"]
        only(batch_body, {"displayName", "inputConfig"}, "batch")
        file = batch_body["inputConfig"]["fileName"]
        require(file in server.files, "no such file", 404)
        rows = [json.loads(line) for line in server.files[file]["_data"].splitlines()]
        lines = [(row["key"], row["request"]) for row in rows]
        return Reply(_gemini(take(server, "gemini", lines, batch_body["displayName"], file)))
    if path == "batches":
        return Reply({"operations": [_gemini(b) for b in server.batches.values() if b.service == "gemini"]})
    if path.endswith(":download"):
        file = path.removesuffix(":download")
        require(file in server.batch_files, "no such file", 404)
        return Reply(server.batch_files[file], headers={"content-type": "application/octet-stream"})
    batch = held(server, path.removeprefix("batches/"))
    if request.method == "DELETE":
        del server.batches[batch.id]
        server.batch_files.pop(f"files/{batch.id}", None)
        return Reply({})
    if look(server, batch, work):
        rows = [_gemini_line(name, reply) for name, reply in batch.results or []]
        server.batch_files[f"files/{batch.id}"] = _jsonl(rows)
    return Reply(_gemini(batch))


def _gemini_line(name: str, reply: Reply) -> dict[str, Any]:
    if reply.status == 200:
        return {"key": name, "response": reply.body}
    return {"key": name, "error": {"code": 8 if reply.status == 429 else 13, "message": "injected"}}


def _gemini(batch: HeldBatch) -> dict[str, Any]:
    done = batch.results is not None
    metadata = {
        "displayName": batch.label,
        "state": "BATCH_STATE_SUCCEEDED" if done else "BATCH_STATE_RUNNING",
        "createTime": batch.created,
        **({"output": {"responsesFile": f"files/{batch.id}"}} if done else {}),
    }
    return {"name": f"batches/{batch.id}", "metadata": metadata}


def _jsonl(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
