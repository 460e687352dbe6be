"""Durable writing: a temporary file in the same folder, flush, fsync, rename, fsync of the folder.

A reader sees the old content or the new one, never half of it; after a power cut the same holds.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl


def fsync_dir(folder: Path) -> None:
    """Make the names in `folder` durable (a rename is not, until its folder is synced)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_with(path: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a temporary neighbour of `path`, then put it in place durably.

    Raises whatever `fill` raises; then nothing is left behind and `path` is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}.tmp"
    try:
        fill(temporary)
        handle = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_dir(path.parent)


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` durably at `path`."""
    replace_with(path, lambda temporary: _fill(temporary, data))


def _fill(temporary: Path, data: bytes) -> None:
    temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 durably at `path`."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys. NaN and infinity are refused (ValueError)."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n")


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a data frame as one Parquet file (zstd) durably."""
    replace_with(path, lambda temporary: frame.write_parquet(temporary, compression="zstd"))


def sync_tree(folder: Path) -> None:
    """fsync every regular file below `folder`, and every folder, so that the whole tree is durable."""
    for base, _, names in os.walk(folder):
        for name in names:
            file = Path(base) / name
            if file.is_file() and not file.is_symlink():
                handle = os.open(file, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
        fsync_dir(Path(base))
