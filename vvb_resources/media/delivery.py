"""A delivery: which file is the video, is there an editable project, timing sheet, notes.

A delivery folder has exactly one MP4 at its top. Of several, the one that `notes.md` names in its front matter
(`video: name.mp4`) or `video.mp4` counts; otherwise the delivery is at fault. Links are never followed.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

NOTES = "notes.md"
PROJECT = "project"
TIMING = ("timing.csv", "timing.json", "timing.md")
NOTES_BYTES = 1 << 20
PROJECT_ENTRIES = 100_000


@dataclass(frozen=True)
class Delivery:
    """What was found. `fault` says why there is no `video`, None when there is one.

    `project`: is there an editable source; None when only a file was given, so that nobody can tell.
    """

    video: Path | None
    fault: str | None
    project: bool | None
    timing: Path | None
    notes: Path | None


def find_delivery(path: Path) -> Delivery:
    """Find the delivery at `path` (an MP4 file or a delivery folder). What is missing or odd is a fault, no error."""
    mode = _mode(path)
    if mode is None:
        return Delivery(None, "there is no such file or folder", None, None, None)
    if stat.S_ISREG(mode):
        return Delivery(path, None, None, None, None)
    if not stat.S_ISDIR(mode):
        return Delivery(None, "a symbolic link or special file, not a regular file", None, None, None)
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        return Delivery(None, f"the folder cannot be read ({error.strerror})", None, None, None)
    regular = [name for name in names if _is_regular(path / name)]
    notes = path / NOTES if NOTES in regular else None
    timing = next((path / name for name in TIMING if name in regular), None)
    videos = [name for name in regular if name.lower().endswith(".mp4") and not name.startswith(".")]
    video, fault = _choose(videos, notes)
    if not videos and any(name.lower().endswith(".mp4") for name in names):
        fault = "the MP4 at the top of the delivery is not a regular file"
    return Delivery(path / video if video else None, fault, has_project(path), timing, notes)


def has_project(delivery: Path) -> bool:
    """Does `project/` hold at least one regular file that is not empty, at any depth."""
    root = delivery / PROJECT
    mode = _mode(root)
    if mode is None or not stat.S_ISDIR(mode):
        return False
    seen = 0
    for base, _, names in os.walk(root):  # does not follow links
        for name in names:
            seen += 1
            if seen > PROJECT_ENTRIES:
                return False
            try:
                status = os.lstat(os.path.join(base, name))
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and status.st_size > 0:
                return True
    return False


def _choose(videos: list[str], notes: Path | None) -> tuple[str | None, str | None]:
    """The video's name, or the fault."""
    if not videos:
        return None, "no MP4 at the top of the delivery"
    if len(videos) == 1:
        return videos[0], None
    named = _named_in_notes(notes) if notes else None
    for name in (named, "video.mp4"):
        if name in videos:
            return name, None
    listed = ", ".join(videos[:4]) + (", ..." if len(videos) > 4 else "")
    return None, f"{len(videos)} MP4s at the top ({listed}); neither notes.md nor the name video.mp4 says which counts"


def _named_in_notes(notes: Path) -> str | None:
    """`video` of the YAML front matter of the notes; None when there is none or it cannot be read."""
    try:
        with notes.open(encoding="utf-8", errors="replace") as file:
            text = file.read(NOTES_BYTES)
    except OSError:
        return None
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return None
    ends = [at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"]
    if not ends:
        return None
    try:
        front = YAML(typ="safe", pure=True).load("\n".join(lines[1 : ends[0]]))
    except (YAMLError, ValueError, RecursionError):
        return None
    name = front.get("video") if isinstance(front, dict) else None
    return name if isinstance(name, str) else None


def _mode(path: Path) -> int | None:
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return None


def _is_regular(path: Path) -> bool:
    mode = _mode(path)
    return mode is not None and stat.S_ISREG(mode)
