"""Ratings: figures by hand, what must not change them, and the answer to every degenerate set of votes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tests.human.sets import random_wins, votes_from_wins, votes_of
from vvb_assets.human.rating import SEPARATED, Rating, rate
from vvb_assets.human.tables import fit_document, rating_rows, rating_tables
from vvb_resources.errors import ResultsError

NAMES = tuple("abcdefghi")


def rows(rating: Rating) -> dict[str, dict[str, Any]]:
    return {row["system"]: row for row in rating_rows(rating)}


def test_elo_of_two_by_hand() -> None:
    """3 wins to 1 with 0.1 virtual votes: 400 log10(3.05 / 1.05) = 185.24 apart around 1000."""
    document = fit_document(rate(votes_of("a b A*2", "b a B", "a b B", "a b tie", "b a both_bad")))
    a, b = document["systems"]
    assert (a["system"], a["wins"], a["games"], b["wins"]) == ("a", 3, 4, 1)
    assert a["elo"] - b["elo"] == pytest.approx(185.24, abs=0.01)
    assert a["elo"] + b["elo"] == pytest.approx(2000)
    assert a["strength"] == pytest.approx(math.sqrt(3.05 / 1.05))
    assert a["strength"] * b["strength"] == pytest.approx(1)
    assert {key: document[key] for key in ("decisive", "ties", "both_bad")} == {"decisive": 4, "ties": 1, "both_bad": 1}
    assert set(document) == {"systems", "decisive", "ties", "both_bad"}


def test_a_tie_as_half_a_win_each() -> None:
    document = fit_document(rate(votes_of("a b A*2", "a b B", "a b tie*3", "a b both_bad*5"), ties="half"))
    a, b = document["systems"]
    assert (a["wins"], a["games"], b["wins"]) == (3.5, 6, 2.5)
    assert a["elo"] - b["elo"] == pytest.approx(400 * math.log10(3.55 / 2.55))


def test_the_interval_of_two_follows_the_binomial() -> None:
    """With two systems a resample is a binomial draw, and its Elo a function of it: the bounds are its quantiles."""
    row = rows(rate(votes_of("a b A*60", "a b B*40")))["a"]
    for end, level in (("elo_low", 0.025), ("elo_high", 0.975)):
        wins = binom.ppf(level, 100, 0.6)
        around = [1000 + 200 * math.log10((w + 0.05) / (100 - w + 0.05)) for w in (wins - 1, wins + 1)]
        assert around[0] <= row[end] <= around[1]
    assert row["p_above_next"] == pytest.approx(1 - binom.cdf(50, 100, 0.6) + binom.pmf(50, 100, 0.6) / 2, abs=0.015)


def test_intervals_are_percentiles_of_the_resamples() -> None:
    rating = rate(votes_from_wins(random_wins(3), NAMES), resamples=300)
    low, high = rating.elo_bounds()
    elo = 1000 + 400 * rating.samples / np.log(10)
    assert low == pytest.approx(np.percentile(elo, 2.5, axis=0))
    assert high == pytest.approx(np.percentile(elo, 97.5, axis=0))
    ranks = (-rating.samples).argsort(axis=1).argsort(axis=1) + 1
    best, worst = rating.rank_bounds()
    assert best.tolist() == np.percentile(ranks, 2.5, axis=0, method="lower").tolist()
    assert worst.tolist() == np.percentile(ranks, 97.5, axis=0, method="higher").tolist()


def test_who_is_above_whom() -> None:
    rating = rate(votes_from_wins(random_wins(4), NAMES), resamples=400)
    share = rating.above()
    assert share + share.T == pytest.approx(np.ones((9, 9)))
    tiers, order = rating.tiers(), rating.order()
    assert [tiers[i] for i in order] == sorted(tiers.values())
    for i in order:
        for j in order:
            if tiers[i] == tiers[j]:
                assert share[i, j] < SEPARATED or i == j
    for tier in range(2, max(tiers.values()) + 1):
        first = next(i for i in order if tiers[i] == tier)
        assert any(share[i, first] >= SEPARATED for i in order if tiers[i] == tier - 1)


def test_three_clear_tiers() -> None:
    rows_ = ["a b A*30", "a b B*30", "c d A*30", "c d B*30"]
    rows_ += [f"{x} {y} A*{n}" for x in "ab" for y in "cd" for n in (30,)] + ["c a A*5", "d b A*5"]
    assert [row["tier"] for row in rating_rows(rate(votes_of(*rows_)))] == [1, 1, 2, 2]


@given(st.integers(0, 10_000), st.sampled_from(["drop", "half"]))
@settings(max_examples=15, deadline=None)
def test_order_and_sides_change_nothing(seed: int, ties: Any) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    a = rng.integers(0, 4, n)
    b = (a + rng.integers(1, 4, n)) % 4
    choice = rng.choice(["A", "B", "tie", "both_bad"], n)
    votes = pl.DataFrame({"system_a": [NAMES[i] for i in a], "system_b": [NAMES[i] for i in b], "choice": choice})
    swapped = votes.select(
        system_a="system_b", system_b="system_a", choice=pl.col("choice").replace({"A": "B", "B": "A"})
    )
    first = fit_document(rate(votes, ties=ties, resamples=50))
    assert fit_document(rate(votes.sample(fraction=1, shuffle=True, seed=seed), ties=ties, resamples=50)) == first
    assert fit_document(rate(swapped, ties=ties, resamples=50)) == first
    renamed = votes.with_columns(pl.col("system_a", "system_b").replace(dict(zip("abcd", "dcba", strict=True))))
    again = {row["system"]: row for row in fit_document(rate(renamed, ties=ties, resamples=50))["systems"]}
    for row in first["systems"]:
        twin = again[dict(zip("abcd", "dcba", strict=True))[row["system"]]]
        assert twin["elo"] == (row["elo"] if row["elo"] is None else pytest.approx(row["elo"], abs=1e-6))
        assert (twin["wins"], twin["games"], twin["win_rate"]) == (row["wins"], row["games"], row["win_rate"])


EMPTY = pl.DataFrame(schema={"system_a": pl.String, "system_b": pl.String, "choice": pl.String})
NULLS = ("strength", "elo", "elo_low", "elo_high", "rank_low", "rank_high")


def test_no_votes() -> None:
    assert fit_document(rate(EMPTY)) == {"systems": [], "decisive": 0, "ties": 0, "both_bad": 0, "reason": "no votes"}
    tables = rating_tables(rate(EMPTY))
    assert [table.row(0, named=True)["reason"] for table in tables.values()] == ["no votes", "no votes"]


def test_one_system() -> None:
    tables = rating_tables(rate(EMPTY, systems=["only"]))
    row = tables["bradley_terry"].row(0, named=True)
    assert (row["system"], row["elo"], row["games"], row["reason"]) == ("only", None, 0, "no decisive vote")
    assert tables["human_win_matrix"].row(0, named=True)["reason"] == "one system only"


def test_all_ties() -> None:
    votes = votes_of("a b tie*4", "b c tie*2")
    for row in rating_rows(rate(votes)):
        assert all(row[c] is None for c in (*NULLS, "win_rate", "win_low", "rank", "tier"))
        assert row["reason"] == "no decisive vote"
    halves = rating_rows(rate(votes, ties="half"))
    assert [row["elo"] for row in halves] == pytest.approx([1000, 1000, 1000])
    assert [row["rank"] for row in halves] == [1, 1, 1]


def test_a_system_that_wins_everything() -> None:
    votes = votes_of("a b A*5", "a c A*5", "b c A*3", "b c B*2")
    with_one = rows(rate(votes))
    assert with_one["a"]["elo"] > with_one["b"]["elo"] + 400
    assert all(with_one["a"][c] is not None for c in NULLS)
    assert with_one["a"]["win_high"] == pytest.approx(1.0)
    without = rows(rate(votes, prior=0))
    for row in without.values():
        assert row["elo"] is None
        assert row["reason"] == "no finite strength without a prior: a never lost"
    assert without["a"]["win_rate"] == 1.0


def test_groups_that_were_never_compared() -> None:
    """Only the prior would place one group against the other, so nothing is claimed."""
    rating = rate(votes_of("a b A*3", "b a A", "c d A*2", "d c A"))
    for row in rating_rows(rating):
        assert all(row[c] is None for c in NULLS)
        assert row["reason"] == "no vote connects the groups a, b | c, d"
    assert rating.unfitted == 0


def test_a_system_without_votes_does_not_touch_the_others() -> None:
    votes = votes_of("a b A*3", "a b B", "b c A*2", "c a A")
    more = rows(rate(votes, systems=["z"]))
    assert more.pop("z")["reason"] == "no decisive vote"
    less = rows(rate(votes))
    less["c"] = {**less["c"], "p_above_next": None}
    assert {k: {c: v for c, v in row.items() if c != "p_above_next"} for k, row in more.items()} == {
        k: {c: v for c, v in row.items() if c != "p_above_next"} for k, row in less.items()
    }


def test_resamples_without_a_fit_only_widen() -> None:
    """One win in 40: about 1 - (1 - 1/40)^40 = 64% of the resamples keep it, so the loser has no lower bound."""
    rating = rate(votes_of("a b A*39", "a b B"), prior=0)
    assert rating.unfitted == pytest.approx(2000 * (1 - 1 / 40) ** 40, rel=0.1)
    a, b = rating_rows(rating)
    assert a["elo"] - b["elo"] == pytest.approx(400 * math.log10(39))
    assert (a["elo_low"], a["elo_high"], a["rank_low"], a["rank_high"]) == (None, None, 1, 2)
    assert a["reason"] == f"{rating.unfitted} of 2000 resamples have no finite fit without a prior"


@pytest.mark.parametrize("prior", [-0.1, float("nan"), float("inf"), 1e-9, 1e9])
def test_a_prior_that_cannot_be_used(prior: float) -> None:
    with pytest.raises(ResultsError, match="choose 0, or 1e-6 to 1e6"):
        rate(votes_of("a b A"), prior=prior)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from(["A", "B", "tie", "both_bad"]))))
@settings(max_examples=40, deadline=None)
def test_whatever_the_votes_a_null_has_a_reason(drawn: list[tuple[int, int, str]]) -> None:
    votes = pl.DataFrame(
        [(NAMES[a], NAMES[(a + d) % 5], c) for a, d, c in drawn],
        schema={"system_a": pl.String, "system_b": pl.String, "choice": pl.String},
        orient="row",
    )
    for prior in (0.0, 0.1):
        rating = rate(votes, prior=prior, resamples=20)
        for row in rating_tables(rating)["bradley_terry"].iter_rows(named=True):  # refuses NaN and infinity
            assert all(row[c] is not None for c in (*NULLS, "win_rate", "rank")) or row["reason"]
            if row["elo_low"] is not None:
                assert row["elo_low"] <= row["elo_high"]
                assert 1 <= row["rank_low"] <= row["rank_high"] <= 5
