"""Artifacts: what a stage made for one partition, and the manifest that says from what.

The manifest `artifact.json` is the truth: an artifact exists when its manifest does. It names the data version
(a digest of content), the code version and the data version of each input it was made from, so that what is stale
can be told from the disk alone, and a lost Dagster event can be logged again. Its payload lies beside it in a folder
that is never changed once the manifest points to it; a new version is a new payload folder and one atomic replacement
of the manifest (see docs/design/artifacts.md).
"""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from vvb_resources.errors import StoreError
from vvb_resources.store.atomic import fsync_dir, sync_tree, write_bytes, write_json
from vvb_resources.store.digests import canonical_json
from vvb_resources.store.history import HISTORY, Past, past_versions, remember
from vvb_resources.store.home import Home
from vvb_resources.store.many import read_files
from vvb_resources.store.trees import remove_tree

MANIFEST = "artifact.json"
UNPARTITIONED = "_"


@dataclass(frozen=True)
class Manifest:
    """What is known about an artifact. `summary` holds JSON scalars and small tables for people and for Dagster.

    `facets`: of inputs of which only a figure counted, that figure (their whole version is in `inputs`).
    """

    asset: str
    partition: str | None
    data_version: str
    code_version: str
    inputs: Mapping[str, str]
    payload: str
    made_at: str
    seconds: float
    summary: Mapping[str, Any] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    facets: Mapping[str, str] = field(default_factory=dict)


class ArtifactStore:
    """Artifacts of one benchmark below `home.artifacts`. Safe for several processes at once (a lock a partition)."""

    def __init__(self, home: Home) -> None:
        self.home = home

    # ------------------------------------------------------------ reading

    def folder(self, asset: str, partition: str | None) -> Path:
        """Folder of a partition: `system|task` becomes two levels; an unpartitioned asset has the level `_`."""
        return Path(_folder(str(self.home.artifacts), asset, partition))

    def load(self, asset: str, partition: str | None) -> Manifest | None:
        """The manifest, or None when nothing was made. Raises StoreError when it is unreadable."""
        path = str(self.folder(asset, partition) / MANIFEST)
        return next(_manifests([path]))

    def payload(self, manifest: Manifest) -> Path:
        """Folder with the artifact's files."""
        return self.folder(manifest.asset, manifest.partition) / manifest.payload

    def manifests(self, asset: str, partitions: list[str] | list[None]) -> dict[str | None, Manifest]:
        """Manifests of those of `partitions` that were made. Raises StoreError when one is unreadable.

        Paths are put together as text: a plan reads tens of thousands, and `Path` took longer than the reading.
        """
        root = str(self.home.artifacts)
        read = _manifests([f"{_folder(root, asset, partition)}/{MANIFEST}" for partition in partitions])
        return {partition: manifest for partition, manifest in zip(partitions, read, strict=True) if manifest}

    def payloads(self, manifests: Sequence[Manifest]) -> list[str]:
        """Folders of `payload` as text, of many artifacts."""
        root = str(self.home.artifacts)
        return [f"{_folder(root, m.asset, m.partition)}/{m.payload}" for m in manifests]

    def every(self) -> Iterator[Manifest]:
        """Manifests of all artifacts on disk, also of assets and partitions that have left the benchmark.

        In path order. Never looks into a payload: what an agent leaves there is not the platform's.
        """
        yield from self.below(str(self.home.artifacts))

    def below(self, folder: str) -> Iterator[Manifest]:
        """The same for the artifacts in or below one folder."""
        levels = [_with_manifests([folder] if os.path.isdir(folder) else [])]
        while levels:  # not by recursion: what an interrupted commit leaves without a manifest may be very deep
            for each, manifest in levels[-1]:
                if manifest is None:
                    levels.append(_with_manifests(_folders_in(each)))
                    break
                yield manifest
            else:
                levels.pop()

    # ------------------------------------------------------------ writing

    @contextmanager
    def locked(self, asset: str, partition: str | None) -> Iterator[None]:
        """Hold the partition's lock: two runs never make the same artifact at once."""
        folder = self.folder(asset, partition)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    @contextmanager
    def staging(self, asset: str, partition: str | None) -> Iterator[Path]:
        """An empty folder to fill. It is locked while in use, so that `sweep` knows a live one from a dead one."""
        name = "~".join([asset.replace("/", "~"), (partition or UNPARTITIONED).replace("|", "~"), secrets.token_hex(4)])
        out = self.home.staging / name
        self.home.staging.mkdir(parents=True, exist_ok=True)
        with (self.home.staging / f"{name}.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            out.mkdir()
            try:
                yield out
            finally:
                (self.home.staging / f"{name}.lock").unlink(missing_ok=True)
                remove_tree(out)

    def commit(
        self,
        staged: Path,
        *,
        asset: str,
        partition: str | None,
        data_version: str,
        code_version: str,
        inputs: Mapping[str, str],
        seconds: float,
        summary: Mapping[str, Any],
        checks: Mapping[str, Mapping[str, Any]],
        keep_old: bool,
        facets: Mapping[str, str] | None = None,
        remembered: Mapping[str, Any] | None = None,
    ) -> Manifest:
        """Make a filled staging folder the artifact, durably; then drop the old payload unless `keep_old`.

        What was there before stays in the partition's history, with the figures `remembered` of its payload.
        """
        folder = self.folder(asset, partition)
        folder.mkdir(parents=True, exist_ok=True)
        previous = self.load(asset, partition)
        payload = f"{data_version[:8]}-{secrets.token_hex(4)}"
        sync_tree(staged)
        os.rename(staged, folder / payload)
        fsync_dir(folder)
        manifest = Manifest(
            asset=asset,
            partition=partition,
            data_version=data_version,
            code_version=code_version,
            inputs=dict(inputs),
            payload=payload,
            made_at=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
            seconds=round(seconds, 3),
            summary=dict(summary),
            checks={name: dict(value) for name, value in checks.items()},
            facets=dict(facets or {}),
        )
        if previous is not None:
            remember(folder, previous, remembered or {})
        write_json(folder / MANIFEST, asdict(manifest))
        if previous is not None and not keep_old:
            remove_tree(folder / previous.payload)
        return manifest

    def keep_failed(self, staged: Path, asset: str, partition: str | None) -> Path:
        """Move a staging folder whose attempt failed to `failed/`; nothing of an attempt is thrown away."""
        target = self.home.failed.joinpath(
            *asset.split("/"), *(partition or UNPARTITIONED).split("|"), staged.name[-8:]
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(staged, target)
        return target

    def sweep(self, keep: tuple[str, ...]) -> list[str]:
        """Clear staging folders whose process is gone: those of the assets in `keep` go to `failed/`, others away.

        Returns the names of the folders found.
        """
        swept = []
        for lock in sorted(self.home.staging.glob("*.lock")) if self.home.staging.is_dir() else []:
            with lock.open("w") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                staged = lock.with_suffix("")
                swept.append(staged.name)
                if staged.is_dir():
                    asset = next((a for a in keep if staged.name.startswith(a.replace("/", "~") + "~")), None)
                    if asset:
                        partition = "|".join(staged.name[len(asset) + 1 :].split("~")[:-1])
                        self.keep_failed(staged, asset, partition)
                    else:
                        remove_tree(staged)
                lock.unlink(missing_ok=True)
        return swept

    # ------------------------------------------------------------ history and snapshots

    def history(self, asset: str, partition: str | None, figures: Mapping[str, Any] | None = None) -> list[Past]:
        """Versions of an artifact, oldest first; the last is the current one, with its `figures`.

        Raises StoreError when manifest or history are unreadable.
        """
        return past_versions(self.folder(asset, partition), self.load(asset, partition), figures or {})

    def was_remade(self, asset: str, partition: str | None) -> bool:
        """Is there any version before the current one."""
        return (self.folder(asset, partition) / HISTORY).exists()

    def content(self, digest: str) -> Any | None:
        """What a configuration file held under `digest`; None when no snapshot of it was kept."""
        path = self.home.snapshots / f"{digest}.json"
        return from_json(path.read_bytes()) if path.is_file() else None

    def snapshot(self, digest: str, content: Any) -> Path:
        """Keep a version of a configuration file's content under its digest (once)."""
        path = self.home.snapshots / f"{digest}.json"
        if not path.exists():
            write_bytes(path, canonical_json(content))
        return path


def _folder(root: str, asset: str, partition: str | None) -> str:
    return f"{root}/{asset}/{UNPARTITIONED if partition is None else partition.replace('|', '/')}"


def _folders_in(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))


def _with_manifests(folders: list[str]) -> Iterator[tuple[str, Manifest | None]]:
    return zip(folders, _manifests([f"{folder}/{MANIFEST}" for folder in folders]), strict=True)


def _manifests(paths: Sequence[str]) -> Iterator[Manifest | None]:
    """Manifest at each path, None where there is none. Raises StoreError when one is unreadable."""
    contents = read_files(paths)
    for path in paths:
        try:
            content = next(contents)
            data = None if content is None else from_json(content, cache_strings="keys")
        except (OSError, ValueError) as error:
            where = getattr(error, "filename", None) or path  # files are read ahead of the one that is asked for
            raise StoreError(
                f"unreadable manifest ({error})", where=where, remedy="remove this file; the artifact is made again"
            ) from error
        try:
            yield None if data is None else Manifest(**data)
        except TypeError as error:
            raise StoreError(
                f"manifest of another version ({error})", where=path, remedy="remove this file; it is made again"
            ) from error
