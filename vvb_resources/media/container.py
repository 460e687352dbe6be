"""The light container check: is this a regular file that looks like an MP4 with a picture track. Decodes nothing.

It is used when a delivery is collected and again as the guard of L1, before any media library sees the file.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vvb_resources.media.layout import Layout, read_layout

MAX_BYTES = 4 << 30

ContainerFault = Literal[
    "missing",
    "not_regular",
    "unreadable",
    "empty",
    "too_large",
    "not_mp4",
    "no_moov",
    "no_media",
    "no_video",
]


@dataclass(frozen=True)
class ContainerCheck:
    """Outcome of the light check. `fault` is None when `ok`; `message` says it for a person. `layout` is the header as
    far as it was read; `size_bytes` is None when there is no regular file."""

    ok: bool
    fault: ContainerFault | None
    message: str
    size_bytes: int | None = None
    layout: Layout | None = None


def check_container(video: Path | None, max_bytes: int = MAX_BYTES) -> ContainerCheck:
    """Check `video` without decoding and without following links. A fault is a result, never an error.

    `video` None means that the delivery has no MP4. Playlists, Matroska, HTML under the name `.mp4` are `not_mp4`; a
    file whose `moov` is absent or cut is `no_moov`; one without a picture track (cover art is none) is `no_video`.
    """
    if video is None:
        return _fault("missing", "the delivery has no MP4")
    try:
        # O_NOFOLLOW and O_NONBLOCK: neither a link nor a FIFO put there since the listing is opened.
        handle = os.open(video, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _fault("missing", "there is no such file")
    except (OSError, ValueError) as error:
        if _is_odd(video):
            return _fault("not_regular", "a symbolic link or special file")
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return _fault("unreadable", f"cannot be opened ({reason})")
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return _fault("not_regular", "not a regular file")
        size = status.st_size
        if size == 0:
            return _fault("empty", "the file has 0 bytes", size)
        if size > max_bytes:
            return _fault("too_large", f"{size} bytes; the limit is {max_bytes}", size)
        with os.fdopen(handle, "rb", closefd=False) as file:
            layout = read_layout(file, size)
    except OSError as error:
        return _fault("unreadable", f"cannot be read ({error.strerror})")
    finally:
        os.close(handle)
    return _judge(layout, size)


def _judge(layout: Layout, size: int) -> ContainerCheck:
    if not layout.has(b"ftyp"):
        return _fault("not_mp4", "no ftyp box: not an MP4", size, layout)
    if not layout.has(b"moov", whole=True):
        return _fault("no_moov", "no whole moov box: the file was cut or never finished", size, layout)
    if not layout.has(b"mdat"):
        return _fault("no_media", "no mdat box: a header without media", size, layout)
    if not any(track.handler == "vide" for track in layout.tracks):
        return _fault("no_video", "no picture track", size, layout)
    return ContainerCheck(True, None, "MP4 with a picture track", size, layout)


def _is_odd(path: Path) -> bool:
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _fault(
    fault: ContainerFault, message: str, size: int | None = None, layout: Layout | None = None
) -> ContainerCheck:
    return ContainerCheck(False, fault, message, size, layout)
