"""The bootstrap: its weights, its intervals against scipy's, and P(A > B) by counting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vvb_assets.scores import bootstrap
from vvb_assets.scores.bootstrap import interval, rank_interval, resampled_means, share_greater, weights


def everything(values: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.ones(values.shape, dtype=np.bool_)


def test_weights_are_draws_of_whole_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each resample draws as many units as there are; neither the size of a chunk nor the way changes the draws."""
    whole = np.concatenate(list(weights(7, 50, seed=3)))
    assert whole.shape == (50, 7)
    assert (whole.sum(axis=1) == 7).all()
    monkeypatch.setattr(bootstrap, "CHUNK_CELLS", 14)
    assert (np.concatenate(list(weights(7, 50, seed=3))) == whole).all()
    assert (np.concatenate(list(weights(7, 50, seed=4))) != whole).any()
    monkeypatch.setattr(bootstrap, "ROW_BY_ROW", 1)
    assert (np.concatenate(list(weights(7, 50, seed=3))) == whole).all()
    assert list(weights(0, 50, seed=3)) == []


def test_means_are_means_of_the_units_drawn() -> None:
    values = np.arange(10.0).reshape(5, 2)
    means = resampled_means(values, everything(values), 20, seed=1)
    drawn = np.random.default_rng(1).integers(0, 5, size=(20, 5))
    assert means == pytest.approx(values[drawn].mean(axis=1))


def test_unknown_units_do_not_count() -> None:
    values = np.array([[1.0], [np.nan], [4.0]])
    means = resampled_means(values, ~np.isnan(values), 500, seed=1)
    drawn = np.random.default_rng(1).integers(0, 3, size=(500, 3))
    for row, mean in zip(drawn, means[:, 0], strict=True):
        known = [values[i, 0] for i in row if i != 1]
        assert mean == pytest.approx(np.mean(known)) if known else np.isnan(mean)
    assert np.isnan(means).any()
    assert interval(means) == [(1.0, 4.0)]


def test_interval_equals_scipys() -> None:
    values = np.random.default_rng(5).normal(3, 1, size=(200, 1))
    ((low, high),) = interval(resampled_means(values, everything(values), 20_000, seed=2))  # type: ignore[misc]
    oracle = stats.bootstrap((values[:, 0],), np.mean, n_resamples=20_000, method="percentile", rng=9)
    assert low == pytest.approx(oracle.confidence_interval.low, abs=0.01)
    assert high == pytest.approx(oracle.confidence_interval.high, abs=0.01)


def test_share_greater_counts_ties_half() -> None:
    means = np.array([[1.0, 1.0, 0.0], [2.0, 2.0 + 1e-12, 3.0], [5.0, 5.0, np.nan]])
    share = share_greater(means)
    assert share[0, 1] == 0.5  # equal to nine decimals throughout
    assert share[0, 2] == 0.5  # one each of the two resamples that have both
    assert (share + share.T == 1).all()


def test_ranks_share_the_better_place() -> None:
    means = np.array([[3.0, 2.0, 2.0], [3.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    assert rank_interval(means) == [(1, 3), (2, 2), (1, 2)]
    assert rank_interval(np.empty((0, 2))) == [None, None]
    assert interval(np.empty((0, 1))) == [None]
