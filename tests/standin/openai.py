"""OpenAI's wire formats: responses (images) and chat completions (video, images, sound; whole or streamed)."""

from __future__ import annotations

import base64
import json
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.standin import batches
from tests.standin.answers import text_tokens
from tests.standin.shapes import Fault, Reply, Request, cut_text, data_url, only, require, strict_schema

if TYPE_CHECKING:
    from tests.standin.server import StandIn

IMAGE_TOKENS, SOUND_TOKENS = 200, 25
_RESPONSES = {
    "model",
    "instructions",
    "input",
    "max_output_tokens",
    "store",
    "service_tier",
    "text",
    "reasoning",
    "temperature",
    "top_p",
}
_CHAT = {
    "model",
    "messages",
    "max_tokens",
    "response_format",
    "stream",
    "stream_options",
    "temperature",
    "seed",
    "top_p",
}
_CHAT_EXTRA = {"modalities", "top_k"}


def error(status: int, message: str) -> dict[str, Any]:
    """An error as the service writes it."""
    code = "rate_limit_exceeded" if status == 429 else None
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def route(request: Request) -> str:
    """Which of the service's calls this is."""
    if request.path.startswith(("/v1/batches", "/v1/files")):
        return "openai.batch"
    return {"/v1/responses": "openai.responses", "/v1/chat/completions": "openai.chat"}.get(
        request.path, "openai.other"
    )


def respond(server: StandIn, request: Request, fault: Fault) -> Reply:
    """Answer a call. Raises Refused."""
    require(request.headers.get("authorization", "").startswith("Bearer "), "no API key", 401)
    if route(request) == "openai.batch":
        return batches.openai(server, request, batches.worked(server, "openai", error, partial(_responses, server)))
    require(request.method == "POST", "method not allowed", 405)
    if route(request) == "openai.responses":
        return _responses(server, request.json, fault)
    require(route(request) == "openai.chat", f"no such path {request.path}", 404)
    return _chat(server, request.json, fault)


def _responses(server: StandIn, body: Any, fault: Fault) -> Reply:
    only(body, _RESPONSES, "request")
    require(body.get("store") is False, "the stand-in insists on store: false")
    require(body.get("max_output_tokens", 0) >= 16, "max_output_tokens must be at least 16")
    form = (body.get("text") or {}).get("format")
    if form is not None:
        only(form, {"type", "name", "schema", "strict"}, "text.format")
        strict_schema(form["schema"])
    parts = [part for message in body["input"] for part in message["content"]]
    images = 0
    for part in parts:
        require(part.get("type") in ("input_text", "input_image"), f"Invalid value: {part.get('type')}")
        if part["type"] == "input_image":
            data_url(part["image_url"], "image/jpeg")
            images += 1
    prompt = "\n".join(part["text"] for part in parts if part["type"] == "input_text")
    text, cut = cut_text(server.reply(prompt), fault)
    tokens = text_tokens(prompt + body.get("instructions", "")) + images * IMAGE_TOKENS
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "incomplete" if cut else "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    answer = {
        "id": f"resp_{uuid.uuid4().hex[:8]}",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "status": message["status"],
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [message],
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": text_tokens(text) + 32,
            "output_tokens_details": {"reasoning_tokens": 32},
            "total_tokens": tokens + text_tokens(text) + 32,
        },
    }
    return Reply(answer, paid=True, usage={"input": tokens, "output": text_tokens(text) + 32}, text=prompt)


def _chat(server: StandIn, body: Any, fault: Fault) -> Reply:
    only(body, _CHAT | _CHAT_EXTRA, "request")
    require(isinstance(body.get("max_tokens"), int), "max_tokens is not set: the stand-in insists")
    form = body.get("response_format")
    if form is not None and form.get("type") == "json_schema":
        require(form["json_schema"].get("strict") is True, "strict is not set")
        strict_schema(form["json_schema"]["schema"])
    texts, tokens = [], 0
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            text, cost = _part(server, part)
            tokens += cost
            texts += [text] if message["role"] == "user" and text else []
    prompt = "\n".join(texts)
    text, cut = cut_text(server.reply(prompt), fault)
    usage = {
        "prompt_tokens": tokens,
        "completion_tokens": text_tokens(text),
        "total_tokens": tokens + text_tokens(text),
    }
    finish = "length" if cut else "stop"
    paid = {"input": tokens, "output": text_tokens(text)}
    base = {"id": f"chatcmpl-{uuid.uuid4().hex[:8]}", "created": 0, "model": body["model"]}
    if body.get("stream"):
        data = _events(base, text, finish, usage if (body.get("stream_options") or {}).get("include_usage") else None)
        return Reply(data, headers={"content-type": "text/event-stream"}, paid=True, usage=paid, text=prompt)
    choice = {"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": finish}
    answer = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    return Reply(answer, paid=True, usage=paid, text=prompt)


def _part(server: StandIn, part: dict[str, Any]) -> tuple[str, int]:
    """Text and tokens of a content part."""
    match part.get("type"):
        case "text":
            return part["text"], text_tokens(part["text"])
        case "image_url":
            data_url(part["image_url"]["url"], "image/jpeg")
            return "", IMAGE_TOKENS
        case "video_url":
            data_url(part["video_url"]["url"], "video/mp4")
            return "", round(IMAGE_TOKENS * server.video_s)
        case "input_audio":
            require(part["input_audio"].get("format") == "wav", "unsupported audio format")
            data = part["input_audio"]["data"].removeprefix("data:;base64,")  # Qwen's service takes a data URL
            require(base64.b64decode(data, validate=True)[:4] == b"RIFF", "not a WAV file")
            return "", round(SOUND_TOKENS * server.video_s)
    require(False, f"Invalid content type {part.get('type')}")
    raise AssertionError


def _events(base: dict[str, Any], text: str, finish: str, usage: dict[str, int] | None) -> bytes:
    chunks: list[Any] = [
        {"choices": [{"index": 0, "delta": {"content": text[i : i + 64]}, "finish_reason": None}]}
        for i in range(0, len(text), 64)
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage is not None:
        chunks.append({"choices": [], "usage": usage})
    lines = [json.dumps({**base, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
