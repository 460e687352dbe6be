"""Decoded sound put where it belongs on the presentation clock: silence before a late start and in holes.

ffmpeg's resampler could fill holes itself, but it fills whatever a damaged clock asks for: a few hundred bytes made it
take 1.6 GB and an hour of silence. It also starts anew when a sound changes its parameters. Here a hole of more than
ten minutes is told and not filled, and holes cost no disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

NEAR_S = Fraction(1, 20)  # resamplers round and delay by less
MOST_S = 600
BLOCK = 1 << 20


@dataclass(frozen=True)
class Piece:
    """Samples from `first` on, `count` of them, that belong at sample `at` of the presentation."""

    at: int
    first: int
    count: int


def read_pieces(stats: Path, rate: int) -> list[Piece]:
    """Pieces without a hole, from lines of `time base_numerator/denominator first count` (frames in order)."""
    pieces: list[Piece] = []
    for line in stats.read_text().splitlines() if stats.exists() else []:
        try:
            ticks, base, first, count = line.split()
            at, start, length = round(int(ticks) * Fraction(base) * rate), int(first), int(count)
        except (ValueError, ZeroDivisionError):  # a frame without a time follows the one before it
            continue
        last = pieces[-1] if pieces else None
        if last is not None and abs(at - (last.at + start - last.first)) <= NEAR_S * rate:
            pieces[-1] = Piece(last.at, last.first, start + length - last.first)
        else:
            pieces.append(Piece(at, start, length))
    return pieces


def place(pcm: Path, pieces: list[Piece], rate: int, frame_bytes: int) -> tuple[str, ...]:
    """Move the pieces of the file `pcm` to where they belong; returns what is wrong with their clock.

    What lies before second 0 is cut off. A piece that belongs before the end of the one before it follows that one.
    """
    if not pieces or (len(pieces) == 1 and pieces[0].at == 0):
        return ()
    faults: list[str] = []
    placed = pcm.with_suffix(".placed")
    with pcm.open("rb") as source, placed.open("wb") as target:
        end = 0
        for piece in pieces:
            skipped = min(piece.count, max(0, -piece.at))
            at = piece.at + skipped
            if at - end > MOST_S * rate:
                faults.append(f"the sound's clock jumps by {(at - end) / rate:.0f} s")
                at = end
            at = max(at, end)
            source.seek((piece.first + skipped) * frame_bytes)
            target.seek(at * frame_bytes)
            end = at + _copy(source, target, (piece.count - skipped) * frame_bytes) // frame_bytes
    placed.replace(pcm)
    return tuple(sorted(set(faults))[:3])


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> int:
    """Copy up to `size` bytes; returns how many there were."""
    copied = 0
    while copied < size and (data := source.read(min(BLOCK, size - copied))):
        target.write(data)
        copied += len(data)
    return copied
