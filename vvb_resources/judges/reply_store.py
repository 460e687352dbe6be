"""The store of raw replies: append-only, content-addressed, durable before anything reads it.

    <root>/<first two of key>/<key>/parts.json                 the key's parts, to explain a miss
                                    <time>-<body digest>.json   each reply, failures included
                                    reply.json                  the one that counts: a hard link, made once

Two processes may store replies for one key at once: both are kept, and the first to make the link decides which one
counts for good, so that a judgment never changes because a slower twin came home. The folder's file system needs hard
links.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vvb_resources.errors import StoreError
from vvb_resources.judges.types import RawReply
from vvb_resources.store.atomic import fsync_dir, write_json

_CHOSEN = "reply.json"
_PARTS = "parts.json"


class ReplyStore:
    """Raw replies below `root` (made when first needed)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, key: str) -> Path:
        """Where the replies of `key` lie. Raises StoreError for what is no digest."""
        if not re.fullmatch(r"[0-9a-f]{16,64}", key):
            raise StoreError(f"{key!r} is no reply key", where=str(self.root), remedy="use the key of a judge request")
        return self.root / key[:2] / key

    def put(self, key: str, key_parts: Mapping[str, Any], raw: RawReply) -> RawReply:
        """Store `raw` durably; return the reply that counts for `key` (an earlier one, if there is one).

        A reply that is not usable (blocked, an error) is kept as evidence and returned, but never counts.
        """
        if raw.key != key:
            raise StoreError(
                f"reply of {raw.key} stored under {key}", where=str(self.root), remedy="store it under its own"
            )
        folder = self.folder(key)
        if not (folder / _PARTS).exists():
            write_json(folder / _PARTS, dict(key_parts))
        stamp = re.sub(r"[^0-9A-Za-z]", "", raw.made_at) or "undated"
        file = folder / f"{stamp}-{raw.digest}.json"
        write_json(file, raw.to_json())
        if not raw.usable:
            return raw
        self._choose(folder, file)
        return self.complete(key) or raw

    def asked(self, key: str) -> bool:
        """Was anything ever stored for `key`; the cheap question before `complete`."""
        return os.path.isdir(f"{self.root}/{key[:2]}/{key}")

    def complete(self, key: str) -> RawReply | None:
        """The usable reply that counts for `key`, or None: then the judge has to be asked."""
        folder = self.folder(key)
        chosen = folder / _CHOSEN
        if not chosen.exists():
            # A process may have died between writing its reply and linking it: the reply is paid for, so use it.
            usable = [file for file in self._files(folder) if _load(file).usable]
            if not usable:
                return None
            self._choose(folder, usable[0])
        return _load(chosen)

    def all_of(self, key: str) -> tuple[RawReply, ...]:
        """Every reply ever stored for `key`, failures included, oldest first."""
        return tuple(_load(file) for file in self._files(self.folder(key)))

    def reference(self, key: str) -> str:
        """The counting reply's file, relative to the store's root, for a link in the UI."""
        return (self.folder(key) / _CHOSEN).relative_to(self.root).as_posix()

    def parts(self, key: str) -> dict[str, Any] | None:
        """The parts of a stored key, or None."""
        file = self.folder(key) / _PARTS
        return json.loads(file.read_text()) if file.exists() else None

    def explain_miss(self, key_parts: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the parts that changed against the nearest stored key; empty when the store holds none at all.

        Nearest is the key that differs in the fewest parts: after an edit of a rubric, that is the key of the same
        video and judge with the old rubric, and the answer is `("checks",)`.
        """
        best: tuple[str, ...] | None = None
        for stored in self._stored_parts():
            changed = tuple(name for name in key_parts if stored.get(name) != key_parts[name])
            if best is None or len(changed) < len(best):
                best = changed
        return best or ()

    def _stored_parts(self) -> Iterator[dict[str, Any]]:
        for file in sorted(self.root.glob(f"*/*/{_PARTS}")):
            yield json.loads(file.read_text())

    @staticmethod
    def _files(folder: Path) -> list[Path]:
        named = (_CHOSEN, _PARTS)
        return sorted(f for f in folder.glob("*.json") if f.name not in named and not f.name.startswith("."))

    @staticmethod
    def _choose(folder: Path, file: Path) -> None:
        try:
            os.link(file, folder / _CHOSEN)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(
                f"cannot link a reply ({error.strerror})",
                where=str(folder),
                remedy="keep the data folder on a file system with hard links",
            ) from error
        fsync_dir(folder)


def _load(file: Path) -> RawReply:
    try:
        return RawReply.from_json(json.loads(file.read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"unreadable reply ({type(error).__name__}: {error})",
            where=str(file),
            remedy="move the file away; the judge will be asked again",
        ) from error
