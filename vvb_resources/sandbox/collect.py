"""Taking an agent's files out of its reach: copied one by one, bounded, digested and made read-only.

Only regular files are copied. Links, FIFOs, sockets and devices are neither followed nor opened; they are recorded, and
so is everything that is over a bound or cannot be read. Call it when nothing of the agent runs any more.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.errors import SandboxError

MAX_FILES = 20_000
MAX_DEPTH = 32
MAX_PATH = 1024
MAX_LEFT_OUT = 1000
BLOCK = 1 << 20
KINDS = (
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISFIFO, "FIFO"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


@dataclass(frozen=True)
class CollectedFile:
    """A copied file: POSIX path relative to the collected folder, size in bytes, SHA-256 in hex."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class LeftOut:
    """What was not copied, and why. Bytes of a name that are not UTF-8 are shown as \\xNN."""

    path: str
    why: str


@dataclass(frozen=True)
class Collected:
    """What `collect` took, and what it left."""

    files: tuple[CollectedFile, ...]
    left_out: tuple[LeftOut, ...]


def collect(
    source: Path, target: Path, *, max_bytes: int, max_files: int = MAX_FILES, unlock: bool = False
) -> Collected:
    """Copy the regular files below `source` into the existing empty folder `target`, then make that read-only.

    Files at the top come first, then by path, so that a bound (`max_bytes` in all, `max_files`) never costs the video
    for the sake of a cache below it. `source` itself missing, or not a folder, is recorded like anything else odd.
    `source` is only read; `unlock` first takes away permissions by which an agent keeps its owner out.
    Raises SandboxError when `target` cannot be written.
    """
    files: list[CollectedFile] = []
    left: list[LeftOut] = []
    total = 0
    if unlock and _odd(source, stat.S_ISDIR) is None:
        subprocess.run(["chmod", "-R", "u+rX", "--", str(source)], capture_output=True, check=False)
    for relative, path, why in _walk(source, "", 0):
        if why is not None:
            left.append(LeftOut(_shown(relative), why))
        elif len(files) >= max_files:
            left.append(LeftOut(_shown(relative), f"more than {max_files} files"))
            break
        else:
            copied = _copy(path, target / relative, relative, max_bytes - total)
            if isinstance(copied, LeftOut):
                left.append(copied)
            else:
                files.append(copied)
                total += copied.bytes
        if len(left) >= MAX_LEFT_OUT:
            left.append(LeftOut("...", f"more than {MAX_LEFT_OUT} entries were left out; the rest is not listed"))
            break
    protect(target)
    return Collected(tuple(sorted(files, key=lambda file: file.path)), tuple(left))


def protect(folder: Path) -> None:
    """Make every file and folder below `folder`, and itself, read-only."""
    for base, folders, names in os.walk(folder):
        for name in names:
            os.chmod(os.path.join(base, name), 0o444)
        for name in folders:
            os.chmod(os.path.join(base, name), 0o755)  # until its own turn
        os.chmod(base, 0o555)


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, Path, str | None]]:
    """(relative path, path, why it is left out or None), regular files of a folder before its sub-folders."""
    odd = _odd(folder, stat.S_ISDIR) if depth == 0 else None
    if odd is not None:
        yield ".", folder, odd
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        yield prefix or ".", folder, f"cannot be read ({error.strerror})"
        return
    folders = []
    for entry in entries:
        relative = f"{prefix}{entry.name}"
        if not _utf8(entry.name):
            yield relative, Path(entry.path), "its name is not UTF-8"
        elif len(os.fsencode(relative)) > MAX_PATH:
            yield relative, Path(entry.path), f"a path of more than {MAX_PATH} bytes"
        elif entry.is_dir(follow_symlinks=False):
            folders.append((relative, Path(entry.path)))
        else:
            yield relative, Path(entry.path), _odd(Path(entry.path), stat.S_ISREG)
    for relative, path in folders:
        if depth + 1 >= MAX_DEPTH:
            yield relative, path, f"more than {MAX_DEPTH} folders deep"
        else:
            yield from _walk(path, relative + "/", depth + 1)


def _copy(path: Path, target: Path, relative: str, room: int) -> CollectedFile | LeftOut:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return LeftOut(_shown(relative), f"cannot be read ({error.strerror})")
    with os.fdopen(handle, "rb") as reader:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return LeftOut(_shown(relative), "not a regular file")
        if status.st_size > room:
            return LeftOut(_shown(relative), f"{status.st_size} bytes, {room} were left of the bound on a delivery")
        digest = hashlib.sha256()
        size = 0
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as writer:
                while block := reader.read(BLOCK):
                    digest.update(block)
                    writer.write(block)
                    size += len(block)
                writer.flush()
                os.fsync(writer.fileno())
        except OSError as error:
            raise SandboxError(f"cannot be copied ({error.strerror})", where=str(target)) from error
    return CollectedFile(relative, size, digest.hexdigest())


def _odd(path: Path, wanted: Callable[[int], bool]) -> str | None:
    """Why `path` is not what it should be (`wanted`: stat.S_ISREG or S_ISDIR); None when it is."""
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if wanted(mode):
        return None
    return next((name for test, name in KINDS if test(mode)), "not a folder")


def _utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(relative: str) -> str:
    return os.fsencode(relative).decode("utf-8", "backslashreplace")
