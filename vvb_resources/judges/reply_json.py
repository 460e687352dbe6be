"""JSON as judges write it: in a code fence, with a sentence before it, or cut in the middle of a row."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 4_000_000


class _Repeated:
    """A value given twice in one object, differently."""

    def __repr__(self) -> str:
        return "<given twice>"


REPEATED = _Repeated()

_FENCE = re.compile(r"\A\s*```[A-Za-z0-9]*\s*\n?(.*?)(?:\n?\s*```\s*)?\Z", re.DOTALL)
_SPACE = re.compile(r"[\s,]*")
_KEY = re.compile(r'\s*,?\s*("(?:[^"\\]|\\.)*")\s*:\s*')


@dataclass(frozen=True)
class ReplyDocument:
    """The rows of a reply. `cut`: the JSON ends before it is whole."""

    checks: tuple[Any, ...]
    scores: tuple[Any, ...]
    cut: bool
    problems: tuple[str, ...] = ()


def parse_document(text: str) -> ReplyDocument:
    """Rows of `checks` and `scores` in a reply's text; of a cut text, the rows that are whole.

    Text without a JSON object gives no rows and a problem. Never raises.
    """
    if len(text) > MAX_CHARS:
        return ReplyDocument((), (), False, (f"longer than {MAX_CHARS} characters",))
    fenced = _FENCE.match(text)
    body = fenced[1] if fenced else text
    start = body.find("{")
    if start < 0:
        return ReplyDocument((), (), False, ("no JSON object",))
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=lambda _: REPEATED)
    try:
        whole, end = decoder.raw_decode(body, start)
    except (json.JSONDecodeError, RecursionError, ValueError):
        return _rows_of_cut(decoder, body, start)
    problems = ("text after the JSON object",) if body[end:].strip() else ()
    return ReplyDocument(_rows(whole, "checks"), _rows(whole, "scores"), False, problems)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key given twice with different values has none that could be trusted."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        result[key] = value if key not in result or result[key] == value else REPEATED
    return result


def _rows(document: Any, name: str) -> tuple[Any, ...]:
    rows = document.get(name) if isinstance(document, dict) else None
    return tuple(rows) if isinstance(rows, list) else ()


def _rows_of_cut(decoder: json.JSONDecoder, body: str, start: int) -> ReplyDocument:
    """Walk the outer object key by key, its lists row by row, up to the first row that is not whole."""
    rows: dict[str, list[Any]] = {"checks": [], "scores": []}
    at = start + 1
    while found := _KEY.match(body, at):
        at, name = found.end(), found[1].strip('"')
        try:
            if not body.startswith("[", at):
                _, at = decoder.raw_decode(body, at)
                continue
            at = _SPACE.match(body, at + 1).end()  # type: ignore[union-attr]
            while at < len(body) and body[at] != "]":
                row, at = decoder.raw_decode(body, at)
                rows.setdefault(name, []).append(row)
                at = _SPACE.match(body, at).end()  # type: ignore[union-attr]
            at += 1
        except (json.JSONDecodeError, RecursionError, ValueError):
            break
    cut = _is_open(body[start:])
    return ReplyDocument(tuple(rows["checks"]), tuple(rows["scores"]), cut, ("cut",) if cut else ("not JSON",))


def _is_open(text: str) -> bool:
    """Does the text end inside a string or with a bracket that was never closed."""
    depth, quoted, escaped = 0, False, False
    for char in text:
        if quoted:
            quoted, escaped = escaped or char != '"', not escaped and char == "\\"
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
    return quoted or depth > 0
