"""The gateway's log of one run: a line for each event, appended and synced, with the bodies beside it.

    log.jsonl            events: open, request, reply, end, refused, close
    000007.request.gz    the body of call 7, without what it shares with the body before it
    000007.reply.gz      its reply as it came, flushed while it comes

A request of an agent repeats the whole conversation: stored whole, an hour with pictures would take gigabytes. So its
line says how many bytes of its beginning and end are those of the request before, and the file holds the middle.
The key of the service is taken out of everything that is written.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import threading
import time
import zlib
from pathlib import Path
from typing import Any

from vvb_resources.errors import StoreError

LOG = "log.jsonl"
MAX_BYTES = 4 << 30
"""Bytes of bodies that are kept in all; beyond, only their digests are."""
REMOVED = b"[key removed]"


class Redactor:
    """Takes a secret out of a stream: what might be its beginning is held back until the next bytes come."""

    def __init__(self, secret: bytes) -> None:
        self.secret, self.held = secret, b""

    def pass_on(self, data: bytes, *, last: bool = False) -> bytes:
        """The bytes that are safe to write now."""
        if not self.secret:
            return data
        data = (self.held + data).replace(self.secret, REMOVED)
        keep = 0 if last else next((n for n in range(len(self.secret) - 1, 0, -1) if data.endswith(self.secret[:n])), 0)
        self.held = data[len(data) - keep :] if keep else b""
        return data[: len(data) - keep] if keep else data


class Journal:
    """The log of one run in the existing empty `folder`; safe for threads. `secret` is never written."""

    def __init__(self, folder: Path, secret: str) -> None:
        self.folder, self.secret = folder, secret.encode()
        self._lock = threading.Lock()
        self._log = open(folder / LOG, "ab", buffering=0)  # noqa: SIM115 - closed by close()
        self._previous = (0, b"")
        self._calls = self._bytes = 0

    def write(self, event: str, **fields: Any) -> None:
        """Append an event, synced when this returns."""
        line = json.dumps({"event": event, "at": time.time(), **fields}, ensure_ascii=False).encode()
        with self._lock:
            if not self._log.closed:
                self._log.write(Redactor(self.secret).pass_on(line, last=True) + b"\n")
                os.fsync(self._log.fileno())

    def request(self, body: bytes, **fields: Any) -> int:
        """Store a call before it is forwarded; returns its number."""
        body = Redactor(self.secret).pass_on(body, last=True)
        with self._lock:
            self._calls += 1
            number, (base, before) = self._calls, self._previous
            prefix, suffix = shared(before, body)
            middle = body[prefix : len(body) - suffix]
            kept = self._bytes + len(middle) <= MAX_BYTES
            if kept:
                self._bytes += len(middle)
                self._previous = (number, body)
                _write_synced(self.folder / f"{number:06d}.request.gz", gzip.compress(middle, 5, mtime=0))
        stored = {"base": base, "prefix": prefix, "suffix": suffix} if kept else None
        digest = hashlib.sha256(body).hexdigest()
        self.write("request", call=number, bytes=len(body), sha256=digest, stored=stored, **fields)
        return number

    def reply(self, number: int) -> ReplyFile | None:
        """A file for the reply of a call; None once the bound is reached."""
        with self._lock:
            return ReplyFile(self, number) if self._bytes < MAX_BYTES else None

    def took(self, count: int) -> None:
        """Count bytes of a reply."""
        with self._lock:
            self._bytes += count

    def close(self) -> None:
        """Append the last event and close."""
        self.write("close")
        with self._lock:
            self._log.close()


class ReplyFile:
    """A reply while it comes: compressed, and readable up to the last flush whatever happens.

    A call that is cancelled may close it while a thread still writes a piece: the one waits for the other.
    """

    def __init__(self, journal: Journal, number: int) -> None:
        self._journal = journal
        self._file = open(journal.folder / f"{number:06d}.reply.gz", "wb", buffering=0)  # noqa: SIM115
        self._gzip = zlib.compressobj(5, zlib.DEFLATED, 31)
        self._redactor = Redactor(journal.secret)
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        """Add bytes; none after the end."""
        with self._lock:
            if self._file.closed:
                return
            safe = self._redactor.pass_on(data)
            self._file.write(self._gzip.compress(safe) + self._gzip.flush(zlib.Z_SYNC_FLUSH))
        self._journal.took(len(safe))

    def close(self) -> None:
        """Finish and sync."""
        with self._lock:
            self._file.write(self._gzip.compress(self._redactor.pass_on(b"", last=True)) + self._gzip.flush())
            os.fsync(self._file.fileno())
            self._file.close()


def shared(before: bytes, body: bytes) -> tuple[int, int]:
    """Lengths of the common beginning and of the common end (not overlapping) of two bodies."""
    most = min(len(before), len(body))
    prefix = _common(before[:most], body[:most])
    most -= prefix
    suffix = _common(before[len(before) - most :][::-1], body[len(body) - most :][::-1]) if most else 0
    return prefix, suffix


def _common(one: bytes, other: bytes) -> int:
    """Length of the common beginning of two texts of the same length, by halving."""
    low, high = 0, len(one)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def read_events(folder: Path) -> list[dict[str, Any]]:
    """The events of a log; a last line that a crash cut is left out. Raises StoreError when there is no log."""
    try:
        lines = (folder / LOG).read_bytes().split(b"\n")
    except OSError as error:
        raise StoreError(f"no gateway log ({error.strerror})", where=str(folder)) from error
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        events.append(event)
    return events


def read_request(folder: Path, number: int) -> bytes:
    """The body of a call, put together again. Raises StoreError when it was not stored."""
    lines = {e["call"]: e for e in read_events(folder) if e["event"] == "request"}
    chain: list[tuple[int, int, bytes]] = []
    while number:
        stored = lines.get(number, {}).get("stored")
        if stored is None:
            raise StoreError(f"the body of call {number} was not kept", where=str(folder))
        chain.append(
            (stored["prefix"], stored["suffix"], gzip.decompress(_path(folder, number, "request").read_bytes()))
        )
        number = stored["base"] if stored["prefix"] or stored["suffix"] else 0
    body = b""
    for prefix, suffix, middle in reversed(chain):
        body = body[:prefix] + middle + (body[len(body) - suffix :] if suffix else b"")
    return body


def read_reply(folder: Path, number: int) -> bytes:
    """What came of a reply, whole or cut."""
    return zlib.decompressobj(31).decompress(_path(folder, number, "reply").read_bytes())


def _path(folder: Path, number: int, what: str) -> Path:
    return folder / f"{number:06d}.{what}.gz"


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
