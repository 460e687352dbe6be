"""A film, and how it becomes a delivery: encoded in tmp/, read back, moved into delivery/, sheets beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kit.brief import Brief
from kit.encode import EncodeError, ReadBack, encode, fit, read_back
from kit.sheets import Cue, write_notes, write_project, write_timing

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class Film:
    """What a scene hands over. `draw(t)` gives the picture at `t` seconds as (height, width, channels) uint8.

    `pixels` names the channel order for ffmpeg ("rgb24", "rgba", "bgra"). `sound` is (samples, 2) float at
    `synth.RATE`, None for no sound track. The array `draw` returns may be the same buffer each time. `keep` holds
    files the scene made on the way (spoken lines) that belong to the editable project.
    """

    frames: int
    draw: Callable[[float], Frame]
    sound: NDArray[np.float32] | None
    cues: Sequence[Cue]
    made: Sequence[str]
    pixels: str = "rgb24"
    keep: Sequence[Path] = field(default=())


def pictures(film: Film, fps: float) -> Iterator[Frame]:
    """Every frame of `film` in order, frame n at n / fps seconds."""
    for n in range(film.frames):
        yield film.draw(n / fps)


def render(
    brief: Brief,
    film: Film,
    path: Path,
    *,
    preset: str = "veryfast",
    options: Sequence[str] = (),
    frames: Iterable[Frame] | None = None,
) -> None:
    """Encode `film` to `path` at the size and rate of `brief`; `frames` replaces the film's own pictures."""
    encode(
        pictures(film, brief.fps) if frames is None else frames,
        path,
        width=brief.width,
        height=brief.height,
        fps=brief.fps,
        sound=None if film.sound is None else fit(film.sound, film.frames, brief.fps),
        pixels=film.pixels,
        preset=preset,
        options=options,
        tmp=brief.tmp,
    )


def deliver(
    brief: Brief, film: Film, name: str, *, sources: Iterable[Path], rerun: str, timing: bool = True
) -> ReadBack:
    """Make the whole delivery and return what the finished file holds.

    The MP4 appears in delivery/ in one step, when it is complete and was read back. `sources` are the files and
    folders of the editable project, `rerun` the command that renders again; `timing` False leaves the timing sheet out
    and says so in the notes. Raises EncodeError if the file that was
    read back does not have the frames, size or rate asked for.
    """
    draft = brief.tmp / name
    render(brief, film, draft)
    found = read_back(draft)
    wanted = (film.frames, brief.width, brief.height, brief.fps)
    if (found.frames, found.width, found.height, found.fps) != wanted:
        raise EncodeError(f"{name}: read back {found}, wanted {wanted}")
    open_points = ["How it looks on a given screen and sounds on given speakers: nobody has watched or heard it."]
    if timing:
        write_timing(brief.delivery / "timing.csv", film.cues, brief.fps)
    else:
        open_points.append("No timing sheet was written.")
    write_project(brief.delivery / "project", [*sources, *film.keep], brief.inputs, rerun)
    write_notes(
        brief.delivery / "notes.md",
        title=f"{brief.id}: {brief.title}",
        video=name,
        made=film.made,
        verified=verified(found, brief),
        open_points=open_points,
    )
    draft.rename(brief.delivery / name)
    return found


def verified(found: ReadBack, brief: Brief) -> list[str]:
    """Sentences for the notes: only what `found`, a decode of the finished file, shows."""
    lines = [
        f"Decoded from first to last frame without an error: {found.frames} frames, {found.width}x{found.height}, "
        f"{found.fps:g} frames a second, {found.frames / found.fps:.2f} s.",
        f"Asked were {brief.width}x{brief.height}, {brief.fps:g} frames a second, "
        f"{brief.shortest:g} to {brief.longest:g} s.",
    ]
    if found.peak_dbfs is None:
        lines.append("The file has no sound track.")
    else:
        lines.append(f"The sound track decodes; its peak is {found.peak_dbfs:.1f} dBFS.")
    return lines
