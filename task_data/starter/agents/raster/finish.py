"""From a scene to a delivery: encode in tmp/, read the file back, write the sheets, move the MP4 into delivery/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from kit.brief import Brief
from kit.deliver import Film, render, verified
from kit.encode import ReadBack, read_back
from kit.sheets import Cue, write_notes, write_project, write_timing
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class Piece:
    """What a scene hands over. Times in seconds.

    `draw(t)` gives the RGB picture at `t`. `sound` is (samples, 2) float at `kit.synth.RATE`, None for no sound track.
    `cues` fill the timing sheet, `made` the notes. `rate` is the frames a second of the file, the brief's if None.
    `project` False leaves the editable source out. `keep` names further files for it.
    """

    seconds: float
    draw: Callable[[float], Image.Image]
    sound: NDArray[np.float32] | None
    cues: Sequence[Cue]
    made: Sequence[str]
    rate: float | None = None
    project: bool = True
    keep: Sequence[Path] = field(default=())


def hand_over(brief: Brief, piece: Piece, sources: Sequence[Path], rerun: str) -> ReadBack:
    """Make the whole delivery of `piece` and return what a decode of the finished file found.

    The notes state that finding beside what was asked, and nothing that was not looked at. Raises EncodeError when
    ffmpeg fails or the file cannot be decoded.
    """
    name = "video.mp4"
    job = brief if piece.rate is None else replace(brief, fps=piece.rate)
    film = Film(
        frames=job.frames(piece.seconds),
        draw=lambda t: np.asarray(piece.draw(t)),
        sound=piece.sound,
        cues=piece.cues,
        made=piece.made,
    )
    draft = brief.tmp / name
    render(job, film, draft, preset="superfast")
    found = read_back(draft)
    write_timing(brief.delivery / "timing.csv", piece.cues, job.fps)
    if piece.project:
        write_project(brief.delivery / "project", [*sources, *piece.keep], brief.inputs, rerun)
    write_notes(
        brief.delivery / "notes.md",
        title=f"{brief.id}: {brief.title}",
        video=name,
        made=piece.made,
        verified=verified(found, brief),
        open_points=["Time was short: the finished video was not compared with the prompt, sentence by sentence."],
    )
    draft.rename(brief.delivery / name)
    return found
