"""Content digests: the data versions of the graph. Same content, same digest, on any machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DIGEST_CHARS = 32  # 128 bits of SHA-256: no accidental collision, short enough to read in a table


def canonical_json(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. Raises ValueError on NaN or infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def digest_bytes(data: bytes) -> str:
    """Digest of raw bytes."""
    return hashlib.sha256(data).hexdigest()[:DIGEST_CHARS]


def digest_value(value: Any) -> str:
    """Digest of a JSON value, independent of key order and layout."""
    return digest_bytes(canonical_json(value))


def digest_file(path: Path) -> str:
    """Digest of a file's bytes, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()[:DIGEST_CHARS]


def digest_files(root: Path, files: Iterable[Path]) -> str:
    """Digest of files below `root`: relative POSIX names and contents, in name order."""
    return digest_value({file.relative_to(root).as_posix(): digest_file(file) for file in sorted(files)})
