"""The wire formats that the gateway speaks: paths, keys, models, caps of output, errors in each service's own form.

Only the calls that an agent needs are let through. A service's other calls (files, batches, media generation) would be
paid with the same key, and the benchmark forbids models that generate media.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from vvb_resources.benchmark.models import Wire


@dataclass(frozen=True)
class WireFormat:
    """One service's wire format.

    `prefix` is what takes the place of `endpoint`, the service's own base URL. `calls` are let through, by method and
    path after the prefix: True where the call is billed. `key_header` and `key_prefix` carry the key.
    """

    prefix: str
    endpoint: str
    calls: tuple[tuple[str, re.Pattern[str], bool], ...]
    key_header: str
    key_prefix: str

    def billed(self, method: str, path: str) -> bool | None:
        """Is the call billed; None if it is not let through."""
        return next((paid for verb, pattern, paid in self.calls if verb == method and pattern.fullmatch(path)), None)


def _calls(*calls: tuple[str, str, bool]) -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    return tuple((method, re.compile(path), paid) for method, path, paid in calls)


_MODEL = r"[\w.@-]+"
_GEMINI = rf"/v1(?:beta|alpha)?/models/(?P<model>{_MODEL})"
WIRES: dict[Wire, WireFormat] = {
    "anthropic": WireFormat(
        prefix="/anthropic",
        endpoint="https://api.anthropic.com",
        calls=_calls(
            ("POST", r"/v1/messages", True),
            ("POST", r"/v1/messages/count_tokens", False),
            ("GET", rf"/v1/models(?:/{_MODEL})?", False),
            ("HEAD", r"/?", False),
        ),
        key_header="x-api-key",
        key_prefix="",
    ),
    "openai_chat": WireFormat(
        prefix="/openai/v1",
        endpoint="https://api.openai.com/v1",
        key_header="authorization",
        key_prefix="Bearer ",
        calls=_calls(("POST", r"/chat/completions", True), ("GET", rf"/models(?:/{_MODEL})?", False)),
    ),
    "openai_responses": WireFormat(
        prefix="/openai/v1",
        endpoint="https://api.openai.com/v1",
        key_header="authorization",
        key_prefix="Bearer ",
        calls=_calls(
            ("POST", r"/responses", True),
            ("POST", r"/responses/compact", True),
            ("GET", rf"/models(?:/{_MODEL})?", False),
        ),
    ),
    "gemini": WireFormat(
        prefix="/gemini",
        endpoint="https://generativelanguage.googleapis.com",
        calls=_calls(
            ("POST", _GEMINI + r":(?:generateContent|streamGenerateContent)", True),
            ("POST", _GEMINI + r":countTokens", False),
            ("GET", rf"/v1(?:beta)?/models(?:/{_MODEL})?", False),
        ),
        key_header="x-goog-api-key",
        key_prefix="",
    ),
}

_OUTPUT_CAPS = ("max_tokens", "max_output_tokens", "max_completion_tokens")


def model_of(path: str, body: Any) -> str | None:
    """The model that a call names, in its path or its body."""
    match = re.match(_GEMINI, path)
    if match:
        return match["model"]
    name = body.get("model") if isinstance(body, dict) else None
    return name if isinstance(name, str) else None


def output_cap(body: Any) -> int | None:
    """The bound on output tokens that a call sets; None where it sets none."""
    if not isinstance(body, dict):
        return None
    config = body.get("generationConfig")
    caps = [body.get(name) for name in _OUTPUT_CAPS]
    caps += [config.get("maxOutputTokens")] if isinstance(config, dict) else []
    return next((cap for cap in caps if isinstance(cap, int) and not isinstance(cap, bool) and cap > 0), None)


def error_body(wire: Wire, status: int, message: str) -> dict[str, Any]:
    """An error in the service's own form, so that a client reads it as one."""
    if wire == "anthropic":
        kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large"}
        return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}
    if wire == "gemini":
        states = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT"}
        return {"error": {"code": status, "message": message, "status": states.get(status, "UNAVAILABLE")}}
    return {"error": {"message": message, "type": "gateway_error", "param": None, "code": None}}
