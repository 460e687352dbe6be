"""Reading a benchmark's files: bounded, UTF-8, never through a link that leaves the folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vvb_resources.benchmark.problems import Problem

MAX_TEXT_BYTES = 2 * 1024 * 1024
JUNK = frozenset({"__pycache__", ".DS_Store", "Thumbs.db"})  # made by tools, no part of a benchmark


class Refused(Exception):
    """A file (or a part of one) cannot be used; carries its problems. Never leaves this package."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def relative_name(root: Path, path: Path) -> str:
    """`path` below `root` in POSIX form; a path elsewhere (another folder's panels) as given."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def leaves(folder: Path, path: Path) -> bool:
    """Does `path`, with every link followed, lie outside `folder`."""
    return not path.resolve().is_relative_to(folder.resolve())


def read_text(root: Path, path: Path, within: Path | None = None) -> str:
    """The UTF-8 text of `path` (a byte order mark is dropped, line ends become \\n).

    Raises Refused if it is missing, is no regular file, is larger than 2 MiB, is not UTF-8, or is a link that leaves
    `within` (the benchmark's root unless given).
    """
    name = relative_name(root, path)
    if path.is_symlink() and leaves(within or root, path):
        raise Refused(Problem(name, None, "is a link that leaves the folder", "put the file itself into the folder"))
    if not path.is_file():
        if path.exists():
            raise Refused(Problem(name, None, "is not a regular file", "replace it by a text file"))
        remedy = "the link points to nothing; mend it" if path.is_symlink() else "add the file"
        raise Refused(Problem(name, None, "the file is missing", remedy))
    if path.stat().st_size > MAX_TEXT_BYTES:
        raise Refused(
            Problem(
                name, None, f"is {path.stat().st_size:,} bytes, more than 2 MiB", "move bulk data to the assets folder"
            )
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Refused(Problem(name, None, f"cannot be read ({error.strerror})", "check its permissions")) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Refused(
            Problem(name, line, f"is not UTF-8 (byte 0x{raw[error.start]:02x})", "save the file as UTF-8")
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _raise(error: OSError) -> None:
    raise error  # os.walk passes over a folder it cannot read, which would look like an empty one


def walk_files(folder: Path) -> Iterator[Path]:
    """Every entry below `folder` but real folders (links are not entered), in name order, without tools' junk."""
    for base, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if name not in JUNK)
        linked = [name for name in folders if (Path(base) / name).is_symlink()]
        for name in sorted([*linked, *(name for name in names if name not in JUNK and not name.endswith(".pyc"))]):
            yield Path(base) / name


def collect(root: Path, folder: Path, problems: list[Problem]) -> tuple[Path, ...]:
    """Absolute regular files of an asset or agent folder, sorted; what cannot be used is added to `problems`."""
    files = []
    for path in walk_files(folder):
        name = relative_name(root, path)
        if path.is_symlink() and leaves(root, path):
            problems.append(
                Problem(name, None, "is a link that leaves the benchmark folder", "copy the file into the folder")
            )
        elif path.is_symlink() and path.is_dir():
            problems.append(Problem(name, None, "is a link to a folder", "copy the folder's files instead"))
        elif path.is_file():
            files.append(path.absolute())
        else:
            problems.append(Problem(name, None, "is neither a file nor a folder", "remove it or mend the link"))
    return tuple(sorted(files))
