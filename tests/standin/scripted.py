"""A scripted model for real agent programs: whatever it is asked, it renders the task's video by one shell command.

It speaks the wire formats that agents use (Anthropic's messages, OpenAI's responses and chat, Gemini's generateContent,
each streamed), calls the shell tool that the program offers with `RENDER`, and ends the turn once it has seen a result.
Replies bill made-up but fixed counts of every kind of token, so that both accounts of a run can be compared.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RENDER = (Path(__file__).parent / "render_task.py").read_text()
COMMAND = f"cat > tmp/render.py <<'END_OF_SCRIPT'\n{RENDER}\nEND_OF_SCRIPT\npython tmp/render.py"
DONE = "The video lies in delivery/; it was rendered and not looked at."
SHELLS = ("Bash", "run_shell_command", "shell_command", "exec_command", "shell", "local_shell", "Shell")


class ScriptedModel:
    """The server; use as a context manager. `requests` holds (wire, path, body) of every call, in order."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.requests: list[tuple[str, str, Any]] = []
        outer = self

        class Handler(_Handler):
            model = outer

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self.http = Server((host, 0), Handler)
        self.url = f"http://{host}:{self.http.server_address[1]}"

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}', "application/json")

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens") or path.endswith(":countTokens"):
            self._send(b'{"input_tokens": 100, "totalTokens": 100}', "application/json")
            return
        wire, events, whole = _answer(path, body)
        self.model.requests.append((wire, path, body))
        streamed = body.get("stream") is True or "streamGenerateContent" in path
        if streamed:
            self._send(b"".join(events), "text/event-stream")
        else:
            self._send(json.dumps(whole).encode(), "application/json")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _answer(path: str, body: Any) -> tuple[str, list[bytes], Any]:
    if path.endswith("/messages"):
        return ("anthropic", *_anthropic(body))
    if path.endswith("/responses"):
        return ("openai_responses", *_responses(body))
    if path.endswith("/chat/completions"):
        return ("openai_chat", *_chat(body))
    return ("gemini", *_gemini(body))


def _sse(event: dict[str, Any], *, named: bool = False) -> bytes:
    head = f"event: {event['type']}\n" if named else ""
    return f"{head}data: {json.dumps(event)}\n\n".encode()


def _shell(names: list[str]) -> str | None:
    return next((name for name in SHELLS if name in names), None)


def _arguments(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a shell tool as its schema has them."""
    key = next(key for key in ("command", "cmd") if key in properties)
    listed = properties[key].get("type") == "array"
    arguments: dict[str, Any] = {key: ["bash", "-c", COMMAND] if listed else COMMAND}
    if "description" in properties:
        arguments["description"] = "Render the video"
    return arguments


# ---------------------------------------------------------------- Anthropic


def _anthropic(body: Any) -> tuple[list[bytes], Any]:
    tools = {tool["name"]: tool.get("input_schema", {}).get("properties", {}) for tool in body.get("tools", [])}
    seen = '"tool_result"' in json.dumps(body.get("messages", []))
    name = None if seen else _shell(list(tools))
    usage = {
        "input_tokens": 40,
        "cache_read_input_tokens": 3000 if seen else 0,
        "cache_creation_input_tokens": 200 if seen else 3000,
        "output_tokens": 60,
    }
    if name is None:
        block: dict[str, Any] = {"type": "text", "text": DONE}
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": DONE}
    else:
        arguments = _arguments(name, tools[name])
        block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:12]}", "name": name, "input": arguments}
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    reason = "end_turn" if name is None else "tool_use"
    message = {
        "id": f"msg_{uuid.uuid4().hex[:12]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    events = [
        {
            "type": "message_start",
            "message": {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": usage["output_tokens"]},
        },
        {"type": "message_stop"},
    ]
    return [_sse(event, named=True) for event in events], message


# ---------------------------------------------------------------- OpenAI


def _responses(body: Any) -> tuple[list[bytes], Any]:
    given = body.get("input", [])
    offered = [*body.get("tools", []), *(tool for item in given for tool in item.get("tools", []))]
    offered += [inner for tool in offered for inner in tool.get("tools", [])]  # of a namespace
    tools = {tool.get("name", tool["type"]): (tool.get("parameters") or {}).get("properties", {}) for tool in offered}
    seen = any(str(item.get("type")).endswith("_call_output") for item in given)
    name = None if seen else _shell(list(tools))
    custom = name is None and not seen and any(tool["type"] == "custom" and tool["name"] == "exec" for tool in offered)
    item: dict[str, Any]
    if custom:  # the program gives its model a script runner, and its shell inside that
        item = {
            "type": "custom_tool_call",
            "id": f"ctc_{uuid.uuid4().hex[:12]}",
            "call_id": f"call_{uuid.uuid4().hex[:12]}",
            "name": "exec",
            "input": f"text(await tools.exec_command({json.dumps({'cmd': COMMAND})}))",
            "status": "completed",
        }
    elif name is None:
        item = {
            "type": "message",
            "id": f"msg_{uuid.uuid4().hex[:12]}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": DONE, "annotations": []}],
        }
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{uuid.uuid4().hex[:12]}",
            "call_id": f"call_{uuid.uuid4().hex[:12]}",
            "name": name,
            "arguments": json.dumps(_arguments(name, tools[name])),
            "status": "completed",
        }
    response = {
        "id": f"resp_{uuid.uuid4().hex[:12]}",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": 4200,
            "input_tokens_details": {"cached_tokens": 4000 if seen else 0},
            "output_tokens": 90,
            "output_tokens_details": {"reasoning_tokens": 25},
            "total_tokens": 4290,
        },
    }
    events = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return [_sse(event, named=True) for event in events], response


def _chat(body: Any) -> tuple[list[bytes], Any]:
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters", {}).get("properties", {})
        for tool in body.get("tools", [])
    }
    seen = any(message.get("role") == "tool" for message in body["messages"])
    name = None if seen else _shell(list(tools))
    message: dict[str, Any] = {"role": "assistant", "content": DONE if name is None else None}
    if name is not None:
        arguments = json.dumps(_arguments(name, tools[name]))
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
        message["tool_calls"] = [call]
    finish = "stop" if name is None else "tool_calls"
    usage = {
        "prompt_tokens": 2000,
        "prompt_tokens_details": {"cached_tokens": 1500 if seen else 0},
        "completion_tokens": 50,
        "completion_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 2050,
    }
    base = {"id": f"chatcmpl-{uuid.uuid4().hex[:8]}", "created": 0, "model": body["model"]}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": usage},
    ]
    lines = [json.dumps({**base, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    whole = {**base, "object": "chat.completion", "usage": usage}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
    return [f"data: {line}\n\n".encode() for line in [*lines, "[DONE]"]], whole


# ---------------------------------------------------------------- Gemini


def _gemini(body: Any) -> tuple[list[bytes], Any]:
    declared = {
        one["name"]: (one.get("parametersJsonSchema") or one.get("parameters") or {}).get("properties", {})
        for tool in body.get("tools", [])
        for one in tool.get("functionDeclarations", [])
    }
    seen = bool(re.search(r'"functionResponse"', json.dumps(body.get("contents", []))))
    name = None if seen else _shell(list(declared))
    part: dict[str, Any] = {"text": DONE}
    if name is not None:
        part = {"functionCall": {"name": name, "args": _arguments(name, declared[name])}}
    usage = {
        "promptTokenCount": 5000,
        "cachedContentTokenCount": 4500 if seen else 0,
        "candidatesTokenCount": 70,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 5090,
    }
    whole = {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": usage,
        "modelVersion": "scripted",
        "responseId": uuid.uuid4().hex[:12],
    }
    return [_sse(whole)], whole
