"""What the one decode leaves besides facts: the same pictures as `read_frames` gives, a proxy, a contact sheet."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.media.clips import make_clip, set_matrix
from tests.media.test_frames import CLOCK
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.facts import MediaFacts
from vvb_resources.media.frames import read_frames, sample_times
from vvb_resources.media.measure import measure
from vvb_resources.media.outputs import FRAMES, PROXY, Outputs
from vvb_resources.media.probe import probe


def measured(clip: Path, folder: Path, **wishes: object) -> MediaFacts:
    folder.mkdir(exist_ok=True)
    return measure(find_delivery(clip), folder, outputs=Outputs(folder, **wishes))  # type: ignore[arg-type]


def pictures(folder: Path) -> list[np.ndarray]:
    return [np.asarray(Image.open(path).convert("RGB")) for path in sorted((folder / FRAMES).glob("*.jpg"))]


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds, each of another grey."""
    return make_clip(tmp_path_factory.mktemp("clock") / "clock.mp4", picture=CLOCK, rate="10", seconds="3")


def test_facts_are_the_same_with_and_without(clock: Path, tmp_path: Path) -> None:
    plain = measure(find_delivery(clock), tmp_path)
    assert measured(clock, tmp_path / "out", sheet=True, frames_fps=2, proxy_fps=4) == plain


@pytest.mark.parametrize(("fps", "most"), [(2.0, 600), (1.0, 600), (5.0, 4), (10.0, 600)])
def test_jpegs_are_what_is_on_screen_at_the_instants_of_the_grid(
    fps: float, most: int, clock: Path, tmp_path: Path
) -> None:
    measured(clock, tmp_path / "out", frames_fps=fps, max_frames=most)
    times = sample_times(3.0, fps, 1, most)
    shown = pictures(tmp_path / "out")
    assert len(shown) == len(times)
    for (_, wanted), found in zip(read_frames(clock, times), shown, strict=True):
        assert found.shape == wanted.shape
        assert float(found.mean()) == pytest.approx(float(wanted.mean()), abs=2)


def test_jpegs_and_proxy_are_turned_upright_and_carry_no_trace(tmp_path: Path) -> None:
    # Left half white; a quarter turn clockwise puts white on top.
    source = "color=black:size={size}:rate={rate}:duration={seconds},drawbox=x=0:y=0:w=32:h=48:color=white:t=fill"
    clip = make_clip(tmp_path / "p.mp4", picture=source, extra=["-metadata", "title=by a maker"])
    out = tmp_path / "out"
    measured(set_matrix(clip, tmp_path / "t.mp4", (0, 1, -1, 0)), out, frames_fps=1, proxy_fps=4)
    (picture,) = pictures(out)
    assert picture.shape == (64, 48, 3)
    assert picture[:30].mean() > 240
    assert picture[34:].mean() < 15
    data = (out / PROXY).read_bytes() + next((out / FRAMES).iterdir()).read_bytes()
    assert not any(trace in data for trace in (b"Lav", b"x264", b"by a maker"))


def test_the_proxy_has_its_rate_its_size_and_the_sound(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "wide.mp4", size="320x180", seconds="2")
    measured(clip, tmp_path / "out", proxy_fps=4, proxy_side=160)
    streams = probe(tmp_path / "out" / PROXY)
    assert streams.video is not None
    assert (streams.video.width, streams.video.height, streams.video.rate, streams.video.header_frames) == (
        *(160, 90, 4, 8),
    )
    assert [stream.codec for stream in streams.audio] == ["aac"]
    assert streams.video.duration_s == pytest.approx(2.0, abs=0.01)


def test_the_contact_sheet_shows_twelve_parts_in_order(clock: Path, tmp_path: Path) -> None:
    measured(clock, tmp_path / "out", sheet=True)
    sheet = np.asarray(Image.open(io.BytesIO((tmp_path / "out" / "contact.jpg").read_bytes())).convert("L"))
    # Four by three pictures of 64x48; the label covers the upper left corner, so the lower right is read.
    levels = [float(sheet[48 * row + 40, 64 * column + 55]) for row in range(3) for column in range(4)]
    seconds = [level for place, level in enumerate(levels) if place % 4 == 0]
    assert seconds[0] + 25 < seconds[1] < seconds[2] - 25
    assert all(abs(levels[place] - seconds[place // 4]) < 4 for place in range(12))


def test_a_damaged_file_is_damaged_with_outputs_too_and_has_a_sheet_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = make_clip(tmp_path / "w.mp4", seconds="2", extra=["-movflags", "+faststart"]).read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(whole[: len(whole) * 7 // 10])
    plain = measure(find_delivery(path), tmp_path)
    assert not plain.decode.ok
    assert measured(path, tmp_path / "out", sheet=True, frames_fps=1, proxy_fps=4) == plain
    assert (tmp_path / "out" / "contact.jpg").is_file()
