"""ISO base media file format (ISO/IEC 14496-12) boxes, read without any decoder.

Reading is bounded (number of boxes), every length is checked, nothing is trusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAX_BOXES = 200_000
KNOWN = frozenset(
    b"ftyp moov mdat free skip wide uuid meta moof mfra sidx styp ssix prft pdin emsg mfro udta pnot".split()
)


@dataclass(frozen=True)
class Box:
    """A box: four-character type, offset of its payload, end. `whole` is false when it runs past the end of file."""

    kind: bytes
    start: int
    end: int
    whole: bool


def top_boxes(file: BinaryIO, size: int) -> tuple[list[Box], int]:
    """The top-level boxes of an open file of `size` bytes, and the bytes after them that belong to no box."""
    boxes: list[Box] = []
    trailing = 0
    position = 0
    while position < size and len(boxes) < MAX_BOXES:
        file.seek(position)
        box = _header(file.read(16), position, size)
        # An unknown box that fits is skipped, as the standard asks; one that does not is no box but stray bytes.
        if box is None or (box.kind not in KNOWN and not (box.whole and _printable(box.kind))):
            trailing = size - position
            break
        boxes.append(box)
        position = box.end
    return boxes, trailing


def _header(head: bytes, position: int, size: int) -> Box | None:
    """The box whose first 16 bytes are `head`; None when it is no box."""
    if len(head) < 8:
        return None
    length, kind = struct.unpack(">I4s", head[:8])
    used = 8
    if length == 1:
        if len(head) < 16:
            return None
        length, used = struct.unpack(">Q", head[8:16])[0], 16
    elif length == 0:  # to the end of the file
        length = size - position
    if length < used:
        return None
    end = position + length
    return Box(kind, position + used, min(end, size), end <= size)


def _printable(kind: bytes) -> bool:
    return all(0x20 <= byte < 0x7F or byte == 0xA9 for byte in kind)


def children(data: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Type and payload of the boxes in `data`, until something is no box."""
    position, count = 0, 0
    while position + 8 <= len(data) and count < MAX_BOXES:
        box = _header(bytes(data[position : position + 16]), position, len(data))
        if box is None:
            return
        yield box.kind, data[box.start : box.end]
        position, count = max(box.end, position + 8), count + 1


def find(data: memoryview, *path: bytes) -> memoryview | None:
    """Payload of the first descendant along `path`, None when there is none."""
    for kind in path:
        found = next((body for name, body in children(data) if name == kind), None)
        if found is None:
            return None
        data = found
    return data
