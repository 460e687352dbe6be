"""The newest finished video is kept while an agent works on, and comes back only when a stopped run has none."""

from __future__ import annotations

import io
import os
import struct
import time
from pathlib import Path

import pytest

from tests.sandbox.conftest import RunCode
from vvb_resources.sandbox.keeping import Keeper, complete


def box(kind: bytes, body: bytes = b"") -> bytes:
    """A box of ISO/IEC 14496-12: 32-bit size, kind, content."""
    return struct.pack(">I4s", 8 + len(body), kind) + body


WHOLE = box(b"ftyp", b"isom") + box(b"moov", b"x" * 50) + box(b"mdat", b"y" * 500)
LARGE = box(b"ftyp") + box(b"moov") + struct.pack(">I4sQ", 1, b"mdat", 16 + 7) + b"z" * 7  # a 64-bit size


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        (WHOLE, True),
        (LARGE, True),
        (WHOLE + box(b"free"), True),
        (WHOLE[:-1], False),
        (WHOLE + b"\0\0\0", False),
        (box(b"ftyp") + box(b"mdat", b"y"), False),
        (box(b"ftyp") + box(b"moov") + struct.pack(">I4s", 0, b"mdat") + b"y", False),  # "to the end": never finished
        (struct.pack(">I4s", 4, b"ftyp") * 9, False),  # shorter than its own head
        (b"", False),
    ],
)
def test_complete_is_when_the_boxes_fill_the_file(tmp_path: Path, content: bytes, verdict: bool) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    with path.open("rb") as handle:
        assert complete(handle) is verdict


def keeper_of(root: Path, limit: int = 1 << 20) -> Keeper:
    (root / "delivery").mkdir()
    return Keeper(str(root / "delivery"), str(root / "kept"), limit)


def looks(keeper: Keeper, times: int = 6) -> None:
    for _ in range(times):
        keeper.look()


def test_a_video_that_was_overwritten_comes_back(tmp_path: Path) -> None:
    keeper, video = keeper_of(tmp_path), tmp_path / "delivery" / "video.mp4"
    video.write_bytes(WHOLE)
    looks(keeper)
    video.write_bytes(WHOLE[:100])
    looks(keeper)
    kept = keeper.restore()
    assert kept is not None
    assert (kept["name"], kept["bytes"], kept["cut_bytes"]) == ("video.mp4", len(WHOLE), 100)
    assert abs(kept["saved_at"] - time.time()) < 60
    assert video.read_bytes() == WHOLE
    assert [path.name for path in (tmp_path / "delivery").iterdir()] == ["video.mp4"]


def test_the_newest_is_kept(tmp_path: Path) -> None:
    keeper, video = keeper_of(tmp_path), tmp_path / "delivery" / "video.mp4"
    for content in (WHOLE, LARGE):
        video.write_bytes(content)
        looks(keeper)
    video.unlink()
    kept = keeper.restore()
    assert kept is not None
    assert (kept["bytes"], kept["cut_bytes"]) == (len(LARGE), None)
    assert video.read_bytes() == LARGE


def test_nothing_is_put_back_beside_a_complete_video(tmp_path: Path) -> None:
    keeper, video = keeper_of(tmp_path), tmp_path / "delivery" / "video.mp4"
    video.write_bytes(WHOLE)
    looks(keeper)
    video.rename(tmp_path / "delivery" / "renamed.mp4")
    assert keeper.restore() is None
    assert not video.exists()


def test_what_still_changes_is_not_kept(tmp_path: Path) -> None:
    keeper, video = keeper_of(tmp_path), tmp_path / "delivery" / "video.mp4"
    for length in range(6):
        video.write_bytes(WHOLE + box(b"free", b"." * length))
        keeper.look()
    video.unlink()
    assert keeper.restore() is None


def test_a_file_that_changes_under_the_copy_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vvb_resources.sandbox.keeping.SLICE", 64)
    keeper, video = keeper_of(tmp_path), tmp_path / "delivery" / "video.mp4"
    video.write_bytes(WHOLE)
    looks(keeper, 5)  # the copy is under way
    with video.open("r+b") as handle:
        handle.seek(300)
        handle.write(b"!")
    os.utime(video, ns=(1, 1))
    looks(keeper, 40)
    video.unlink()
    kept = keeper.restore()
    # The changed file is at rest too by now, and complete: that one is kept, never a mixture of both.
    assert kept is not None
    assert video.read_bytes() == WHOLE[:300] + b"!" + WHOLE[301:]


def test_links_and_large_files_are_not_kept(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path, limit=len(WHOLE) - 1)
    (tmp_path / "other.mp4").write_bytes(LARGE)
    (tmp_path / "delivery" / "link.mp4").symlink_to(tmp_path / "other.mp4")
    (tmp_path / "delivery" / "big.mp4").write_bytes(WHOLE)
    os.mkfifo(tmp_path / "delivery" / "pipe.mp4")
    looks(keeper)
    assert keeper.kept is None
    assert keeper.restore() is None


def test_a_reader_of_plain_bytes_is_enough() -> None:
    """`complete` uses the size of the descriptor: an object without one is no file of an agent's."""
    with pytest.raises(io.UnsupportedOperation):
        complete(io.BytesIO(WHOLE))


def test_local_agents_keep_their_finished_video_too(run: RunCode) -> None:
    code = f"""
import os, time
whole = bytes.fromhex({WHOLE.hex()!r})
open("delivery/video.mp4", "wb").write(whole)
time.sleep(1.5)
f = open("delivery/video.mp4", "wb")
f.write(whole[:99]); f.flush()
time.sleep(60)
"""
    outcome, place = run(code, seconds=3)
    assert outcome.ended == "timed_out"
    assert (place.delivery / "video.mp4").read_bytes() == WHOLE
    assert outcome.kept is not None
    assert outcome.kept.cut_bytes == 99
