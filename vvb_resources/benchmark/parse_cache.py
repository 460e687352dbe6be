"""Parsed YAML kept between processes: a file whose text was parsed before is not parsed again.

YAML 1.2 with line numbers takes about 50 ms a task, and every command and every step reads the whole benchmark: 13 s at
239 tasks. The values are kept in one JSON file below the data home, by a digest of text and parser, so that an edit is
always seen and nothing has to be cleared by hand. Line numbers are not kept: a file with a problem is parsed again for
them. A cache that cannot be read or written costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from vvb_resources.store.atomic import write_text
from vvb_resources.store.digests import digest_bytes


class ParseCache:
    """Values by text, of one file on disk. `parser` names the parser's version: another one knows nothing."""

    def __init__(self, path: Path, parser: str) -> None:
        self.path, self.parser = path, parser
        self._stored = _read(path, parser)
        self._used: dict[str, Any] = {}

    def get(self, text: str) -> Any | None:
        """The value of `text`, if it was parsed before (no file of a benchmark has the value null)."""
        key = digest_bytes(text.encode())
        value = self._stored.get(key)
        if value is not None:
            self._used[key] = value
        return value

    def put(self, text: str, value: Any) -> None:
        """Remember what `text` was parsed to."""
        self._used[digest_bytes(text.encode())] = value

    def save(self) -> None:
        """Write what was used, if that is not what the file holds; what was not used any more is dropped."""
        if self._used.keys() == self._stored.keys():
            return
        document = {"parser": self.parser, "values": self._used}
        with contextlib.suppress(OSError):  # a home that may not be written to is still good for reading
            write_text(self.path, json.dumps(document, allow_nan=False))


def _read(path: Path, parser: str) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    known = isinstance(document, dict) and document.get("parser") == parser
    values = document.get("values") if known else None
    return values if isinstance(values, dict) else {}


_current: ContextVar[ParseCache | None] = ContextVar("parse_cache", default=None)


def current_cache() -> ParseCache | None:
    """The cache that reading goes through now, if any."""
    return _current.get()


@contextlib.contextmanager
def parsing_through(cache: ParseCache) -> Iterator[None]:
    """Let every YAML file that is read meanwhile go through `cache`; it is saved at the end, unless reading failed."""
    token = _current.set(cache)
    try:
        yield
    finally:
        _current.reset(token)
    cache.save()
