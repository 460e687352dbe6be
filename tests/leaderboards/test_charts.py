"""Pictures beside the tables: labels do not collide, colours say what the numbers say, same table same bytes."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.scores.sets import hand_made, to_results
from vvb_assets.leaderboards.canvas import MOST_ROWS, WIDTH_PX, spread_apart
from vvb_assets.leaderboards.charts import frontier_picture, names_of, win_picture
from vvb_assets.leaderboards.pictures import DRAWN, draw, ranking_picture
from vvb_assets.leaderboards.score import score_results

BOARD = pl.DataFrame({"system": ["a", "b"], "name": ["First", None]})


def pixels(png: bytes) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


@settings(deadline=None)
@given(st.lists(st.floats(0, 5), max_size=12), st.floats(0.01, 1))
def test_labels_stand_apart_in_their_order(places: list[float], gap: float) -> None:
    moved = spread_apart(places, gap)
    order = sorted(range(len(places)), key=lambda i: (places[i], i))
    steps = [moved[b] - moved[a] for a, b in pairwise(order)]
    assert all(step >= gap - 1e-9 for step in steps)
    assert sum(moved) == pytest.approx(sum(places), abs=1e-6)  # no drift up or down


def test_labels_with_room_stay() -> None:
    assert spread_apart([3.0, 1.0, 2.0], 0.5) == [3.0, 1.0, 2.0]
    assert spread_apart([1.0, 1.0], 0.5) == [0.75, 1.25]


def test_each_picture_is_wide_enough_and_the_same_twice() -> None:
    made = score_results(to_results(hand_made()).validate(), resamples=100)
    for name in DRAWN:
        first, second = draw(name, made), draw(name, made)
        assert first == second
        assert pixels(first[name]).shape[1] == WIDTH_PX
    assert draw("l1_table", made) == {}


def test_the_winner_is_blue_and_the_loser_red() -> None:
    """Two systems: the cell right of the diagonal is the winner's, the one below it the loser's."""
    pairs = pl.DataFrame({"system_a": ["a"], "system_b": ["b"], "p_greater": [0.95]})
    image = pixels(win_picture(pairs, BOARD))
    height, width = image.shape[:2]
    plot = image[height - 24 - 2 * 58 :, int(0.22 * width) :]
    winner, loser = plot[10, plot.shape[1] * 2 // 3], plot[58 + 10, 20]
    assert winner[2] > winner[0]
    assert loser[0] > loser[2]


def test_intervals_are_drawn_to_scale() -> None:
    """The whisker's dark pixels reach from low to high. The score axis, 0 to 5.6, has 3.4 / 4.4 of the plots' width."""
    board = score_results(to_results(hand_made()).validate(), resamples=100)["leaderboard"].head(1)
    bounds = pl.DataFrame({"system": ["up"], "low": [1.0], "high": [3.0]})
    plain, marked = (pixels(ranking_picture(board, uncertainty=u)) for u in (None, bounds))
    changed = np.flatnonzero((np.abs(plain - marked).sum(axis=2) > 60)[75:130, : WIDTH_PX * 6 // 10].any(axis=0))
    plots = (0.95 - 0.22) * WIDTH_PX / 1.04  # without the gap between the two
    assert changed.max() - changed.min() == pytest.approx(2 / 5.6 * plots * 3.4 / 4.4, rel=0.03)


def test_a_cost_of_nothing_is_drawn() -> None:
    """No logarithm of 0: the axis is linear, and the picture is there."""
    cost = pl.DataFrame(
        {"system": ["a", "b"], "mean_usd": [0.0, 0.0], "overall_nv0": [3.0, 4.0], "pareto": [False, True]}
    )
    blue = pixels(frontier_picture(cost, BOARD))
    assert (np.abs(blue - [0x1F, 0x5F, 0xA8]).sum(axis=2) < 12).sum() > 50


def test_names_are_cut_and_systems_limited() -> None:
    many = pl.DataFrame({"system": [f"s{i}" for i in range(60)], "name": ["a very long name of a system"] * 60})
    names = names_of(many)
    assert len(names) == MOST_ROWS
    assert names["s0"] == "a very long name of…"
    assert names_of(BOARD) == {"a": "First", "b": "b"}
