"""Reading a reply: a pure function from its text and the ids that were asked to usable rows and what is missing.

Strict about values, forgiving about form. A value outside its set makes its row missing, to be asked again; it is never
clamped, never turned into a fail or a lowest score. Rows nobody asked for are dropped and reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from vvb_resources.judges.reply_json import REPEATED, ReplyDocument, parse_document
from vvb_resources.judges.types import Channel, Outcome, Reading, Score, Status, Verdict

READER_VERSION = "1"

Row = TypeVar("Row", Verdict, Score)

_STATUS: dict[str, Status] = {
    "pass": "pass",
    "fail": "fail",
    "unknown": "unknown",
    "na": "na",
    "n/a": "na",
    "n.a.": "na",
    "not applicable": "na",
}
_OF_FIVE = re.compile(r"\s*([1-5])(?:\.0+)?\s*(?:/\s*5)?\s*\Z")
_CLOCK = re.compile(r"\s*(?:(\d+):)?(\d+):(\d{1,2}(?:\.\d+)?)\s*\Z")
_SECONDS = re.compile(r"\s*(\d+(?:\.\d+)?)\s*s?\s*\Z")


def read_reply(text: str, check_ids: Sequence[str], dim_names: Sequence[str], *, outcome: Outcome = "ok") -> Reading:
    """Read a reply's text against the ids that were asked.

    `outcome` is the provider's reading of its envelope; only for `ok` and `truncated` is the text read at all. The
    result's outcome is `ok` (all rows usable), `partial` (some missing), `truncated` (the text or the envelope says
    it was cut; whole rows are kept), `empty` (no text), or the envelope's own word. Never raises on any text.
    """
    if outcome not in ("ok", "truncated"):
        return Reading(outcome, (), (), tuple(check_ids), tuple(dim_names))
    if not text.strip():
        return Reading(
            "truncated" if outcome == "truncated" else "empty", (), (), tuple(check_ids), tuple(dim_names), ("no text",)
        )
    document = parse_document(text)
    problems = list(document.problems)
    verdicts = _collect(document.checks, "id", check_ids, _verdict, problems)
    scores = _collect(document.scores, "name", dim_names, _score, problems)
    missing_checks = tuple(i for i in check_ids if i not in verdicts)
    missing_dims = tuple(d for d in dim_names if d not in scores)
    return Reading(
        _outcome(outcome, document, bool(missing_checks or missing_dims)),
        tuple(verdicts[i] for i in check_ids if i in verdicts),
        tuple(scores[d] for d in dim_names if d in scores),
        missing_checks,
        missing_dims,
        tuple(problems),
    )


def _outcome(envelope: Outcome, document: ReplyDocument, missing: bool) -> Outcome:
    """Cut is cut even when by luck nothing is missing only if the envelope or the text says so and rows are lacking."""
    if missing and (envelope == "truncated" or document.cut):
        return "truncated"
    return "partial" if missing else "ok"


def _collect(
    rows: Iterable[Any],
    name: str,
    wanted: Sequence[str],
    read: Callable[[str, Mapping[str, Any]], tuple[Row | None, str | None]],
    problems: list[str],
) -> dict[str, Row]:
    """Rows by id. Invented ids are dropped, repeated ones kept if they agree, dropped if they conflict."""
    found: dict[str, Row] = {}
    spoiled: set[str] = set()
    for row in rows:
        if not isinstance(row, Mapping) or not isinstance(row.get(name), str):
            problems.append(f"a row without {name}")
            continue
        key = row[name].strip()
        if key not in wanted:
            problems.append(f"{key[:64]!r} was not asked")
            continue
        value, problem = read(key, row)
        if problem:
            problems.append(f"{key}: {problem}")
        if value is None:
            spoiled.add(key)
        elif key in found and _decision(found[key]) != _decision(value):
            problems.append(f"{key}: answered twice, differently")
            spoiled.add(key)
        else:
            found.setdefault(key, value)
    return {key: value for key, value in found.items() if key not in spoiled}


def _decision(row: Verdict | Score) -> object:
    return row.status if isinstance(row, Verdict) else row.score


def _verdict(check: str, row: Mapping[str, Any]) -> tuple[Verdict | None, str | None]:
    word = row.get("status")
    status = _STATUS.get(word.strip().lower()) if isinstance(word, str) else None
    if status is None:
        return None, f"status {word!r:.40} is not pass, fail, unknown or na"
    start, end = _seconds(row.get("start_s")), _seconds(row.get("end_s"))
    problem = None
    if start is not None and end is not None and end < start:
        start, end, problem = None, None, "its interval ends before it starts"
    channel = row.get("channel")
    known: Channel | None = channel if channel in ("visual", "audio") else None
    if channel is not None and known is None:
        problem = f"channel {channel!r:.40} is not visual or audio"
    return Verdict(check, status, start, end, known, _text(row.get("reason"))), problem


def _score(dim: str, row: Mapping[str, Any]) -> tuple[Score | None, str | None]:
    if "score" not in row:
        return None, "no score"
    value = row["score"]
    number: int | None = None
    if value is not None:
        number = _one_to_five(value)
        if number is None:
            return None, f"score {value!r:.40} is not an integer from 1 to 5"
    return Score(dim, number, _text(row.get("reason")), _text(row.get("strengths")), _text(row.get("defects"))), None


def _one_to_five(value: Any) -> int | None:
    """4, 4.0, "4", "4/5" -> 4; 4.5, 44, True, "four" -> None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if value in (1, 2, 3, 4, 5) else None
    found = _OF_FIVE.match(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def _seconds(value: Any) -> float | None:
    """Seconds of a number, "7.5", "7.5s", "1:02" or "0:01:02"; None for anything else, negative or not finite."""
    if isinstance(value, bool) or value is REPEATED:
        return None
    if isinstance(value, int | float):
        return float(value) if value >= 0 and math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    if found := _SECONDS.match(value):
        return float(found[1])
    if found := _CLOCK.match(value):
        return int(found[1] or 0) * 3600 + int(found[2]) * 60 + float(found[3])
    return None


def _text(value: Any) -> str:
    """A reason; lists of strings are joined, anything else is empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(item for item in value if isinstance(item, str))
    return ""
