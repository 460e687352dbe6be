"""The probe in a process of its own, with limits on memory and time.

A demuxer reads the header into tables as large as the header asks for, before anything can be judged. In the process
of the platform one hostile file could take its memory, its time, or its life; in a child it takes none of them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import vvb_resources
from vvb_resources.errors import MediaError
from vvb_resources.media.probe import AudioProbe, Probe, VideoProbe, probe
from vvb_resources.media.tools import child

MEMORY_BYTES = 2 << 30
REPLY_BYTES = 1 << 20
PACKAGES = str(Path(vvb_resources.__file__).parents[1])


def probe_apart(video: Path, work: Path, deadline_s: float = 60.0) -> Probe:
    """`probe` in a child process; `work` is a folder for its messages. Raises MediaError when the file cannot be
    probed: it is no MP4 that opens, or its header takes more memory or time than a header may."""
    command = [sys.executable, "-s", "-m", "vvb_resources.media.apart", str(video.absolute())]
    log = work / "probe.log"
    with child(command, log=log, deadline_s=deadline_s, memory_bytes=MEMORY_BYTES, python_path=PACKAGES) as (
        output,
        wait,
    ):
        reply = output.read(REPLY_BYTES)
        ended = wait()
    try:
        answer = json.loads(reply)
        if "fault" in answer:
            raise MediaError(str(answer["fault"]), where=video.name)
        return _probe(answer)
    except (ValueError, TypeError, KeyError) as error:
        reason = "took too long" if ended.timed_out else f"ended with code {ended.code}"
        raise MediaError(f"the header cannot be read (the probe {reason})", where=video.name) from error


def _probe(answer: dict[str, Any]) -> Probe:
    video = answer.pop("video")
    audio = tuple(AudioProbe(**_exact(stream, ("start",))) for stream in answer.pop("audio"))
    picture = VideoProbe(**_exact(video, ("sar", "time_base", "rate", "start"))) if video else None
    return Probe(video=picture, audio=audio, **answer)


def _exact(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return record | {name: Fraction(record[name]) for name in names if record[name] is not None}


def main() -> None:
    """In the child: print the probe of the named file, or why there is none, as JSON."""
    try:
        answer: dict[str, Any] = asdict(probe(Path(sys.argv[1])))
    except (MediaError, MemoryError) as error:
        answer = {"fault": error.what if isinstance(error, MediaError) else "the header asks for too much memory"}
    sys.stdout.write(json.dumps(answer, default=str))


if __name__ == "__main__":
    main()
