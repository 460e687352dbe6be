"""What the stand-in's services share: a request, a reply, a fault, a refusal, and the rules for strict schemas."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

MARKS = {"image/jpeg": b"\xff\xd8\xff", "video/mp4": b"ftyp"}


@dataclass(frozen=True)
class Request:
    """A call below a service's base URL."""

    method: str
    path: str
    headers: dict[str, str]
    json: Any
    raw: bytes


@dataclass(frozen=True)
class Fault:
    """status (an error answer), drop (before an answer), drop_mid (inside it), truncate (cut by the cap), slow (late by
    `seconds`), stuck (an upload that never gets ready), body (an answer as given)."""

    kind: str
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    seconds: float = 0.0


@dataclass
class Reply:
    """An answer; `usage` is what is billed, by kind, `text` the model's text."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    paid: bool = False
    usage: dict[str, int] = field(default_factory=dict)
    text: str = ""


class Refused(Exception):
    """The request breaks a rule of the real service."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


def require(condition: object, message: str, status: int = 400) -> None:
    """Refuse the request unless `condition` holds."""
    if not condition:
        raise Refused(status, message)


def only(document: Any, allowed: set[str], where: str) -> None:
    """Refuse fields the service does not know."""
    require(isinstance(document, dict), f"{where} must be an object")
    unknown = set(document) - allowed
    require(not unknown, f"Unknown name {', '.join(sorted(unknown))} at {where}: cannot find field.")


def strict_schema(schema: Any, where: str = "schema") -> None:
    """Objects closed and all their properties required, no numeric bounds: what strict modes accept."""
    require(isinstance(schema, dict), f"Invalid schema: {where} is no object")
    banned = {"minimum", "maximum", "minItems", "maxItems", "pattern", "oneOf", "$ref"} & set(schema)
    require(not banned, f"Invalid schema: {where} has {', '.join(sorted(banned))}")
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        require(schema.get("additionalProperties") is False, f"Invalid schema: {where} must be closed")
        require(set(schema.get("required", [])) == set(properties), f"Invalid schema: {where} requires not all")
        for name, part in properties.items():
            strict_schema(part, f"{where}.{name}")
    if schema.get("type") == "array":
        strict_schema(schema.get("items"), f"{where}[]")


def data_url(url: Any, mime: str) -> bytes:
    """The bytes of a data URL of a given kind; refused when it is not one."""
    require(isinstance(url, str) and url.startswith(f"data:{mime};base64,"), f"not a data URL of {mime}")
    return media_bytes(url.partition(",")[2], mime)


def media_bytes(text: str, mime: str) -> bytes:
    """Base64 of a picture or video; refused when it is not one."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused(400, "invalid base64") from error
    require(MARKS[mime] in data[:16], f"Could not process: not {mime}")
    return data


def cut_text(text: str, fault: Fault) -> tuple[str, bool]:
    """The model's text, cut at six tenths by the fault `truncate`; and whether it was."""
    cut = fault.kind == "truncate"
    return (text[: len(text) * 6 // 10] if cut else text), cut
