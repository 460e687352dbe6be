"""Reading a reply's usage while it passes by: server-sent events line by line, other replies whole, memory bounded."""

from __future__ import annotations

import json
import zlib
from typing import Any

from vvb_resources.benchmark.models import Wire
from vvb_resources.harnesses.trajectory.types import Tokens

MAX_LINE = 16 << 20
MAX_WHOLE = 64 << 20
USAGE_KEYS: dict[Wire, bytes] = {
    "anthropic": b'"usage"',
    "openai_chat": b'"usage"',
    "openai_responses": b'"usage"',
    "gemini": b'"usageMetadata"',
}


class UsageReader:
    """Is fed a reply's bytes as they come; `tokens` is what it has reported so far, None before it reported any.

    `finished` is true once the reply has said that it is over: a stream that was cut has not.
    """

    def __init__(self, wire: Wire, content_type: str, encoding: str | None) -> None:
        self.wire = wire
        self.tokens: Tokens | None = None
        self.finished = False
        self.failed = False
        self._events = content_type.startswith("text/event-stream")
        self._buffer = bytearray()
        self._lost = False
        self._inflate = zlib.decompressobj(47) if encoding in ("gzip", "deflate") else None
        self._unreadable = encoding not in (None, "", "identity", "gzip", "deflate")

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._unreadable:
            return
        if self._inflate is not None:
            try:
                data = self._inflate.decompress(data, MAX_WHOLE)
            except zlib.error:
                self._unreadable = True
                return
        self._buffer += data
        if not self._events:
            if len(self._buffer) > MAX_WHOLE:
                self._unreadable = True
                self._buffer.clear()
            return
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            if self._lost:  # the end of a line that was too long
                self._lost = False
            else:
                self._line(bytes(line).strip())
        if len(self._buffer) > MAX_LINE:
            self._buffer.clear()
            self._lost = True

    def end(self) -> None:
        """The reply is over, as the connection or its own last event has it."""
        if self._events:
            self._line(bytes(self._buffer).strip())
        elif self._buffer and not self._unreadable:
            value = _json(bytes(self._buffer))
            for document in value if isinstance(value, list) else [value]:
                self._document(document)
            self.finished = self.finished or value is not None
        self._buffer.clear()

    def _line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.finished = True
        elif (
            USAGE_KEYS[self.wire] in data or b"message_stop" in data or b'"response.' in data[:80] or b'"error"' in data
        ):
            self._document(_json(data))

    def _document(self, value: Any) -> None:
        if not isinstance(value, dict):
            return
        kind = value.get("type")
        if self.wire == "anthropic":
            self.finished = self.finished or kind == "message_stop"
            message = value.get("message") if kind == "message_start" else value
            usage = message.get("usage") if isinstance(message, dict) else None
        elif self.wire == "openai_responses":
            response = value.get("response") if isinstance(value.get("response"), dict) else value
            self.finished = self.finished or kind in ("response.completed", "response.incomplete", "response.failed")
            self.failed = self.failed or kind == "response.failed"
            usage = response.get("usage") if isinstance(response, dict) else None
        elif self.wire == "openai_chat":
            usage = value.get("usage")
        else:
            usage = value.get("usageMetadata")
            candidates = value.get("candidates")
            ended = (
                [c.get("finishReason") for c in candidates if isinstance(c, dict)]
                if isinstance(candidates, list)
                else []
            )
            self.finished = self.finished or any(ended)
        self.failed = self.failed or (
            kind == "error" or (self._events and "error" in value and value["error"] is not None)
        )
        if isinstance(usage, dict):
            found = read_usage(self.wire, usage)
            self.tokens = found if self.tokens is None else self.tokens.most(found)


def read_usage(wire: Wire, usage: dict[str, Any]) -> Tokens:
    """A service's usage in our kinds: prompt includes cached and cache writes, output includes reasoning."""
    if wire == "anthropic":
        cached, created = _count(usage, "cache_read_input_tokens"), _count(usage, "cache_creation_input_tokens")
        return Tokens(
            prompt=_count(usage, "input_tokens") + cached + created,
            cached=cached,
            cache_creation=created,
            output=_count(usage, "output_tokens"),
        )
    if wire == "gemini":
        thoughts = _count(usage, "thoughtsTokenCount")
        return Tokens(
            prompt=_count(usage, "promptTokenCount"),
            cached=_count(usage, "cachedContentTokenCount"),
            output=_count(usage, "candidatesTokenCount") + _count(usage, "toolUsePromptTokenCount") + thoughts,
            reasoning=thoughts,
        )
    given, taken = ("input", "output") if wire == "openai_responses" else ("prompt", "completion")
    return Tokens(
        prompt=_count(usage, f"{given}_tokens"),
        cached=_count(usage.get(f"{given}_tokens_details"), "cached_tokens"),
        cache_creation=_count(usage.get(f"{given}_tokens_details"), "cache_write_tokens"),
        output=_count(usage, f"{taken}_tokens"),
        reasoning=_count(usage.get(f"{taken}_tokens_details"), "reasoning_tokens"),
    )


def _count(usage: Any, key: str) -> int:
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
