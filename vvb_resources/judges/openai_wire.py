"""What the two providers of OpenAI's wire formats share: the client, and reading chat replies, whole or streamed.

The SDK's `parse` helpers raise on a cut reply and lose the paid body; here the raw body is kept and read afterwards.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from vvb_resources.judges.service import Envelope, as_json, whole_number
from vvb_resources.judges.types import JudgeRequest, Outcome
from vvb_resources.judges.wire import wire_schema

SCHEMA_NAME = "judgment"


@lru_cache(maxsize=16)
def client_of(key: str, endpoint: str | None, timeout_s: float) -> Any:
    """One client a judge, without retries of its own: one policy for all providers (calls.py)."""
    from openai import OpenAI

    return OpenAI(api_key=key, base_url=endpoint or "https://api.openai.com/v1", timeout=timeout_s, max_retries=0)


def chat_schema() -> dict[str, Any]:
    """The wire schema as chat completions take it."""
    return {"type": "json_schema", "json_schema": {"name": SCHEMA_NAME, "schema": wire_schema(), "strict": True}}


def chat_text(body: bytes) -> str:
    """The text of a chat reply's first choice, whole or as server-sent events."""
    return _chat(body)[0]


def chat_envelope(body: bytes) -> Envelope:
    """Outcome and tokens of a chat reply with status 200."""
    text, finish, refused, usage = _chat(body)
    outcome: Outcome = "ok"
    fault = None
    if refused or finish == "content_filter":
        outcome, fault = "blocked", f"refused: {refused or finish}"[:300]
    elif finish == "length":
        outcome, fault = "truncated", "cut at the limit of output tokens"
    elif finish == "":
        if body.lstrip()[:5] == b"data:":
            return Envelope("retry", usage, "the stream ended before the reply did")
        outcome, fault = ("ok", None) if text.strip() else ("empty", "no choice")
    elif not text.strip():
        outcome, fault = "empty", "no text"
    return Envelope(outcome, usage, fault)


def _chat(body: bytes) -> tuple[str, str, str, dict[str, int]]:
    """Text, reason of the end, refusal and usage."""
    text: list[str] = []
    refused: list[str] = []
    finish = ""
    counts: Any = {}
    for document in _documents(body):
        if not isinstance(document, dict):
            continue
        counts = document.get("usage") or counts
        choices = document.get("choices") or []
        choice = choices[0] if choices and isinstance(choices[0], dict) else {}
        message = choice.get("message") or choice.get("delta") or {}
        finish = choice.get("finish_reason") or finish
        for into, name in ((text, "content"), (refused, "refusal")):
            if isinstance(message.get(name), str):
                into.append(message[name])
    return "".join(text), finish, "".join(refused), chat_usage(counts)


def _documents(body: bytes) -> list[Any]:
    """The JSON of a body: one, or one for each event of a stream."""
    if body.lstrip()[:5] != b"data:":
        return [as_json(body)]
    lines = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return [as_json(line) for line in lines if line != b"[DONE]"]


def chat_usage(counts: Any) -> dict[str, int]:
    """Tokens by kind of a chat reply's usage; {} when it gives none."""
    if not isinstance(counts, dict) or not counts:
        return {}
    cached = whole_number((counts.get("prompt_tokens_details") or {}).get("cached_tokens"))
    thinking = whole_number((counts.get("completion_tokens_details") or {}).get("reasoning_tokens"))
    return {
        "input": max(0, whole_number(counts.get("prompt_tokens")) - cached),
        "cached": cached,
        "output": max(0, whole_number(counts.get("completion_tokens")) - thinking),
        "thinking": thinking,
    }


def image_tokens(width: int, height: int) -> int:
    """Tokens of an image of GPT's patch models: 1,104 at 1280x720, in proportion to its 32-pixel patches (920)."""
    patches = -(-width // 32) * -(-height // 32)
    return round(patches * 1.2)


def user_request(request: JudgeRequest, content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages of a chat request: the protocol, then media and text."""
    return [{"role": "system", "content": request.protocol}, {"role": "user", "content": content}]
