"""Files into volumes and out of a container that has ended, bounded, without trusting what the archive says.

What comes out is a tar stream of the engine. Regular files and folders are written, links and FIFOs are made again as
what they are (so that the collection can tell of them), nothing is ever written through a link, and a stream that is
longer than its bound is dropped.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from vvb_resources.sandbox.base import WallsError
from vvb_resources.sandbox.docker.engine import absent

BLOCK = 1 << 20
SINGLE_FILES = 200  # of a folder over its bounds, so many are fetched one by one, those at its top first
TAR_OVERHEAD = 4096  # a header and padding an entry, at most
LARGEST_SIZE = 1 << 40  # of a file that is only named, never fetched


@dataclass(frozen=True)
class Owned:
    """A host folder or file that goes into a volume: its owner there, and its modes (None: as they are here)."""

    source: Path
    name: str
    uid: int
    folder_mode: int | None = None


def pack(entries: list[Owned]) -> IO[bytes]:
    """A tar of `entries` in a temporary file, rewound."""
    handle = cast(IO[bytes], tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
    with tarfile.open(fileobj=handle, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry in entries:

            def owned(info: tarfile.TarInfo, entry: Owned = entry) -> tarfile.TarInfo:
                info.uid = info.gid = entry.uid
                info.uname = info.gname = ""
                if info.isdir() and entry.folder_mode is not None:
                    info.mode = entry.folder_mode
                return info

            archive.add(entry.source, arcname=entry.name, filter=owned)
    handle.seek(0)
    return handle


def put(client: Any, container: str, folder: str, entries: list[Owned]) -> None:
    """Unpack `entries` into `folder` of a container (its volumes included)."""
    with pack(entries) as archive:
        client.put_archive(container, folder, archive)


def read_file(client: Any, container: str, path: str, limit: int) -> bytes | None:
    """A regular file of a container, at most `limit` bytes; None when it is not there, longer, or something else."""
    try:
        chunks, status = client.get_archive(container, path)
    except Exception as error:
        if absent(error):
            return None
        raise
    if stat.S_IFMT(status["mode"]) not in (0, stat.S_IFREG) or status["size"] > limit:
        return None
    with tarfile.open(fileobj=_Stream(chunks, limit + 2 * TAR_OVERHEAD), mode="r|", bufsize=BLOCK) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            return file.read() if file else None
    return None


def take(client: Any, container: str, path: str, target: Path, listed: dict[str, Any], bounds: tuple[int, int]) -> None:
    """Fetch the file or folder `path` of an ended container as the host's `target`, which must not exist yet.

    `listed` is what inside.list_files said of it, `bounds` (bytes, files). Within the bounds it comes as one stream;
    over them, file by file, those at the top first; a file that has no room any more is made as an empty one of the
    same size, so that the collection names it with its size. Raises WallsError when the copy is not what was listed.
    """
    max_bytes, max_files = bounds
    entries = listed["files"]
    if not listed["more"] and listed["bytes"] <= max_bytes and len(entries) <= max_files:
        try:
            chunks, _ = client.get_archive(container, path)
        except Exception as error:
            if absent(error):
                return
            raise
        unpack(chunks, target, max_bytes=max_bytes, max_entries=4 * max_files)
        _verify(target, entries)
        return
    target.mkdir(parents=True)
    room = max_bytes
    for relative, size in entries[:SINGLE_FILES]:
        place = target / PurePosixPath(relative)
        place.parent.mkdir(parents=True, exist_ok=True)
        if size <= room:
            chunks, _ = client.get_archive(container, f"{path}/{relative}")
            unpack(chunks, place, max_bytes=size, max_entries=1)
            room -= size
        else:
            with place.open("xb") as handle:
                handle.truncate(min(size, LARGEST_SIZE))


def unpack(chunks: Iterator[bytes], target: Path, *, max_bytes: int, max_entries: int) -> None:
    """Write a tar stream whose entries lie below one name; that name becomes `target`.

    Raises WallsError for a stream over its bounds or one that leads outside: the engine does not make such a one.
    """
    made: set[str] = set()
    stream = _Stream(chunks, max_bytes + (max_entries + 2) * TAR_OVERHEAD)
    room, entries = max_bytes, 0
    with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK, errorlevel=2) as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts[1:]
            place = target.joinpath(*parts)
            parent = str(place.parent)
            entries += 1
            linked = PurePosixPath(member.linkname).parts[1:] if member.islnk() else ()
            if (
                ".." in (*parts, *linked)
                or (parts and parent not in made)
                or (linked and str(target.joinpath(*linked).parent) not in made)
                or entries > max_entries
            ):
                raise WallsError("an archive of the engine is not as it should be", where=f"{target}: {member.name}")
            if member.isdir():
                place.mkdir(parents=not parts, exist_ok=True)
                made.add(str(place))
            elif member.issym():
                os.symlink(member.linkname, place)
            elif member.isfifo():
                os.mkfifo(place)
            elif member.islnk():
                os.link(target.joinpath(*linked), place, follow_symlinks=False)
            elif member.isreg():
                room -= member.size
                source = archive.extractfile(member)
                if room < 0 or source is None:
                    raise WallsError("an archive of the engine is longer than it said", where=str(target))
                with place.open("xb") as handle:
                    while block := source.read(BLOCK):
                        handle.write(block)


def _verify(target: Path, entries: list[list[Any]]) -> None:
    """Every listed file is there with its size."""
    for relative, size in entries:
        try:
            found = os.lstat(target / PurePosixPath(relative)).st_size
        except OSError:
            found = -1
        if found != size:
            raise WallsError(
                f"{relative} did not come out of the container whole ({found} of {size} bytes)", where=str(target)
            )


class _Stream(io.RawIOBase):
    """A generator of chunks as a file of at most `limit` bytes."""

    def __init__(self, chunks: Iterator[bytes], limit: int) -> None:
        self.chunks, self.left = iter(chunks), limit
        self.chunk = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        parts: list[memoryview] = []
        wanted = size if size >= 0 else self.left + 1
        while wanted > 0:
            if not self.chunk:
                following = next(self.chunks, None)
                if following is None:
                    break
                self.left -= len(following)
                if self.left < 0:
                    raise WallsError("an archive of the engine is longer than its bound")
                self.chunk = memoryview(following)
            parts.append(self.chunk[:wanted])
            wanted -= len(parts[-1])
            self.chunk = self.chunk[len(parts[-1]) :]
        return b"".join(parts)
