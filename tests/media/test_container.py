"""The light container check: refuses what is no MP4 without decoding or following anything."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from tests.media.clips import MOVING, make_clip, remux
from vvb_resources.media.container import check_container
from vvb_resources.media.layout import read_layout

NOT_MP4 = {
    "html": b"<html><body>503</body></html>",
    "hls": b"#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:9/x.ts\n",
    "ffconcat": b"ffconcat version 1.0\nfile other.mp4\n",
    "noise": bytes(range(256)) * 8,
    "one byte": b"\0",
}


def test_a_clip_is_sound(clip: Path) -> None:
    check = check_container(clip)
    assert (check.ok, check.fault, check.size_bytes) == (True, None, clip.stat().st_size)
    assert check.layout is not None
    assert check.layout.major_brand == "isom"
    pictures = [track for track in check.layout.tracks if track.handler == "vide"]
    assert [(t.codec, t.width, t.height, t.samples, t.rotation) for t in pictures] == [("avc1", 64, 48, 30, 0)]


@pytest.mark.parametrize("name", NOT_MP4)
def test_other_content_under_the_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    path.write_bytes(NOT_MP4[name])
    assert check_container(path).fault == "not_mp4"


def test_matroska_under_the_name(clip: Path, tmp_path: Path) -> None:
    assert check_container(remux(clip, tmp_path / "video.mp4", "-f", "matroska")).fault == "not_mp4"


def test_missing_empty_too_large(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    assert check_container(None).fault == "missing"
    assert check_container(tmp_path / "absent.mp4").fault == "missing"
    assert check_container(tmp_path / "empty.mp4").fault == "empty"
    assert check_container(clip, max_bytes=clip.stat().st_size - 1).fault == "too_large"
    assert check_container(clip, max_bytes=clip.stat().st_size).ok


def test_links_pipes_and_folders_are_not_opened(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "link.mp4").symlink_to(clip)
    os.mkfifo(tmp_path / "fifo.mp4")
    (tmp_path / "folder.mp4").mkdir()
    for name in ("link.mp4", "fifo.mp4", "folder.mp4"):
        assert check_container(tmp_path / name).fault == "not_regular", name


def test_cut_before_the_index_and_cut_after_it(clip: Path, tmp_path: Path) -> None:
    data = clip.read_bytes()
    early = tmp_path / "early.mp4"  # ffmpeg writes moov last: half of the file has none
    early.write_bytes(data[: len(data) // 2])
    assert check_container(early).fault == "no_moov"
    fast = remux(clip, tmp_path / "fast.mp4", "-movflags", "+faststart").read_bytes()
    late = tmp_path / "late.mp4"
    late.write_bytes(fast[:-100])
    check = check_container(late)
    assert check.ok
    assert check.layout is not None
    assert check.layout.truncated


def test_no_picture_track(tmp_path: Path) -> None:
    assert check_container(make_clip(tmp_path / "a.mp4", picture=None)).fault == "no_video"


def test_unknown_boxes_are_skipped_and_stray_bytes_counted(clip: Path, tmp_path: Path) -> None:
    box = struct.pack(">I4s", 12, b"vvb1") + b"abcd"
    path = tmp_path / "more.mp4"
    path.write_bytes(box + clip.read_bytes() + b"\0" * 37)
    check = check_container(path)
    assert check.ok
    assert check.layout is not None
    assert check.layout.trailing == 37


def test_every_cut_and_every_mutated_header_is_told_without_an_exception(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "tiny.mp4", picture=MOVING, size="16x16", rate="5", seconds="0.4", sound=None)
    data = clip.read_bytes()
    path = tmp_path / "mutant.mp4"
    whole = 0
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at])
        whole += check_container(path).ok
        path.write_bytes(data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :])
        with path.open("rb") as file:
            layout = read_layout(file, path.stat().st_size)
        assert all(box.start <= box.end <= path.stat().st_size for box in layout.boxes)
    assert whole == 0  # moov is last: no proper prefix of the file is whole
