"""Black and frozen stretches on hand-made grey frames, ten a second."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from vvb_resources.media.facts import PictureFacts, Span
from vvb_resources.media.stills import PictureMeter


def flat(value: int) -> NDArray[np.uint8]:
    return np.full((90, 160), value, dtype=np.uint8)


def dot(ground: int, at: int, value: int = 255) -> NDArray[np.uint8]:
    frame = flat(ground)
    frame[at % 90, at % 160] = value
    return frame


def measured(frames: list[NDArray[np.uint8]]) -> PictureFacts:
    meter = PictureMeter()
    for frame in frames:
        meter.add(frame)
    return meter.facts([Fraction(at, 10) for at in range(len(frames))], Fraction(len(frames), 10))


def test_black_to_the_end() -> None:
    facts = measured([dot(128, at) for at in range(10)] + [flat(0)] * 20)
    assert facts.black == (Span(start=1.0, end=3.0),)
    assert (facts.longest_black_s, facts.longest_frozen_s) == (2.0, 2.0)


def test_text_on_dark_is_not_black_and_dark_grey_is_not_black() -> None:
    assert measured([dot(0, 5)] * 30).longest_black_s == 0.0
    assert measured([flat(25)] * 30).longest_black_s == 0.0
    assert measured([flat(24)] * 30).longest_black_s == 3.0
    assert measured([dot(0, 5, value=12)] * 30).longest_black_s == 3.0
    assert measured([dot(0, 5, value=13)] * 30).longest_black_s == 0.0


def test_one_moving_pixel_is_not_frozen() -> None:
    assert measured([dot(128, at) for at in range(30)]).longest_frozen_s == 0.1


def test_a_change_of_three_levels_is_frozen_and_of_four_is_not() -> None:
    assert measured([flat(100 + 3 * (at % 2)) for at in range(30)]).longest_frozen_s == 3.0
    assert measured([flat(100 + 4 * (at % 2)) for at in range(30)]).longest_frozen_s == 0.1


def test_a_slow_fade_is_motion() -> None:
    # One level a frame: the stretch ends as soon as the fourth level from its first frame is reached.
    assert measured([flat(at) for at in range(100, 200)]).longest_frozen_s == pytest.approx(0.4)


def test_light_motion_and_scenes() -> None:
    facts = measured([flat(0)] * 5 + [flat(200)] * 5)
    assert facts.luma_mean == 100.0
    assert facts.luma_contrast == 0.0
    assert facts.scene_changes == 1
    assert facts.motion_share == pytest.approx(1 / 9, abs=1e-6)


def test_no_frames_is_an_error() -> None:
    with pytest.raises(ValueError, match="no frames"):
        PictureMeter().facts([], Fraction(0))
