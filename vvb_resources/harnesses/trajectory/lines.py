"""Reading an agent's log whatever state it is in: what cannot be read is counted as a problem, never raised.

The agent could write its log itself, and a kill cuts it anywhere: no field may be trusted to have its type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from vvb_resources.harnesses.trajectory.types import MAX_TEXT

MAX_LINE = 64 << 20
MAX_BYTES = 512 << 20
MAX_PROBLEMS = 50
MAX_COUNT = 10**12
ORDER_S = 5.0
"""Seconds by which neighbouring lines may be out of order: harnesses write parallel events as they come."""

JsonDict = dict[str, Any]


@dataclass
class Notes:
    """Problems of a log, as sentences; the first MAX_PROBLEMS are kept, and all are counted."""

    problems: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, problem: str) -> None:
        self.count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def all(self) -> tuple[str, ...]:
        """The sentences, and how many were left out."""
        left = self.count - len(self.problems)
        return (*self.problems, *([f"and {left} more"] if left else []))


@dataclass(frozen=True)
class LogFile:
    """One file of a log: its name, and the JSON objects of its lines that could be read, in their order."""

    name: str
    records: list[JsonDict]


def read_log(path: Path, patterns: Sequence[str], notes: Notes) -> list[LogFile]:
    """The files of a log: `path` itself, or those below it that match a pattern, sorted by name.

    Lines are JSON objects; a file that is one JSON document gives its `messages`, if it has them, after the rest.
    """
    if path.is_dir():
        found = sorted({file for pattern in patterns for file in path.glob(pattern) if file.is_file()})
        if not found:
            notes.add(f"no log: nothing below the folder matches {' or '.join(patterns)}")
    else:
        found = [path]
    read, room = [], MAX_BYTES
    for file in found:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        size = file.stat().st_size
        if size > room:
            notes.add(f"{name}: over the bound of {MAX_BYTES >> 20} MiB, not read")
            continue
        room -= size
        read.append(LogFile(name, list(_records(file, name, notes))))
        if not read[-1].records:
            notes.add(f"{name}: holds no record")
    return read


def _records(file: Path, name: str, notes: Notes) -> Iterator[JsonDict]:
    if file.suffix == ".json":
        try:
            document = as_dict(json.loads(file.read_bytes()))
        except (ValueError, RecursionError):
            document = {}  # lines under another name, or cut
        if document:
            yield document
            yield from dicts(document.get("messages"))
            return
    with file.open("rb") as stream:
        number = 0
        while line := stream.readline(MAX_LINE):
            number += 1
            if line.strip():
                yield from _parsed(line, f"{name}:{number}", notes)


def _parsed(data: bytes, where: str, notes: Notes) -> list[JsonDict]:
    """The object of a line. Of a damaged line, the whole objects at its beginning: two writers can share one line."""
    text = data.decode("utf-8", "replace").strip()
    found: list[JsonDict] = []
    decoder = json.JSONDecoder()
    try:
        while text:
            value, end = decoder.raw_decode(text)
            text = text[end:].lstrip()
            if not isinstance(value, dict):
                notes.add(f"{where}: not a JSON object")
                return found
            found.append(value)
    except (ValueError, RecursionError):
        notes.add(f"{where}: not JSON{' after the first objects' if found else ''}")
        return found
    if len(found) > 1:
        notes.add(f"{where}: {len(found)} objects on one line; several writers may be mixed")
    elif "\ufffd" in data.decode("utf-8", "replace") and not _is_utf8(data):
        notes.add(f"{where}: not UTF-8")
    return found


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def as_dict(value: Any) -> JsonDict:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts(value: Any) -> list[JsonDict]:
    """The objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """`value` if it is a text that is not empty, else None. Half of a surrogate pair is replaced."""
    return clean(value) if isinstance(value, str) and value else None


def clean(text: str) -> str:
    """A text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cut(text: str) -> str:
    """A text of at most MAX_TEXT characters, which says how much was left out."""
    text = clean(text)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} [... {len(text) - MAX_TEXT} characters left out]"


def as_json(value: Any) -> str:
    """Arguments of a call as text; a text stays as it is."""
    return cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def count(usage: JsonDict, key: str, notes: Notes) -> int:
    """A number of tokens; what is there but is none is a problem and counts as 0."""
    value = usage.get(key)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        notes.add(f"{key} is no number of tokens")
        return 0
    return value


def moment(value: Any) -> float | None:
    """Unix seconds of an ISO 8601 text or a number of milliseconds; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) / 1000 if 0 < value < 1e15 else None
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return at.timestamp() if at.tzinfo else None
    return None


def own_lines(file: LogFile, envelope: frozenset[str], notes: Notes) -> list[JsonDict]:
    """The records that have at least one key of the harness's envelope; others came from elsewhere and are noted."""
    own = [record for record in file.records if not envelope.isdisjoint(record)]
    if len(own) < len(file.records):
        notes.add(f"{file.name}: {len(file.records) - len(own)} lines are not of this harness's log")
    return own


def numbered(records: Sequence[JsonDict], key: str, where: str, notes: Notes) -> None:
    """Note lines that their own numbers (from 0, by one) show to be missing, repeated or mixed."""
    numbers = [record[key] for record in records if key in record]
    if numbers != list(range(len(numbers))):
        notes.add(f"{where}: lines are missing or mixed (their numbers do not go on by one)")


def in_order(moments: Sequence[float | None], where: str, notes: Notes) -> None:
    """Note a log whose lines run back in time by more than ORDER_S: several were mixed, or lines were moved."""
    latest = float("-inf")
    for at in moments:
        if at is not None and at < latest - ORDER_S:
            notes.add(f"{where}: lines are out of order; several logs may be mixed")
            return
        latest = max(latest, at if at is not None else latest)
