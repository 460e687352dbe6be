"""Blinded media keep picture and sound, lose every trace, and come out the same each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.media.clips import make_clip
from vvb_resources.errors import MediaError
from vvb_resources.media.blinding import BlindedMedia, blind
from vvb_resources.media.frames import read_frames
from vvb_resources.media.sound import read_sound
from vvb_resources.store.digests import digest_file

TRACES = (b"Lavf", b"Lavc", b"x264", b"x265", b"mpeg4", b"Secret Agent", b"made by a model")
NAMED = [
    "-metadata",
    "title=Secret Agent",
    "-metadata",
    "comment=made by a model",
    "-metadata:s:v",
    "handler_name=Secret Agent",
]
HEVC = ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-threads", "1")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("named") / "agent-7.mp4", extra=NAMED)


def test_traces_go_and_content_stays(named: Path, tmp_path: Path) -> None:
    assert all(trace in named.read_bytes() for trace in (b"Lavf", b"Lavc", b"x264", b"Secret Agent"))
    media = blind(named, tmp_path)
    data = media.video.read_bytes()
    assert [trace for trace in TRACES if trace in data] == []
    assert media.video.name == "video.mp4"
    times = [0.0, 0.4, 0.9]
    for (_, before), (_, after) in zip(read_frames(named, times), read_frames(media.video, times), strict=True):
        assert np.array_equal(before, after)
    assert np.array_equal(read_sound(named, 48_000), read_sound(media.video, 48_000))
    assert (media.width, media.height, media.fps, media.duration_s, media.has_audio) == (64, 48, 30.0, 1.0, True)


def test_same_video_same_bytes_and_a_record(named: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = blind(named, tmp_path / "a"), blind(named, tmp_path / "b")
    assert first.digest == second.digest == digest_file(first.video)
    assert BlindedMedia.load(tmp_path / "a") == first
    assert str(tmp_path) not in (tmp_path / "a" / "media.json").read_text()
    with pytest.raises(MediaError, match="no blinded media"):
        BlindedMedia.load(tmp_path)


def test_hevc_loses_its_settings(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "h.mp4", codec=HEVC, sound=None, size="64x64")
    assert b"x265 (build" in source.read_bytes()
    (tmp_path / "out").mkdir()
    media = blind(source, tmp_path / "out")
    assert b"x265 (build" not in media.video.read_bytes()
    ((_, before),), ((_, after),) = read_frames(source, [0.5]), read_frames(media.video, [0.5])
    assert np.array_equal(before, after)
    assert media.has_audio is False


def test_a_codec_without_a_filter_is_encoded_anew(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "m.mp4", codec=("-c:v", "mpeg4", "-q:v", "2"), extra=NAMED)
    (tmp_path / "out").mkdir()
    media = blind(source, tmp_path / "out")
    data = media.video.read_bytes()
    assert [trace for trace in TRACES if trace in data] == []
    ((_, before),), ((_, after),) = read_frames(source, [0.5]), read_frames(media.video, [0.5])
    assert float(np.abs(before.astype(int) - after.astype(int)).mean()) < 5
