"""What lies beside the MP4 in a delivery: timing sheet, production notes, editable project."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cue:
    """One line of the timing sheet: what is seen or heard from `start` to `end` (seconds)."""

    start: float
    end: float
    what: str
    channel: str = "picture"


def write_timing(path: Path, cues: Iterable[Cue], fps: float) -> None:
    """Write the timing sheet as CSV, ordered by start: start_s, end_s, start_frame, channel, what."""
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(["start_s", "end_s", "start_frame", "channel", "what"])
        for cue in sorted(cues, key=lambda c: (c.start, c.channel, c.end)):
            sheet.writerow([f"{cue.start:.3f}", f"{cue.end:.3f}", round(cue.start * fps), cue.channel, cue.what])


def write_notes(
    path: Path, *, title: str, video: str, made: Sequence[str], verified: Sequence[str], open_points: Sequence[str]
) -> None:
    """Write the production notes: front matter naming the video, how it was made, what was verified, what was not."""
    lines = ["---", f"video: {video}", "---", "", f"# {title}", "", "## How it was made", *_list(made), ""]
    lines += ["## Verified on the finished file", *_list(verified), "", "## Not verified", *_list(open_points), ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def write_project(folder: Path, sources: Iterable[Path], inputs: Path, rerun: str) -> list[str]:
    """Fill `folder` (made if absent) with copies of `sources` (files and folders), of `inputs`, and a README.

    `rerun` is the command that renders again. Returns the names written, sorted. Compiled files are left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for source in sources:
        if source.is_dir():
            _copy_tree(source, folder / source.name, ignore)
        else:
            shutil.copyfile(source, folder / source.name)
    if inputs.is_dir() and any(inputs.iterdir()):
        _copy_tree(inputs, folder / "inputs", ignore)
    text = "\n".join(
        ["# Editable source", "", "Render again from a work folder with the same brief:", "", f"    {rerun}", ""]
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    return sorted(p.name for p in folder.iterdir())


def _copy_tree(source: Path, target: Path, ignore: object) -> None:
    """Copy contents only: the originals may be read-only, the copies are to be edited."""
    shutil.copytree(source, target, ignore=ignore, copy_function=shutil.copyfile, dirs_exist_ok=True)  # type: ignore[arg-type]
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _list(items: Sequence[str]) -> list[str]:
    return [f"- {item}" for item in items] or ["- nothing"]
