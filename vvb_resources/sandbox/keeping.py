"""The newest finished video, kept while the agent works on: nothing that was complete is lost at the deadline.

An agent that renders its finished video once more, in place, truncates it first; a deadline in the middle of that would
leave nothing. So the supervisor copies each MP4 at the top of the delivery once it is complete and has not changed for
a moment. When the run is ended from outside and no complete MP4 lies there, the newest copy takes its place again.

Runs in the supervisor, with the standard library alone. An MP4 counts as complete when its top-level boxes (ISO/IEC
14496-12, 4.2) fill the file exactly and `ftyp`, `moov` and `mdat` are among them; nothing is decoded.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

SLICE = 16 << 20  # copied at once: between two slices the supervisor does its other work
MAX_BOXES = 200_000
MAX_VIDEOS = 16

Signature = tuple[int, int, int]


def complete(handle: BinaryIO) -> bool:
    """Is this file an MP4 whose last box ends where the file does?"""
    size = os.fstat(handle.fileno()).st_size
    place, seen = 0, set[bytes]()
    for _ in range(MAX_BOXES):
        if place == size:
            return {b"ftyp", b"moov", b"mdat"} <= seen
        handle.seek(place)
        head = handle.read(16)
        length, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        elif length == 0:  # to the end of the file: never written by a muxer that has finished
            return False
        if len(head) < 8 or length < 8 or place + length > size:
            return False
        seen.add(kind)
        place += length
    return False


def open_plain(path: str) -> BinaryIO | None:
    """A regular file for reading, never through a link; None for anything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    return None


def signature(handle: BinaryIO) -> Signature:
    """What changes when the file does: inode, size, time of the last write."""
    status = os.fstat(handle.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns


class Keeper:
    """Keeps a copy of the newest complete MP4 of `delivery` in `folder`, which is the supervisor's own.

    Files of more than `limit` bytes are not kept. `look` is called twice a second or so; each call does a little.
    """

    def __init__(self, delivery: str, folder: str, limit: int) -> None:
        self.delivery, self.folder, self.limit = delivery, folder, limit
        self.seen: dict[str, Signature] = {}
        self.kept: tuple[str, Signature, float] | None = None
        self.work: Iterator[None] | None = None

    def look(self) -> None:
        """Go on with a copy, or look for a video that is complete and at rest."""
        if self.work is not None:
            self.work = self.work if next(self.work, "over") is None else None
            return
        found: dict[str, Signature] = {}
        for name in self._names():
            handle = open_plain(os.path.join(self.delivery, name))
            if handle is None:
                continue
            with handle:
                found[name] = now = signature(handle)
                fresh = self.kept is None or self.kept[:2] != (name, now)
                if fresh and now == self.seen.get(name) and 0 < now[1] <= self.limit and complete(handle):
                    self.work = self._copy(name, now)
                    break
        self.seen = found

    def restore(self) -> dict[str, Any] | None:
        """When no complete MP4 lies in the delivery, put the kept one back; says which (a KeptVideo's fields), or None.

        Called when nothing of the agent runs any more. `cut_bytes` is the size of the file whose place it took.
        """
        for name in self._names():
            handle = open_plain(os.path.join(self.delivery, name))
            if handle is not None:
                with handle:
                    if complete(handle):
                        return None
        if self.kept is None or os.path.islink(self.delivery) or not os.path.isdir(self.delivery):
            return None
        name, (_, size, _), saved_at = self.kept
        target = os.path.join(self.delivery, name)
        cut = os.lstat(target).st_size if os.path.lexists(target) else None
        partial = f"{target}.kept"
        with contextlib.suppress(OSError):
            os.unlink(partial)
        with open(os.path.join(self.folder, "video"), "rb") as source, open(partial, "xb") as copy:
            while block := source.read(SLICE):
                copy.write(block)
            copy.flush()
            os.fsync(copy.fileno())
        os.replace(partial, target)
        return {"name": name, "saved_at": saved_at, "bytes": size, "cut_bytes": cut}

    def _names(self) -> list[str]:
        try:
            names = sorted(name for name in os.listdir(self.delivery) if name.lower().endswith(".mp4"))
        except OSError:
            return []
        return names[:MAX_VIDEOS]

    def _copy(self, name: str, expected: Signature) -> Iterator[None]:
        """Copy slice by slice; the copy counts only if the file did not change meanwhile."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        partial = os.path.join(self.folder, "partial")
        handle = open_plain(os.path.join(self.delivery, name))
        if handle is None:
            return
        try:
            with handle, open(partial, "wb") as copy:
                while block := handle.read(SLICE):
                    copy.write(block)
                    yield
                if signature(handle) == expected and copy.tell() == expected[1]:
                    copy.flush()
                    os.replace(partial, os.path.join(self.folder, "video"))
                    self.kept = (name, expected, time.time())
        except OSError:  # no room: what was kept before stays
            return
