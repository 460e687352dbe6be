"""The only place that starts ffmpeg: a fixed program, a fenced input, limits, a deadline, its own process group.

A delivered file is hostile until shown otherwise. It is opened by absolute path with the `file:` prefix, by the mov
demuxer alone, with every other protocol closed and a limit on pixels; the child has limits on memory, CPU time and
file size; its messages go to a file, so that a flood of them cannot block the pipe that carries the picture.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from vvb_resources.errors import MediaError

MAX_PIXELS = 40_000_000  # of one picture; 7680x4320 is 33 million
MEMORY_BYTES = 4 << 30
OUTPUT_BYTES = 4 << 30  # of one file the child may write
LOG_CHARS = 400_000
THREADS = max(1, min(4, os.cpu_count() or 1))


def ffmpeg_program() -> str:
    """Path of the ffmpeg program of the imageio-ffmpeg wheel (or of `IMAGEIO_FFMPEG_EXE`). Raises MediaError."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MediaError(
            f"no ffmpeg program ({error})", remedy="install imageio-ffmpeg or set IMAGEIO_FFMPEG_EXE"
        ) from error


def input_url(video: Path) -> str:
    """`video` as a URL whose name is never read as a protocol or an option."""
    return f"file:{os.path.abspath(video)}"


def input_args(video: Path) -> list[str]:
    """ffmpeg input arguments that open `video` as an MP4 and nothing else."""
    fence = ["-max_pixels", str(MAX_PIXELS), "-protocol_whitelist", "file,pipe", "-threads", str(THREADS)]
    return [*fence, "-f", "mov", "-i", input_url(video)]


@dataclass(frozen=True)
class Ended:
    """How a run of ffmpeg ended: exit code (negative = signal), was it stopped at its deadline, its messages."""

    code: int
    timed_out: bool
    log: str


@contextmanager
def child(
    command: Sequence[str], *, log: Path, deadline_s: float, memory_bytes: int = MEMORY_BYTES, python_path: str = ""
) -> Iterator[tuple[IO[bytes], Callable[[], Ended]]]:
    """Run `command` within limits; yields its standard output and a function that waits for its end.

    `log` is the file that takes its messages; its folder is the working folder and the home. The environment is empty
    but for locale, PATH and `python_path`: no setting, proxy or key reaches the child. The whole process group is dead
    when the context is left, whatever happened inside. Raises MediaError when the program cannot be started.
    """
    environment = {"LC_ALL": "C", "AV_LOG_FORCE_NOCOLOR": "1", "PATH": os.defpath, "HOME": str(log.parent)}
    if python_path:
        environment["PYTHONPATH"] = python_path
    timed_out = threading.Event()
    with log.open("wb") as messages:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=messages,
                env=environment,
                cwd=log.parent,
                start_new_session=True,
            )
        except OSError as error:
            raise MediaError(f"a media tool cannot be started ({error})", where=command[0]) from error
    assert process.stdout is not None
    _limit(process.pid, cpu_s=int(deadline_s * THREADS) + 10, memory_bytes=memory_bytes)

    def stop_late() -> None:
        timed_out.set()
        _kill(process.pid)

    watchdog = threading.Timer(deadline_s, stop_late)
    watchdog.daemon = True
    watchdog.start()

    def wait() -> Ended:
        code = process.wait()
        return Ended(code, timed_out.is_set(), _read_log(log))

    try:
        yield process.stdout, wait
    finally:
        watchdog.cancel()
        if process.poll() is None:
            _kill(process.pid)
        process.stdout.close()
        process.wait()


@contextmanager
def ffmpeg(args: Sequence[str], *, log: Path, deadline_s: float) -> Iterator[tuple[IO[bytes], Callable[[], Ended]]]:
    """Run ffmpeg with `args` as a `child`. Raises MediaError when the program cannot be started."""
    command = [ffmpeg_program(), "-hide_banner", "-nostdin", "-nostats", "-y", *args]
    with child(command, log=log, deadline_s=deadline_s) as running:
        yield running


def run_ffmpeg(args: Sequence[str], *, work: Path, deadline_s: float = 600.0) -> tuple[bytes, Ended]:
    """Run ffmpeg to its end; returns its standard output and how it ended. `work` is a folder for its messages."""
    with ffmpeg(args, log=work / "ffmpeg.log", deadline_s=deadline_s) as (output, wait):
        data = output.read()
        return data, wait()


def _limit(pid: int, *, cpu_s: int, memory_bytes: int) -> None:
    """Limits set on the running child: a `preexec_fn` is not safe in a program with threads."""
    if not hasattr(resource, "prlimit"):  # not Linux: deadline and pixel limit remain
        return
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_FSIZE: OUTPUT_BYTES,
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in limits.items():
        try:
            _, hard = resource.prlimit(pid, kind)
            lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, kind, (lowered, lowered))
        except ProcessLookupError:  # it has ended already
            return


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _read_log(log: Path) -> str:
    """Head and tail of the messages: the tail holds the summaries of the sound filters."""
    text = log.read_text(encoding="utf-8", errors="replace")
    return text if len(text) <= 2 * LOG_CHARS else f"{text[:LOG_CHARS]}\n{text[-LOG_CHARS:]}"
