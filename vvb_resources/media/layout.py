"""What an MP4's header says: brands, and of each track its handler, size, matrix and number of samples.

Only what L1 needs, read with our own bounded reader, so that it can be held against what a decoder makes of the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import BinaryIO

from vvb_resources.media.boxes import Box, children, find, top_boxes
from vvb_resources.media.samples import fragment_samples, stored_samples

MAX_MOOV = 256 << 20


@dataclass(frozen=True)
class Track:
    """A track of `moov`. `width`, `height`: the larger of track header and sample entry; `rotation` counter-clockwise
    degrees of the header matrix (None: not a quarter turn); `samples` stored in table and fragments; `all_shown`: no
    edit list leaves any of them out."""

    handler: str
    codec: str
    width: int
    height: int
    rotation: int | None
    samples: int
    all_shown: bool = True


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
    boxes, trailing = top_boxes(file, size)
    major, brands = _brands(file, boxes)
    return Layout(tuple(boxes), major, brands, trailing, tuple(_tracks(file, boxes)))


def _tracks(file: BinaryIO, boxes: list[Box]) -> list[Track]:
    """Tracks of the header, with what the fragments add to them."""
    found: list[tuple[Track, int]] = []
    added: dict[int, int] = {}
    for box in boxes:
        if box.kind not in (b"moov", b"moof") or not box.whole or box.end - box.start > MAX_MOOV:
            continue
        file.seek(box.start)
        body = memoryview(file.read(box.end - box.start))
        if box.kind == b"moof":
            for track_id, samples in fragment_samples(body).items():
                added[track_id] = added.get(track_id, 0) + samples
            continue
        for trak in (part for kind, part in children(body) if kind == b"trak"):
            stored = stored_samples(body, trak)
            found.append((_track(trak, stored.samples, stored.all_shown), stored.track_id))
    return [replace(track, samples=track.samples + added.get(track_id, 0)) for track, track_id in found]


def _brands(file: BinaryIO, boxes: list[Box]) -> tuple[str, tuple[str, ...]]:
    for box in boxes:
        if box.kind == b"ftyp":
            file.seek(box.start)
            body = file.read(min(box.end - box.start, 1024))
            words = [body[at : at + 4].decode("latin-1") for at in range(0, len(body) - 3, 4)]
            return (words[0] if words else ""), tuple(words[2:])
    return "", ()


def _track(trak: memoryview, samples: int, all_shown: bool) -> Track:
    header, rotation = _track_header(find(trak, b"tkhd"))
    handler = find(trak, b"mdia", b"hdlr")
    table = find(trak, b"mdia", b"minf", b"stbl") or memoryview(b"")
    codec, entry = _sample_entry(find(table, b"stsd"))
    return Track(
        handler=bytes(handler[8:12]).decode("latin-1") if handler is not None and len(handler) >= 12 else "",
        codec=codec,
        width=max(header[0], entry[0]),
        height=max(header[1], entry[1]),
        rotation=rotation,
        samples=samples,
        all_shown=all_shown,
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
    for kind, body in children(stsd[8:]):
        codec = codec or kind.decode("latin-1")
        if len(body) >= 28:
            wide, high = struct.unpack(">HH", body[24:28])
            width, height = max(width, wide), max(height, high)
    return codec, (width, height)
