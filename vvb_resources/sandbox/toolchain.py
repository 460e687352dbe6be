"""The tools that a local sandbox puts on the agent's PATH: `python`, `ffmpeg` and `tts`, each a file of `bin/`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg

from vvb_resources.errors import SandboxError
from vvb_resources.sandbox import tts
from vvb_resources.sandbox.bubblewrap import seen_inside

TOOLS: tuple[tuple[str, str], ...] = (
    ("python", "Python with skia, numpy, scipy, PIL, matplotlib, librosa and soundfile"),
    ("ffmpeg", "ffmpeg with libx264 and AAC"),
    ("tts", 'text to speech: tts [--voice en|zh] [--speed WORDS_PER_MINUTE] "text" out.wav (WAV, 22050 Hz, mono)'),
)

AGENT_TOOLS = "VVB_AGENT_TOOLS"
"""Setting: folders with the agents' own programs, separated as in PATH."""


@dataclass(frozen=True)
class AgentTool:
    """A folder that the agent may read, and the folder of programs in it that joins its PATH."""

    root: str
    programs: str


def agent_tools() -> tuple[AgentTool, ...]:
    """The folders that the setting VVB_AGENT_TOOLS names for the local sandbox (what `npm install --prefix` made).

    Programs lie in `node_modules/.bin`, `bin` or the folder itself, the first that is there. Raises SandboxError for a
    folder that is not there.
    """
    tools = []
    for text in filter(None, os.environ.get(AGENT_TOOLS, "").split(os.pathsep)):
        root = Path(text).resolve()
        if not root.is_dir():
            raise SandboxError("is not a folder", where=f"{AGENT_TOOLS}: {text}", remedy="name folders that exist")
        programs = next(p for p in (root / "node_modules" / ".bin", root / "bin", root) if p.is_dir())
        tools.append(AgentTool(str(root), str(programs)))
    return tuple(tools)


def fill_bin(folder: Path) -> None:
    """Write the tools into the existing empty `folder`.

    ffmpeg is a link where the agent sees its target, else a copy (never a hard link: writing to that would change this
    machine's own). Python is the platform's environment, started by a wrapper since a link would not find its packages.
    Raises SandboxError when there is no ffmpeg.
    """
    try:
        ffmpeg = Path(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise SandboxError(f"no ffmpeg: {error}", remedy="reinstall imageio-ffmpeg") from error
    if seen_inside(ffmpeg):
        (folder / "ffmpeg").symlink_to(ffmpeg)
    else:
        shutil.copy2(ffmpeg, folder / "ffmpeg")
    speech = folder / "tts.py"
    shutil.copyfile(tts.__file__, speech)
    _script(folder / "python", f'exec {shlex.quote(sys.executable)} "$@"')
    _script(folder / "tts", f'exec {shlex.quote(sys.executable)} -I {shlex.quote(str(speech))} "$@"')


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
