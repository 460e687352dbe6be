"""Frame rates from time stamps, by hand-made stamps."""

from __future__ import annotations

from fractions import Fraction

import pytest

from vvb_resources.media.timing import read_timing

TICK = Fraction(1, 15360)


def stamps(deltas: list[int], tick: Fraction = TICK) -> list[Fraction]:
    return [sum(deltas[:at]) * tick for at in range(len(deltas) + 1)]


def test_even_frames_are_exact() -> None:
    timing = read_timing(stamps([512] * 149), TICK, Fraction(30))
    assert (timing.frames, timing.constant, timing.fps, timing.end) == (150, True, Fraction(30), Fraction(5))


def test_30_01_is_30_01() -> None:
    tick = Fraction(1, 3001)
    assert read_timing(stamps([100] * 9, tick), tick, None).fps == Fraction(3001, 100)


def test_uneven_frames_of_the_same_average_are_not_constant() -> None:
    timing = read_timing(stamps([712, 312, 512] * 49), TICK, Fraction(30))
    assert (timing.constant, timing.fps) == (False, Fraction(30))


def test_one_frame_left_out_is_not_constant() -> None:
    assert read_timing(stamps([512] * 10 + [1024] + [512] * 10), TICK, Fraction(30)).constant is False


@pytest.mark.parametrize("rate", [Fraction(30), Fraction(60), Fraction(24), Fraction(30_000, 1001)])
def test_milliseconds_round_but_do_not_lie(rate: Fraction) -> None:
    tick = Fraction(1, 1000)
    rounded = [round(at / rate / tick) * tick for at in range(200)]
    timing = read_timing(rounded, tick, None)
    assert (timing.constant, timing.fps) == (True, rate)


def test_a_coarse_clock_shows_its_jitter() -> None:
    tick = Fraction(1, 30)
    assert read_timing(stamps([1, 2, 1, 2], tick), tick, Fraction(20)).constant is False


def test_time_that_runs_back_is_not_constant() -> None:
    assert read_timing(stamps([512, -512, 512]), TICK, Fraction(30)).constant is False


def test_a_lone_frame_has_no_rate() -> None:
    timing = read_timing([Fraction(0)], TICK, Fraction(25))
    assert (timing.constant, timing.fps, timing.end) == (None, None, Fraction(1, 25))
    with pytest.raises(ValueError, match="no frames"):
        read_timing([], TICK, None)
