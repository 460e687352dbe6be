"""Claude through the official SDK: sampled frames as images; protocol and frames are marked for the prompt cache."""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.judges.prompt import user_text
from vvb_resources.judges.providers.base import Services
from vvb_resources.judges.service import (
    Envelope,
    as_json,
    called,
    frames_alone,
    opened,
    raw_reply,
    schema_in_words,
    whole_number,
)
from vvb_resources.judges.showing import SHOWING_VERSION, frame_count, frame_label, frames, shown_size
from vvb_resources.judges.types import JudgeRequest, Outcome, RawReply
from vvb_resources.judges.wire import wire_schema

VERSION = f"anthropic 1, {SHOWING_VERSION}"
MEASURES = False
PAID = True

PARAMETERS = frozenset({"effort", "thinking", "service_tier"})
LABEL_TOKENS = 8
PIXELS_PER_TOKEN = 770
CACHE = {"cache_control": {"type": "ephemeral"}}


def create(judge: JudgeConfig, services: Services) -> AnthropicProvider:
    """The provider of one judge. Raises JudgeError for unknown parameters, no key, no SDK, or a judge that hears."""
    frames_alone(judge)
    return AnthropicProvider(judge, *opened(judge, PARAMETERS, "anthropic", "anthropic"))


def media_tokens(judge: JudgeConfig, duration_s: float, width: int, height: int) -> int:
    """About 1,196 tokens for a 1280x720 image, in proportion to its pixels, and a line with its time."""
    assert judge.sampling is not None
    wide, high = shown_size(judge.sampling, width, height)
    return frame_count(judge.sampling, duration_s) * (round(wide * high / PIXELS_PER_TOKEN) + LABEL_TOKENS)


def reply_text(body: bytes) -> str:
    """The text blocks of a message."""
    document = as_json(body)
    blocks = document.get("content") if isinstance(document, dict) else None
    return "".join(str(b.get("text", "")) for b in blocks or [] if isinstance(b, dict) and b.get("type") == "text")


def read_envelope(body: bytes) -> Envelope:
    """Outcome and tokens of a message with status 200."""
    document = as_json(body)
    if not isinstance(document, dict):
        return Envelope("retry", {}, "a body that is no JSON")
    usage, stop = _usage(document.get("usage")), str(document.get("stop_reason") or "")
    outcome: Outcome = "ok"
    fault = None
    if stop == "refusal":
        outcome, fault = "blocked", "refused"
    elif stop == "max_tokens":
        outcome, fault = "truncated", "cut at the limit of output tokens"
    elif stop == "model_context_window_exceeded":
        outcome, fault = "fatal", "the video and the rubric do not fit into the model's context: sample fewer frames"
    elif not reply_text(body).strip():
        outcome, fault = "empty", f"no text ({stop or 'no reason'})"
    return Envelope(outcome, usage, fault)


def _usage(counts: Any) -> dict[str, int]:
    if not isinstance(counts, dict) or not counts:
        return {}
    return {
        "input": whole_number(counts.get("input_tokens")),
        "cached": whole_number(counts.get("cache_read_input_tokens")),
        "cache_write": whole_number(counts.get("cache_creation_input_tokens")),
        "output": whole_number(counts.get("output_tokens")),
    }


@lru_cache(maxsize=16)
def _client(key: str, endpoint: str | None, timeout_s: float) -> Any:
    from anthropic import Anthropic

    # With a timeout of its own the SDK lets a call without streaming ask for many tokens.
    return Anthropic(api_key=key, base_url=endpoint or "https://api.anthropic.com", timeout=timeout_s, max_retries=0)


class AnthropicProvider:
    """Asks one judge; keeps the frames of its video between calls."""

    def __init__(self, judge: JudgeConfig, parameters: dict[str, Any], key: str) -> None:
        self._judge, self._parameters = judge, parameters
        self._client = _client(key, judge.endpoint, judge.limits.timeout_s)
        self._frames: list[dict[str, Any]] | None = None

    def answer(self, request: JudgeRequest) -> RawReply:
        """Ask once."""
        import anthropic

        return raw_reply(request, "anthropic", called(anthropic, lambda: self._call(request)), read_envelope)

    def close(self) -> None:
        """Nothing is left with the service."""
        self._frames = None

    def _call(self, request: JudgeRequest) -> bytes:
        if self._frames is None:
            self._frames = self._images(request)
        text = user_text(request) + ("\n\n" + schema_in_words() if request.plain else "")
        output: dict[str, Any] = {}
        if not request.plain:
            output["format"] = {"type": "json_schema", "schema": wire_schema()}
        if "effort" in self._parameters:
            output["effort"] = self._parameters["effort"]
        options = {name: self._parameters[name] for name in ("thinking", "service_tier") if name in self._parameters}
        response = self._client.messages.with_raw_response.create(
            model=self._judge.model,
            max_tokens=request.max_output_tokens,
            system=[{"type": "text", "text": request.protocol, **CACHE}],
            messages=[{"role": "user", "content": [*self._frames, {"type": "text", "text": text}]}],
            **({"output_config": output} if output else {}),
            **options,
        )
        return bytes(response.http_response.content)

    def _images(self, request: JudgeRequest) -> list[dict[str, Any]]:
        """Frames with their times; the last one ends the part that a second question finds in the cache."""
        content: list[dict[str, Any]] = []
        for second, data in frames(self._judge, request.media):
            source = {"type": "base64", "media_type": "image/jpeg", "data": base64.b64encode(data).decode()}
            content += [{"type": "text", "text": frame_label(second)}, {"type": "image", "source": source}]
        if content:
            content[-1] = {**content[-1], **CACHE}
        return content
