"""Sound on the presentation clock: 1000 samples a second here, two bytes each, values that say where they came from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vvb_resources.media.placing import Piece, place, read_pieces


def placed(tmp_path: Path, pieces: list[Piece], samples: int = 300) -> tuple[list[int], tuple[str, ...]]:
    path = tmp_path / "a.pcm"
    np.arange(1, samples + 1, dtype="<i2").tofile(path)
    faults = place(path, pieces, 1000, 2)
    return np.fromfile(path, dtype="<i2").tolist(), faults


def test_frames_in_a_row_are_one_piece_and_holes_part_them(tmp_path: Path) -> None:
    stats = tmp_path / "s.txt"
    stats.write_text("0 1/1000 0 100\n101 1/1000 100 100\n500 1/1000 200 100\nnonsense\n")
    assert read_pieces(stats, 1000) == [Piece(0, 0, 200), Piece(500, 200, 100)]
    assert read_pieces(tmp_path / "absent.txt", 1000) == []


def test_a_late_start_and_a_hole_are_silence(tmp_path: Path) -> None:
    sound, faults = placed(tmp_path, [Piece(50, 0, 200), Piece(400, 200, 100)])
    assert sound == [0] * 50 + list(range(1, 201)) + [0] * 150 + list(range(201, 301))
    assert faults == ()


def test_what_lies_before_zero_is_cut_and_an_overlap_follows(tmp_path: Path) -> None:
    sound, _ = placed(tmp_path, [Piece(-30, 0, 200), Piece(100, 200, 100)])
    assert sound == [*range(31, 201), *range(201, 301)]


def test_a_jump_of_hours_is_told_and_not_filled(tmp_path: Path) -> None:
    sound, faults = placed(tmp_path, [Piece(0, 0, 200), Piece(22_369_000, 200, 100)])
    assert sound == list(range(1, 301))
    assert faults == ("the sound's clock jumps by 22369 s",)


@pytest.mark.parametrize("pieces", [[], [Piece(0, 0, 300)]])
def test_sound_in_its_place_is_left_alone(pieces: list[Piece], tmp_path: Path) -> None:
    assert placed(tmp_path, pieces) == (list(range(1, 301)), ())
