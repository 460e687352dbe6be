"""Rank statistics against scipy, and by hand where scipy has no such statistic."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from vvb_assets.scores import ranks
from vvb_assets.scores.ranks import kendall, kendalls_w, midranks, pearson, permutation_test, spearman

vectors = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 5).map(float), min_size=n, max_size=n) for _ in range(2)))
)
several = st.integers(2, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4).map(float), min_size=n, max_size=n), min_size=3, max_size=5)
)
relaxed = settings(max_examples=60, deadline=None)


def same(found: float | None, oracle: float) -> None:
    assert found is None if math.isnan(oracle) else found == pytest.approx(oracle, abs=1e-9)


@relaxed
@given(vectors)
@pytest.mark.filterwarnings("ignore")
def test_equal_scipy(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    assert midranks(x).tolist() == stats.rankdata(x).tolist()
    same(spearman(x, y), stats.spearmanr(x, y).statistic)
    same(pearson(x, y), stats.pearsonr(x, y).statistic)
    same(kendall(x, y).tau_b, stats.kendalltau(x, y, variant="b").statistic)


@relaxed
@given(several)
@pytest.mark.filterwarnings("ignore")
def test_concordance_equals_friedman(raters: list[list[float]]) -> None:
    """Kendall's W is Friedman's chi-square over m (n - 1)."""
    m, n = len(raters), len(raters[0])
    if all(len(set(r)) == 1 for r in raters):
        assert kendalls_w(raters) is None
    elif n > 2:
        oracle = stats.friedmanchisquare(*np.array(raters).T).statistic / (m * (n - 1))
        same(kendalls_w(raters), oracle)


def test_two_raters_have_w_of_half_rho_plus_one() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 3.0, 5.0]
    assert kendalls_w([x, y]) == pytest.approx(((spearman(x, y) or 0) + 1) / 2)


def test_tau_a_counts_ties_as_nothing() -> None:
    """Three pairs of (1, 2, 2) against (1, 2, 3): two alike, one tied."""
    found = kendall([1, 2, 2], [1, 2, 3])
    assert (found.concordant, found.discordant, found.pairs) == (2, 0, 3)
    assert found.tau_a == pytest.approx(2 / 3)
    assert found.tau_b == pytest.approx(2 / math.sqrt(2 * 3))


def test_sums_added_in_another_order_are_ties() -> None:
    assert midranks([0.1 + 0.2, 0.3]).tolist() == [1.5, 1.5]


@relaxed
@given(vectors.filter(lambda p: len(p[0]) <= 6))
def test_permutation_p_counts_every_order(pair: tuple[list[float], list[float]]) -> None:
    x, y = pair
    found = permutation_test(x, y, seed=0)
    rho = spearman(x, y)
    if rho is None:
        assert (found.rho, found.p, found.orders) == (None, None, 0)
        return
    orders = [spearman(x, list(p)) or 0.0 for p in permutations(y)]
    assert found.orders == len(orders)
    assert found.p == pytest.approx(sum(abs(r) >= abs(rho) - 1e-12 for r in orders) / len(orders))


def test_permutation_p_beyond_nine_is_a_seeded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nine values both ways are possible: the sample comes within five standard errors of the exact p."""
    x, y = [3, 1, 4, 2, 9, 5, 8, 6, 7], [2, 7, 1, 8, 3, 9, 5, 4, 6]
    exact = permutation_test(x, y, seed=7)
    monkeypatch.setattr(ranks, "EXACT_UP_TO", 5)
    sampled, again, other = (permutation_test(x, y, seed) for seed in (7, 7, 8))
    assert (exact.exact, sampled.exact, sampled.orders) == (True, False, 100_000)
    assert exact.p is not None
    assert sampled == again
    assert sampled.p != other.p
    assert sampled.p == pytest.approx(exact.p, abs=5 * math.sqrt(exact.p * (1 - exact.p) / 100_000))


def test_what_does_not_exist_is_none() -> None:
    assert spearman([], []) is None
    assert spearman([1.0], [2.0]) is None
    assert pearson([1.0, 1.0], [1.0, 2.0]) is None
    assert (kendall([], []).tau_a, kendall([1, 1], [1, 2]).tau_b, kendall([1, 1], [1, 2]).tau_a) == (None, None, 0.0)
    assert kendalls_w([[1.0, 2.0]]) is None
    assert kendalls_w([[], []]) is None
