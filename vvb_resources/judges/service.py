"""What a service's answer means before its text is read: errors by status and words, waits, usage, odd bodies.

Each provider reads its own envelope; what they share is here. Nothing raises on any body: a body is kept whatever it
is, and its outcome is decided from it.
"""

from __future__ import annotations

import datetime as dt
import importlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.errors import JudgeError
from vvb_resources.judges.types import JudgeRequest, Outcome, RawReply
from vvb_resources.judges.wire import wire_schema

_SCHEMA = re.compile(
    r"too many states|grammar (?:is )?too large|invalid schema|parameters exceed the limit|"
    r"(?:response_json_schema|response_?schema|response_format|json_schema|output_config)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"access the file \S+ or it may not exist|not in an active state|file \S* ?(?:has )?expired", re.IGNORECASE
)
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_OVERLOAD = frozenset({429, 503, 529})
_STOPS = frozenset({401, 402, 403, 404})
_DELAY = re.compile(r"\s*(\d+(?:\.\d+)?)s\s*\Z")
FAULT_CHARS = 300


@dataclass(frozen=True)
class Answered:
    """What came back of one call: HTTP status (None: nothing came), body, headers, or why nothing came."""

    status: int | None
    body: bytes
    headers: Mapping[str, str]
    lost: str | None = None


@dataclass(frozen=True)
class Envelope:
    """A provider's reading of a 200: its outcome, tokens by kind, and why, where it is not plainly good."""

    outcome: Outcome
    usage: Mapping[str, int]
    fault: str | None = None


def refusal(status: int, body: bytes) -> tuple[Outcome, str, bool]:
    """Outcome of an answer with an error status, the service's words, and whether it stops the judge."""
    document = as_json(body)
    error = document.get("error") if isinstance(document, dict) else None
    error = error if isinstance(error, dict) else {}
    message = str(error.get("message") or body[:FAULT_CHARS].decode("utf-8", "replace"))
    words = f"HTTP {status}: {' '.join(message.split())[:FAULT_CHARS]}"
    if _FILE.search(message):
        return "reupload", words, False
    if error.get("code") == "insufficient_quota" or error.get("type") in ("insufficient_quota", "billing_error"):
        return "fatal", words, True
    if status in (400, 422) and _SCHEMA.search(message):
        return "schema", words, False
    if status in _PASSING:
        return "retry", words, False
    return "fatal", words, status in _STOPS


def is_overload(raw: RawReply) -> bool:
    """Did the service say that it is asked too much: then every call to it has to pause."""
    found = re.match(r"HTTP (\d+)", raw.fault or "")
    return raw.outcome == "retry" and found is not None and int(found[1]) in _OVERLOAD


def retry_after_s(headers: Mapping[str, str], body: bytes) -> float | None:
    """Seconds to wait as the service asked: Retry-After (seconds, date, milliseconds) or Google's RetryInfo."""
    lower = {name.lower(): value for name, value in headers.items()}
    if (ms := _number(lower.get("retry-after-ms"))) is not None:
        return ms / 1000
    given = lower.get("retry-after")
    if given is not None:
        if (seconds := _number(given)) is not None:
            return seconds
        try:
            return max(0.0, (parsedate_to_datetime(given) - dt.datetime.now(dt.UTC)).total_seconds())
        except (ValueError, TypeError):
            return None
    document = as_json(body)
    error = document.get("error") if isinstance(document, dict) else None
    for detail in (error.get("details") or []) if isinstance(error, dict) else []:
        found = _DELAY.match(str(detail.get("retryDelay", ""))) if isinstance(detail, dict) else None
        if found:
            return float(found[1])
    return None


def _number(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:
        return None


def as_json(body: bytes) -> Any:
    """The body as JSON; None when it is not."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def whole_number(value: Any) -> int:
    """A count of tokens as services give it: absent, null or no number is 0."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def raw_reply(
    request: JudgeRequest, provider: str, answered: Answered, read_envelope: Callable[[bytes], Envelope]
) -> RawReply:
    """The stored form of a call's answer; `read_envelope` is the provider's reading of a 200."""
    envelope = read_envelope(answered.body) if answered.status == 200 else None
    made_at = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
    if envelope is not None:
        return RawReply(
            request.key,
            provider,
            answered.body,
            envelope.outcome,
            usage=envelope.usage,
            made_at=made_at,
            fault=envelope.fault,
        )
    if answered.status is None:
        return RawReply(
            request.key, provider, answered.body, "retry", made_at=made_at, fault=answered.lost or "nothing came"
        )
    outcome, words, stops = refusal(answered.status, answered.body)
    return RawReply(
        request.key,
        provider,
        answered.body,
        outcome,
        made_at=made_at,
        fault=words,
        unbilled=True,
        retry_after_s=retry_after_s(answered.headers, answered.body),
        stops_judge=stops,
    )


def endpoint_variable(provider: str) -> str:
    """Name of the environment variable that sends a provider's calls elsewhere (a gateway, a stand-in)."""
    return f"VVB_ENDPOINT_{provider.upper()}"


def effective(judge: JudgeConfig) -> JudgeConfig:
    """The judge with the endpoint that is really asked. It is part of a reply's key: another server, another reply."""
    override = os.environ.get(endpoint_variable(judge.provider))
    return judge.model_copy(update={"endpoint": override}) if override else judge


def api_key(judge: JudgeConfig, *, needed: bool = True) -> str:
    """The judge's key, from the environment variable its file names. Raises JudgeError when it is not set."""
    value = os.environ.get(judge.key) if judge.key else None
    if value:
        return value
    if judge.key is None and not needed:
        return "none"
    remedy = f"set {judge.key}" if judge.key else "name the variable that holds the key: `key:` in the panel's file"
    raise JudgeError("no API key", where=f"judge {judge.id}", remedy=remedy)


def opened(
    judge: JudgeConfig, names: frozenset[str], package: str, module: str, *, key_needed: bool = True
) -> tuple[dict[str, Any], str]:
    """Parameters and key of a judge whose provider has the parameters `names` and needs the SDK `module`.

    `package` is its name for pip. Raises JudgeError for an unknown parameter, no SDK or no key.
    """
    parameters = known_parameters(judge, names)
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise JudgeError(
            f"the SDK {package} is not installed",
            where=f"judge {judge.id}",
            remedy="pip install 'vibevideobench[judges]'",
        ) from error
    return parameters, api_key(judge, needed=key_needed)


def frames_alone(judge: JudgeConfig, otherwise: str = "") -> None:
    """Refuse a judge that hears or is not shown frames, for a provider that can do no more."""
    if judge.sees != "frames" or judge.hears:
        raise JudgeError(
            "this provider shows frames and no sound",
            where=f"judge {judge.id}",
            remedy=f"set sees: frames and hears: false{otherwise}",
        )


def called(sdk: Any, call: Callable[[], bytes]) -> Answered:
    """Make a call of an SDK of the OpenAI family (openai, anthropic) that returns its raw body.

    `sdk` is the module; what it raises becomes an answer with a status, or without one where nothing came.
    """
    import httpx2

    try:
        return Answered(200, call(), {})
    except sdk.APIStatusError as error:
        return Answered(error.status_code, error.response.content, dict(error.response.headers))
    except (sdk.APIConnectionError, httpx2.HTTPError, httpx2.StreamError, ConnectionError) as error:
        return Answered(None, b"", {}, f"connection lost ({type(error.__cause__ or error).__name__})")


def known_parameters(judge: JudgeConfig, names: frozenset[str]) -> dict[str, Any]:
    """The judge's parameters. Raises JudgeError for one its provider does not have."""
    unknown = sorted(set(judge.parameters) - names)
    if unknown:
        raise JudgeError(
            f"unknown parameters {', '.join(unknown)}",
            where=f"judge {judge.id}",
            remedy=f"provider {judge.provider} has: {', '.join(sorted(names))}",
        )
    return dict(judge.parameters)


def schema_in_words() -> str:
    """The wire schema as text, for a service that refused it as a schema."""
    return "Reply with JSON alone that fits this JSON Schema:\n" + json.dumps(wire_schema(), separators=(",", ":"))
