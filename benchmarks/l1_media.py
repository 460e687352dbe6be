"""Clips for the benchmark of L1, and the yardstick: a bare full decode by the fastest ffmpeg that is installed."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.media.tools import ffmpeg_program, run_ffmpeg

PIECE_S = 15


@dataclass(frozen=True)
class Cost:
    """CPU seconds (with children), wall seconds, and peak memory in MiB (of parent and child together)."""

    cpu_s: float
    wall_s: float
    peak_mib: float = 0.0


def make_clips(folder: Path, lengths: tuple[int, ...]) -> dict[int, Path]:
    """Clips of 1080p30 H.264 with AAC stereo, by length in seconds (multiples of 15): one drawn piece, repeated."""
    piece = folder / "piece.mp4"
    picture = f"testsrc2=size=1920x1080:rate=30:duration={PIECE_S},noise=alls=6:allf=t"
    encode = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "-bf", "2", "-pix_fmt", "yuv420p"]
    _ffmpeg(folder, "-f", "lavfi", "-i", picture, *encode, str(piece))
    clips = {}
    for length in lengths:
        clips[length] = folder / f"{length}.mp4"
        tone = f"sine=frequency=330:sample_rate=48000:duration={length},volume=6dB,tremolo=f=3"
        loop = ["-stream_loop", str(length // PIECE_S - 1), "-i", str(piece), "-f", "lavfi", "-i", tone]
        coded = ["-map", "0:v", "-map", "1:a", "-c:v", "copy", "-c:a", "aac", "-ac", "2", "-movflags", "+faststart"]
        _ffmpeg(folder, *loop, *coded, str(clips[length]))
    return clips


def fastest_ffmpeg(clip: Path) -> tuple[str, str]:
    """Program and version line of the installed ffmpeg that decodes `clip` with the least CPU."""
    names = {ffmpeg_program(), os.environ.get("IMAGEIO_FFMPEG_EXE", ""), shutil.which("ffmpeg") or ""}
    programs = sorted(name for name in names if name)
    best = min(programs, key=lambda program: min(bare_decode(program, clip).cpu_s for _ in range(2)))
    version = subprocess.run([best, "-version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return best, version.partition(" Copyright")[0]


def bare_decode(program: str, clip: Path) -> Cost:
    """Cost of decoding every frame and sample of `clip` and nothing else."""
    args = [program, "-v", "error", "-nostdin", "-i", str(clip), "-map", "0:v:0", "-map", "0:a:0", "-f", "null", "-"]
    return run(args)[0]


def run(command: list[str]) -> tuple[Cost, str]:
    """Run a program; its cost (without memory) and standard output."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall), done.stdout


def _ffmpeg(folder: Path, *args: str) -> None:
    _, ended = run_ffmpeg(["-v", "error", *args], work=folder)
    if ended.code != 0:
        raise RuntimeError(f"the clips cannot be made: {ended.log.strip()[-300:]}")
