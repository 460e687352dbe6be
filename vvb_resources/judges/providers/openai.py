"""GPT through the official SDK: sampled frames as images, each after a line with its time; the responses interface.

Nothing is left with the service (`store` is off), so there is nothing to take back.
"""

from __future__ import annotations

from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.judges.openai_wire import SCHEMA_NAME, client_of, image_tokens
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
from vvb_resources.judges.showing import SHOWING_VERSION, data_url, frame_count, frame_label, frames, shown_size
from vvb_resources.judges.types import JudgeRequest, Outcome, RawReply
from vvb_resources.judges.wire import wire_schema

VERSION = f"openai 1, {SHOWING_VERSION}"
MEASURES = False
PAID = True

PARAMETERS = frozenset({"effort", "temperature", "top_p", "detail", "service_tier", "verbosity"})
LABEL_TOKENS = 8


def create(judge: JudgeConfig, services: Services) -> OpenAIProvider:
    """The provider of one judge. Raises JudgeError for unknown parameters, no key, no SDK, or a judge that hears."""
    frames_alone(judge, ", or use provider openai_compatible")
    return OpenAIProvider(judge, *opened(judge, PARAMETERS, "openai", "openai"))


def media_tokens(judge: JudgeConfig, duration_s: float, width: int, height: int) -> int:
    """A 1280x720 image is 1,104 tokens, and each has a line with its time."""
    assert judge.sampling is not None
    each = image_tokens(*shown_size(judge.sampling, width, height)) + LABEL_TOKENS
    return frame_count(judge.sampling, duration_s) * each


def reply_text(body: bytes) -> str:
    """The output text of a response."""
    return "".join(text for kind, text in _parts(as_json(body)) if kind == "output_text")


def _parts(document: Any) -> list[tuple[str, str]]:
    """(kind, text) of each content part of the output messages."""
    found = []
    for item in (document.get("output") or []) if isinstance(document, dict) else []:
        for part in (item.get("content") or []) if isinstance(item, dict) else []:
            if isinstance(part, dict):
                kind = str(part.get("type"))
                found.append((kind, str(part.get("text") or part.get("refusal") or "")))
    return found


def read_envelope(body: bytes) -> Envelope:
    """Outcome and tokens of a response with status 200."""
    document = as_json(body)
    if not isinstance(document, dict):
        return Envelope("retry", {}, "a body that is no JSON")
    usage = _usage(document.get("usage"))
    why = str((document.get("incomplete_details") or {}).get("reason") or "")
    refused = [text for kind, text in _parts(document) if kind == "refusal"]
    outcome: Outcome = "ok"
    fault = None
    if refused or why == "content_filter":
        outcome, fault = "blocked", f"refused: {(refused or [why])[0]}"[:300]
    elif why == "max_output_tokens":
        outcome, fault = "truncated", "cut at the limit of output tokens"
    elif document.get("status") == "failed":
        outcome, fault = "retry", f"the response failed: {(document.get('error') or {}).get('message')}"[:300]
    elif not reply_text(body).strip():
        outcome, fault = "empty", "no text"
    return Envelope(outcome, usage, fault)


def _usage(counts: Any) -> dict[str, int]:
    if not isinstance(counts, dict) or not counts:
        return {}
    details = counts.get("input_tokens_details") or {}
    cached, write = whole_number(details.get("cached_tokens")), whole_number(details.get("cache_write_tokens"))
    thinking = whole_number((counts.get("output_tokens_details") or {}).get("reasoning_tokens"))
    return {
        "input": max(0, whole_number(counts.get("input_tokens")) - cached - write),
        "cached": cached,
        "cache_write": write,
        "output": max(0, whole_number(counts.get("output_tokens")) - thinking),
        "thinking": thinking,
    }


class OpenAIProvider:
    """Asks one judge; keeps the frames of its video between calls."""

    def __init__(self, judge: JudgeConfig, parameters: dict[str, Any], key: str) -> None:
        self._judge, self._parameters = judge, parameters
        self._client = client_of(key, judge.endpoint, judge.limits.timeout_s)
        self._frames: list[dict[str, Any]] | None = None

    def answer(self, request: JudgeRequest) -> RawReply:
        """Ask once."""
        import openai

        return raw_reply(request, "openai", called(openai, lambda: self._call(request)), read_envelope)

    def close(self) -> None:
        """Nothing is left with the service."""
        self._frames = None

    def _call(self, request: JudgeRequest) -> bytes:
        if self._frames is None:
            self._frames = self._images(request)
        text = user_text(request) + ("\n\n" + schema_in_words() if request.plain else "")
        schema = {"type": "json_schema", "name": SCHEMA_NAME, "schema": wire_schema(), "strict": True}
        options: dict[str, Any] = {k: v for k, v in self._parameters.items() if k in _DIRECT}
        if "effort" in self._parameters:
            options["reasoning"] = {"effort": self._parameters["effort"]}
        form: dict[str, Any] = {} if request.plain else {"format": schema}
        if "verbosity" in self._parameters:
            form["verbosity"] = self._parameters["verbosity"]
        response = self._client.responses.with_raw_response.create(
            model=self._judge.model,
            instructions=request.protocol,
            input=[{"role": "user", "content": [*self._frames, {"type": "input_text", "text": text}]}],
            max_output_tokens=request.max_output_tokens,
            store=False,
            **({"text": form} if form else {}),
            **options,
        )
        return bytes(response.http_response.content)

    def _images(self, request: JudgeRequest) -> list[dict[str, Any]]:
        detail = self._parameters.get("detail", "high")
        content: list[dict[str, Any]] = []
        for second, data in frames(self._judge, request.media):
            content.append({"type": "input_text", "text": frame_label(second)})
            content.append({"type": "input_image", "image_url": data_url(data, "image/jpeg"), "detail": detail})
        return content


_DIRECT = frozenset({"temperature", "top_p", "service_tier"})
