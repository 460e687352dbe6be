"""Many small files read in order: from memory one after another, from a slow disk several at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from vvb_resources.store import many


@pytest.mark.parametrize("slow_from", [0.0, 3600.0], ids=["every disk is slow", "no disk is slow"])
@pytest.mark.parametrize("count", [0, 1, many.PROBE, 3 * many.PROBE + 7])
def test_contents_come_in_order_and_a_missing_file_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_from: float, count: int
) -> None:
    monkeypatch.setattr(many, "SLOW", slow_from)
    monkeypatch.setattr(many, "AHEAD", 2 * many.PROBE)  # so that it is looked at again
    paths = [tmp_path / str(number) for number in range(count)]
    for number, path in enumerate(paths):
        if number % 10 != 3:
            path.write_bytes(b"x" * number)
    expected = [None if number % 10 == 3 else b"x" * number for number in range(count)]
    assert list(many.read_files([str(path) for path in paths])) == expected


@pytest.mark.parametrize("slow_from", [0.0, 3600.0])
def test_what_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_from: float) -> None:
    monkeypatch.setattr(many, "SLOW", slow_from)
    paths = [tmp_path / str(number) for number in range(2 * many.PROBE)]
    for path in paths[:-1]:
        path.write_bytes(b"x")
    paths[-1].mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        list(many.read_files([str(path) for path in paths]))
    assert caught.value.filename == str(paths[-1])
