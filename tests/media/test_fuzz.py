"""Three hundred damaged files: no exception, no hang, nothing left behind, and no pass for what is damaged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.media.fuzzing import children, damaged, full_decode_finds_damage, fuzz
from vvb_resources.media.container import check_container

FILES = 300
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_files(part: int, tmp_path: Path) -> None:
    numbers = range(part * FILES // PARTS, (part + 1) * FILES // PARTS)
    tally = fuzz(numbers, tmp_path)
    assert tally.faults == []
    assert sum(tally.outcomes.values()) == FILES // PARTS
    # The files do what they are for: some are stopped by the guard, some by the decoder, some are harmless.
    assert all(tally.outcomes[kind] for kind in ("no_moov", "damaged", "decodes")), tally.outcomes
    assert tally.late_mib - tally.early_mib < 40


def test_a_number_is_always_the_same_file() -> None:
    assert [damaged(number) for number in range(20)] == [damaged(number) for number in range(20)]
    assert len({damaged(number) for number in range(20)}) == 20


def test_the_full_decode_sees_damage_and_its_absence(clip: Path, tmp_path: Path) -> None:
    assert full_decode_finds_damage(clip, tmp_path) == ""
    data = bytearray(clip.read_bytes())
    middle = data.index(b"mdat") + 2_000
    data[middle : middle + 600] = b"\xff" * 600
    path = tmp_path / "noise.mp4"
    path.write_bytes(data)
    assert check_container(path).ok
    assert full_decode_finds_damage(path, tmp_path) != ""


def test_a_process_left_behind_would_be_seen() -> None:
    before = children()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in set(children()) - set(before)
        child.kill()
