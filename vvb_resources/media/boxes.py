"""ISO base media file format (ISO/IEC 14496-12) boxes: what an MP4's header says, read without any decoder.

Only what L1 needs: the top-level boxes, brands, and of each track its handler, size, matrix and sample count. Reading
is bounded (number of boxes, bytes of `moov`), every length is checked, nothing is trusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAX_BOXES = 200_000
MAX_MOOV = 256 << 20
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


@dataclass(frozen=True)
class Track:
    """A track of `moov`. `width`, `height`: the larger of track header and sample entry; `rotation` counter-clockwise
    degrees of the header matrix (None: not a quarter turn); `samples` of the sample table (0 in fragmented files)."""

    handler: str
    codec: str
    width: int
    height: int
    rotation: int | None
    samples: int


@dataclass(frozen=True)
class Layout:
    """Top level of a file: boxes in order, major and compatible brands, bytes that belong to no box, tracks."""

    boxes: tuple[Box, ...]
    major_brand: str
    brands: tuple[str, ...]
    trailing: int
    tracks: tuple[Track, ...]

    def has(self, kind: bytes, *, whole: bool = False) -> bool:
        """Is there a top-level box of this kind (lying wholly inside the file, if `whole`)."""
        return any(box.kind == kind and (box.whole or not whole) for box in self.boxes)

    @property
    def truncated(self) -> bool:
        """Does the last box promise more bytes than the file has."""
        return any(not box.whole for box in self.boxes)


def read_layout(file: BinaryIO, size: int) -> Layout:
    """Read the layout of an open file of `size` bytes. Never raises on damaged content: what is damaged is absent."""
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
    major, brands = _brands(file, boxes)
    tracks: list[Track] = []
    for box in boxes:
        if box.kind == b"moov" and box.whole and box.end - box.start <= MAX_MOOV:
            file.seek(box.start)
            moov = memoryview(file.read(box.end - box.start))
            tracks += [_track(body) for kind, body in _children(moov) if kind == b"trak"]
    return Layout(tuple(boxes), major, brands, trailing, tuple(tracks))


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


def _children(data: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    position, count = 0, 0
    while position + 8 <= len(data) and count < MAX_BOXES:
        box = _header(bytes(data[position : position + 16]), position, len(data))
        if box is None:
            return
        yield box.kind, data[box.start : box.end]
        position, count = max(box.end, position + 8), count + 1


def _find(data: memoryview, *path: bytes) -> memoryview | None:
    """First descendant along `path`."""
    for kind in path:
        found = next((body for name, body in _children(data) if name == kind), None)
        if found is None:
            return None
        data = found
    return data


def _brands(file: BinaryIO, boxes: list[Box]) -> tuple[str, tuple[str, ...]]:
    for box in boxes:
        if box.kind == b"ftyp":
            file.seek(box.start)
            body = file.read(min(box.end - box.start, 1024))
            words = [body[at : at + 4].decode("latin-1") for at in range(0, len(body) - 3, 4)]
            return (words[0] if words else ""), tuple(words[2:])
    return "", ()


def _track(trak: memoryview) -> Track:
    header, rotation = _track_header(_find(trak, b"tkhd"))
    handler = _find(trak, b"mdia", b"hdlr")
    table = _find(trak, b"mdia", b"minf", b"stbl") or memoryview(b"")
    codec, entry = _sample_entry(_find(table, b"stsd"))
    sizes = _find(table, b"stsz") or _find(table, b"stz2")
    return Track(
        handler=bytes(handler[8:12]).decode("latin-1") if handler is not None and len(handler) >= 12 else "",
        codec=codec,
        width=max(header[0], entry[0]),
        height=max(header[1], entry[1]),
        rotation=rotation,
        samples=struct.unpack(">I", sizes[8:12])[0] if sizes is not None and len(sizes) >= 12 else 0,
    )


def _track_header(tkhd: memoryview | None) -> tuple[tuple[int, int], int | None]:
    """Width and height in pixels, and the rotation of the matrix."""
    if tkhd is None or len(tkhd) < 4:
        return (0, 0), 0
    offset = 52 if tkhd[0] == 1 else 40
    if len(tkhd) < offset + 44:
        return (0, 0), 0
    a, b, _, c, d = struct.unpack(">5i", tkhd[offset : offset + 20])
    width, height = struct.unpack(">II", tkhd[offset + 36 : offset + 44])
    signs = tuple((value > 0) - (value < 0) for value in (a, b, c, d))
    turns = {(1, 0, 0, 1): 0, (0, 1, -1, 0): -90, (-1, 0, 0, -1): 180, (0, -1, 1, 0): 90, (0, 0, 0, 0): 0}
    return (width >> 16, height >> 16), turns.get(signs)


def _sample_entry(stsd: memoryview | None) -> tuple[str, tuple[int, int]]:
    """Format and largest picture size of the sample entries (the size means nothing for sound)."""
    if stsd is None or len(stsd) < 16:
        return "", (0, 0)
    codec, width, height = "", 0, 0
    for kind, body in _children(stsd[8:]):
        codec = codec or kind.decode("latin-1")
        if len(body) >= 28:
            wide, high = struct.unpack(">HH", body[24:28])
            width, height = max(width, wide), max(height, high)
    return codec, (width, height)
