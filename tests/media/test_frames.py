"""Sampling instants, and the picture shown at an instant."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.media.clips import make_clip, remux, set_matrix
from vvb_resources.errors import MediaError
from vvb_resources.media.frames import read_frames, sample_times

# Grey level 20 + 8 * second: the picture says what time it is (luma is in studio range, hence not the plain level).
CLOCK = "nullsrc=size={size}:rate={rate}:duration={seconds},format=gray,geq=lum='20+40*floor(T)'"


def test_a_grid_starts_at_zero_and_ends_before_the_end() -> None:
    assert sample_times(2.0, 2) == (0.0, 0.5, 1.0, 1.5)
    assert sample_times(2.01, 2)[-1] == 2.0
    assert sample_times(0.2, 1) == (0.0,)


@pytest.mark.parametrize(("coarse", "fine"), [(1, 2), (0.5, 4), (2, 10), (3, 6)])
def test_a_coarser_grid_is_part_of_a_finer_one(coarse: float, fine: float) -> None:
    assert set(sample_times(13.7, coarse)) <= set(sample_times(13.7, fine))


def test_bounds_keep_the_grid() -> None:
    assert sample_times(3.0, 1, min_frames=5) == (0.0, 0.5, 1.0, 1.5, 2.0, 2.5)
    assert sample_times(10.0, 2, max_frames=7) == (0.0, 1.5, 3.0, 4.5, 6.0, 7.5, 9.0)
    with pytest.raises(ValueError, match="bad sampling"):
        sample_times(10, 0)
    with pytest.raises(ValueError, match="bad sampling"):
        sample_times(10, 1, min_frames=5, max_frames=4)


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clock") / "clock.mp4", picture=CLOCK, sound=None, rate="10", seconds="4")


def test_the_picture_at_an_instant_is_the_one_on_screen(clock: Path) -> None:
    times = [0.0, 0.95, 1.0, 1.04, 2.5, 3.99, 9.0]
    shown = list(read_frames(clock, times))
    assert [time for time, _ in shown] == times
    levels = [float(picture.mean()) for _, picture in shown]
    assert levels[0] == pytest.approx(levels[1], abs=2)
    assert levels[2] == pytest.approx(levels[3], abs=2)
    assert levels[5] == pytest.approx(levels[6], abs=2)
    changes = [later - earlier for earlier, later in pairwise([levels[at] for at in (0, 2, 4, 5)])]
    assert all(change > 25 for change in changes)


def test_size_and_type(clock: Path) -> None:
    ((_, whole),) = read_frames(clock, [0.0])
    ((_, small),) = read_frames(clock, [0.0], max_side=32)
    assert (whole.shape, whole.dtype, small.shape) == ((48, 64, 3), np.uint8, (24, 32, 3))


def test_turned_and_stretched_pictures_are_shown_as_a_viewer_sees_them(tmp_path: Path) -> None:
    # Left half white, right half black; a quarter turn clockwise puts white on top.
    source = "color=black:size={size}:rate={rate}:duration={seconds},drawbox=x=0:y=0:w=32:h=48:color=white:t=fill"
    plain = make_clip(tmp_path / "plain.mp4", picture=source, sound=None)
    turned = set_matrix(plain, tmp_path / "turned.mp4", (0, 1, -1, 0))
    ((_, picture),) = read_frames(turned, [0.5])
    assert picture.shape == (64, 48, 3)
    assert picture[:30].mean() > 240
    assert picture[34:].mean() < 15
    wide = make_clip(tmp_path / "wide.mp4", picture=source + ",setsar=2", sound=None)
    ((_, picture),) = read_frames(wide, [0.5])
    assert picture.shape == (48, 128, 3)


def test_no_picture_is_an_error_and_times_ascend(tmp_path: Path, clock: Path) -> None:
    silent = make_clip(tmp_path / "a.mp4", picture=None)
    with pytest.raises(MediaError, match="no picture"):
        list(read_frames(silent, [0.0]))
    with pytest.raises(ValueError, match="ascend"):
        list(read_frames(clock, [1.0, 0.0]))
    assert list(read_frames(clock, [])) == []


def test_cover_art_is_not_the_picture(clip: Path, tmp_path: Path) -> None:
    cover = tmp_path / "cover.png"
    make = "color=red:size=16x16:duration=0.1:rate=10"
    remux(clip, tmp_path / "unused.mp4")
    from vvb_resources.media.tools import run_ffmpeg

    run_ffmpeg(["-v", "error", "-f", "lavfi", "-i", make, "-frames:v", "1", f"file:{cover}"], work=tmp_path)
    both = ["-i", f"file:{cover}", "-map", "1:v", "-map", "0", "-disposition:v:0", "attached_pic"]
    with_cover = remux(clip, tmp_path / "with_cover.mp4", *both)
    ((_, picture),) = read_frames(with_cover, [0.0])
    assert picture.shape == (48, 64, 3)
