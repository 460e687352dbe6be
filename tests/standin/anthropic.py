"""Anthropic's wire format: messages with images and the prompt cache."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.standin import batches
from tests.standin.answers import text_tokens
from tests.standin.shapes import Fault, Reply, Request, cut_text, media_bytes, only, require, strict_schema

if TYPE_CHECKING:
    from tests.standin.server import StandIn

IMAGE_TOKENS = 170
_BODY = {"model", "max_tokens", "system", "messages", "output_config", "thinking", "service_tier"}
_TYPES = {429: "rate_limit_error", 529: "overloaded_error", 400: "invalid_request_error", 401: "authentication_error"}


def error(status: int, message: str) -> dict[str, Any]:
    """An error as the service writes it."""
    return {"type": "error", "error": {"type": _TYPES.get(status, "api_error"), "message": message}}


def route(request: Request) -> str:
    """Which of the service's calls this is."""
    if request.path.startswith("/v1/messages/batches"):
        return "anthropic.batch"
    return "anthropic.messages" if request.path == "/v1/messages" else "anthropic.other"


def respond(server: StandIn, request: Request, fault: Fault) -> Reply:
    """Answer a call. Raises Refused."""
    require({"x-api-key", "authorization"} & set(request.headers), "x-api-key header is required", 401)
    require(request.headers.get("anthropic-version"), "anthropic-version header is required")
    if route(request) == "anthropic.batch":
        return batches.anthropic(server, request, batches.worked(server, "anthropic", error, partial(_message, server)))
    require(route(request) == "anthropic.messages", "not found", 404)
    return _message(server, request.json, fault)


def _message(server: StandIn, body: Any, fault: Fault) -> Reply:
    only(body, _BODY, "request")
    require("max_tokens" in body, "max_tokens: Field required")
    form = (body.get("output_config") or {}).get("format")
    if form is not None:
        only(form, {"type", "schema"}, "output_config.format")
        strict_schema(form["schema"])
    parts = [part for message in body["messages"] for part in message["content"]]
    blocks = [*body.get("system", []), *parts]
    require(sum("cache_control" in block for block in blocks) <= 4, "at most 4 blocks with cache_control")
    images = 0
    for part in parts:
        if part["type"] == "image":
            only(part["source"], {"type", "media_type", "data"}, "source")
            media_bytes(part["source"]["data"], "image/jpeg")
            images += 1
    prompt = "\n".join(part["text"] for part in parts if part["type"] == "text")
    text, cut = cut_text(server.reply(prompt), fault)
    tokens = text_tokens(prompt + "".join(block["text"] for block in body.get("system", []))) + images * IMAGE_TOKENS
    cached = any("cache_control" in block for block in blocks)
    answer = {
        "id": f"msg_{uuid.uuid4().hex[:8]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "max_tokens" if cut else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 0 if cached else tokens,
            "cache_creation_input_tokens": tokens if cached else 0,
            "cache_read_input_tokens": 0,
            "output_tokens": text_tokens(text),
        },
    }
    kind = "cache_write" if cached else "input"
    return Reply(answer, paid=True, usage={kind: tokens, "output": text_tokens(text)}, text=prompt)
