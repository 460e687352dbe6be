"""How many pictures a file stores, and whether its edit lists show all of them: what a decoder owes.

A decoder that drops pictures without a word (fragments whose clocks overlap) is found out by this count alone. Read
from the boxes (ISO/IEC 14496-12): sample tables, movie fragments, edit lists, media header.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from vvb_resources.media.boxes import children, find

Data = memoryview


@dataclass(frozen=True)
class Stored:
    """Samples of a track's table, its number (for fragments), and does the edit list show the whole of it."""

    track_id: int
    samples: int
    all_shown: bool


def stored_samples(moov: Data, trak: Data) -> Stored:
    """What `trak` of `moov` stores. Boxes that are absent or cut count as zero samples, all shown."""
    sizes = find(trak, b"mdia", b"minf", b"stbl", b"stsz") or find(trak, b"mdia", b"minf", b"stbl", b"stz2")
    return Stored(
        track_id=_number(find(trak, b"tkhd"), 12, 20),
        samples=_word(sizes, 8),
        all_shown=_all_shown(moov, trak),
    )


def fragment_samples(moof: Data) -> dict[int, int]:
    """Samples of each track in a movie fragment, by track number."""
    counts: dict[int, int] = {}
    for kind, traf in children(moof):
        if kind != b"traf":
            continue
        track = _word(find(traf, b"tfhd"), 4)
        runs = sum(_word(body, 4) for name, body in children(traf) if name == b"trun")
        counts[track] = counts.get(track, 0) + runs
    return counts


def _all_shown(moov: Data, trak: Data) -> bool:
    """No edit list, or edits as long as the media (0 in a fragmented file: to the end). Repeats and holes count as
    something else than the whole."""
    edits = find(trak, b"edts", b"elst")
    if edits is None or len(edits) < 8:
        return True
    wide = edits[0] == 1
    form, size = (">Qq", 20) if wide else (">Ii", 12)
    count = _word(edits, 4)
    if count * size > len(edits) - 8:
        return False
    entries = [struct.unpack_from(form, edits, 8 + place * size) for place in range(count)]
    shown = [length for length, start in entries if start >= 0]
    if len(shown) != 1:
        return False
    movie, media = find(moov, b"mvhd"), find(trak, b"mdia", b"mdhd")
    movie_scale, media_scale = _number(movie, 12, 20), _number(media, 12, 20)
    length = _length(media)
    if length == 0 or shown[0] == 0:
        return bool(shown[0] == 0)
    # A movie's clock is coarse (1/1000 s as a rule): two of its ticks are no trimming.
    return bool((shown[0] + 2) * media_scale >= length * movie_scale)


def _length(mdhd: Data | None) -> int:
    if mdhd is None or len(mdhd) < 32:
        return _word(mdhd, 16)
    return int(struct.unpack_from(">Q", mdhd, 24)[0]) if mdhd[0] == 1 else _word(mdhd, 16)


def _number(box: Data | None, narrow: int, wide: int) -> int:
    """A 32-bit field whose place depends on the box's version."""
    return _word(box, wide if box is not None and len(box) and box[0] == 1 else narrow)


def _word(box: Data | None, at: int) -> int:
    return int(struct.unpack_from(">I", box, at)[0]) if box is not None and len(box) >= at + 4 else 0
