"""Artifacts that no partition of the benchmark names any more: what a removed or renamed system, task or panel left.

They are found by the names of folders alone, asset by asset, without opening the artifacts that are known; only what
is unknown is looked into. Nothing is ever removed but by `remove`, which is asked for by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.store.artifacts import ArtifactStore, Manifest
from vvb_resources.store.atomic import fsync_dir
from vvb_resources.store.trees import remove_tree

Levels = Sequence[frozenset[str]]  # the folder names that are known below an asset's folder, level by level


@dataclass(frozen=True)
class Orphan:
    """An artifact outside the benchmark. `folder` holds it with its history; `bytes` is all that lies there."""

    manifest: Manifest
    folder: Path
    bytes: int


def find_orphans(store: ArtifactStore, known: Mapping[str, Levels]) -> list[Orphan]:
    """Artifacts below the store that are not among `known` (asset key -> names of its partitions' folders by level).

    In path order. Raises StoreError for a manifest that cannot be read.
    """
    found: list[Orphan] = []
    for folder in _unknown(str(store.home.artifacts), known):
        for manifest in store.below(folder):
            place = store.folder(manifest.asset, manifest.partition)
            found.append(Orphan(manifest, place, _size(place)))
    return found


def remove(store: ArtifactStore, orphan: Orphan) -> None:
    """Remove an orphan with its history, under its lock, then the folders that it leaves empty."""
    with store.locked(orphan.manifest.asset, orphan.manifest.partition):
        remove_tree(orphan.folder)
    parent = orphan.folder.parent
    while parent != store.home.artifacts and not os.listdir(parent):
        parent.rmdir()
        parent = parent.parent
    fsync_dir(parent)


def _unknown(root: str, known: Mapping[str, Levels]) -> Iterator[str]:
    """Folders that hold nothing known, topmost first."""
    prefixes = {"/".join(key.split("/")[:depth]) for key in known for depth in range(1, key.count("/") + 1)}

    def walk(folder: str, key: str) -> Iterator[str]:
        for name in _folders(folder):
            inner = f"{key}/{name}" if key else name
            if inner in known:
                yield from level(f"{folder}/{name}", known[inner])
            elif inner in prefixes:
                yield from walk(f"{folder}/{name}", inner)
            else:
                yield f"{folder}/{name}"

    def level(folder: str, levels: Levels) -> Iterator[str]:
        names = set(os.listdir(folder))
        for name in sorted(names - levels[0]):
            if not name.startswith(".") and os.path.isdir(f"{folder}/{name}"):
                yield f"{folder}/{name}"
        if len(levels) > 1:
            for name in sorted(names & levels[0]):
                yield from level(f"{folder}/{name}", levels[1:])

    yield from walk(root, "")


def _folders(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def _size(folder: Path) -> int:
    return sum(os.lstat(f"{base}/{name}").st_size for base, _, names in os.walk(folder) for name in names)
