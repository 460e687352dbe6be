"""People against judges, on a study small enough to work out by hand.

Run overalls (P, Q): x/t1 4, 5; y/t1 3, 5; z/t1 3, 3; x/t2 2, 4; y/t2 4, 4; z/t2 not judged by Q; z/t3 not delivered.
Means: x/t1 4.5; y/t1 4; z/t1 3; x/t2 3; y/t2 4.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from vvb_assets.human.agreement import (
    agreement_tables,
    both_bad_audit,
    by_margin,
    judged_votes,
    metric_agreement,
    pair_agreement,
    preference_gap,
    system_agreement,
)
from vvb_assets.human.columns import AGREEMENT_TABLES
from vvb_assets.human.study import human_tables
from vvb_assets.scores.results import Results
from vvb_assets.scores.statistics import run_statistics

SCORES = {("x", "t1"): (4, 5), ("y", "t1"): (3, 5), ("z", "t1"): (3, 3), ("x", "t2"): (2, 4), ("y", "t2"): (4, 4)}
SCORES |= {("z", "t2"): (5, None), ("x", "t3"): (3, 3), ("y", "t3"): (3, 3)}
VOTES = [
    ("t1", "x", "y", "A"),  # P 4 > 3 agrees; Q tie; mean +0.5 agrees
    ("t1", "z", "y", "A"),  # P tie; Q 3 < 5 disagrees; mean -1 disagrees
    ("t2", "x", "y", "B"),  # P 2 < 4 agrees; Q tie; mean -1 agrees
    ("t2", "z", "x", "A"),  # P 5 > 2 agrees; Q and mean not judged
    ("t1", "x", "z", "both_bad"),
    ("t3", "x", "y", "tie"),
]


def study() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Votes and run statistics."""
    names, tasks = ("x", "y", "z"), ("t1", "t2", "t3")
    scores: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for (system, task), pair in SCORES.items():
        for panel, value in zip("PQ", pair, strict=True):
            key = {"panel": panel, "system": system, "task": task}
            if value is not None:
                scores += [{**key, "dim": d, "score": float(value)} for d in ("VQ", "VA", "CL", "TM", "AQ")]
                verdicts.append({**key, "check": "c", "verdict": "pass"})
    results = Results(
        checks=pl.DataFrame({"task": tasks, "check": ["c"] * 3, "core": [True] * 3}),
        runs=pl.DataFrame(
            [{"system": s, "task": t, "delivered": (s, t) in SCORES} for s in names for t in tasks],
        ),
        verdicts=pl.DataFrame(verdicts),
        scores=pl.DataFrame(scores),
    ).validate()
    votes = pl.DataFrame(VOTES, schema=["task", "system_a", "system_b", "choice"], orient="row")
    return votes, run_statistics(results)


def by(table: pl.DataFrame, *keys: str) -> dict[Any, dict[str, Any]]:
    rows = table.to_dicts()
    return {tuple(r[k] for k in keys) if len(keys) > 1 else r[keys[0]]: r for r in rows}


def test_pair_agreement_by_hand() -> None:
    found = pair_agreement(judged_votes(*study()))
    counts = {p: (r["decisive"], r["unjudged"], r["judge_ties"], r["agreed"]) for p, r in found.items()}
    assert counts == {"P": (4, 0, 1, 3), "Q": (3, 1, 2, 0), "mean": (3, 1, 0, 2)}
    assert found["P"]["agreement_pct"] == 100
    assert found["P"]["tie_pct"] == 25
    assert found["Q"]["agreement_pct"] == 0
    assert found["mean"]["agreement_pct"] == pytest.approx(200 / 3)


def test_margins_by_hand() -> None:
    """Mean gaps of the decisive votes: 0.5 and 1, 1; half a point belongs to the widest class."""
    table = by(by_margin(judged_votes(*study())), "panel", "margin")
    assert {m: table["mean", m]["pairs"] for m in ("< 0.2", "0.2 - 0.5", ">= 0.5")} == {
        "< 0.2": 0, "0.2 - 0.5": 0, ">= 0.5": 3
    }  # fmt: skip
    assert table["mean", ">= 0.5"]["agreement_pct"] == pytest.approx(200 / 3)
    assert table["mean", "< 0.2"]["reason"] == "no such pair"
    assert table["mean", "< 0.2"]["agreement_pct"] is None


@pytest.mark.parametrize(
    ("gap", "label"), [(0.2, "0.2 - 0.5"), (0.1999, "< 0.2"), (-0.2, "0.2 - 0.5"), (-0.5, ">= 0.5")]
)
def test_margin_classes_are_closed_below(gap: float, label: str) -> None:
    judged = pl.DataFrame({"panel": ["p"], "choice": ["A"], "gap": [gap]})
    assert [r["pairs"] for r in by_margin(judged).to_dicts() if r["margin"] == label] == [1]


def test_both_bad_by_hand() -> None:
    """Mean panel: both_bad pair x/t1 4.5, z/t1 3 -> 3.75; the tie x/t3, y/t3 3, 3 -> 3, both under 3.5."""
    table = by(both_bad_audit(judged_votes(*study())), "panel", "choice")
    assert table["mean", "both_bad"]["mean_score"] == 3.75
    assert table["mean", "both_bad"]["both_below_pct"] == 0
    assert (table["mean", "tie"]["mean_score"], table["mean", "tie"]["both_below_pct"]) == (3, 100)
    assert table["mean", "decisive"]["mean_score"] == pytest.approx((4.25 + 3.5 + 3.5) / 3)
    assert table["P", "decisive"]["pairs"] == 4


def test_preferences_by_hand() -> None:
    """P on x: people 1, 0, 0 of its three decisive votes, judges 1, 0, 0; on y: 0, 0, 1 against 0, 0.5, 1."""
    table = by(preference_gap(judged_votes(*study())), "panel", "system")
    assert table["P", "x"]["human_minus_judge_pts"] == pytest.approx(0)
    assert table["P", "y"]["human_win_pct"] == pytest.approx(100 / 3)
    assert table["P", "y"]["judge_win_pct"] == pytest.approx(50)


def test_systems_and_metrics() -> None:
    """P's delivered overall: x 3, y 10/3, z 4; the Elo is in the opposite order."""
    _, stats = study()
    elo = {"x": 1100.0, "y": 1000.0, "z": 900.0}
    found = system_agreement(elo, stats)
    assert (found["P"].spearman, found["P"].kendall_tau_a, found["P"].n) == (-1.0, -1.0, 3)
    table = by(metric_agreement(elo, stats), "metric")
    assert table["delivery_pct"]["kendall_tau_a"] == pytest.approx(2 / 3)  # x and y deliver 3 of 3, z 2 of 3
    assert table["overall_nv0"]["systems"] == 2  # Q has not judged z whole


def test_a_copied_panel_changes_no_agreement() -> None:
    votes, stats = study()
    only = stats.filter(pl.col("panel") == "P")
    twice = pl.concat([only, only.with_columns(panel=pl.lit("P2"))])
    first = by(agreement_tables({}, votes, only)["human_judge_agreement"], "panel")
    second = by(agreement_tables({}, votes, twice)["human_judge_agreement"], "panel")
    for column in ("decisive", "judge_ties", "agreed", "agreement_pct"):
        assert first["P"][column] == second["P"][column] == second["P2"][column] == second["mean"][column]


def test_no_votes_and_no_panels() -> None:
    votes, stats = study()
    for table in human_tables(None, stats).values():
        assert table.to_dicts() == [dict.fromkeys(table.columns) | {"reason": "no votes"}]
    unjudged = stats.filter(pl.col("panel") == "P").with_columns(panel=pl.lit(None, pl.String))
    tables = agreement_tables({"x": 1000.0}, votes, unjudged)
    assert {t["reason"].item() for t in tables.values()} == {"no panel has judged anything"}
    assert {t["reason"].item() for t in agreement_tables({}, votes.clear(), stats).values()} == {"no votes"}


def test_only_undecided_votes() -> None:
    votes, stats = study()
    tables = human_tables(votes.filter(~pl.col("choice").is_in(["A", "B"])), stats)
    for row in tables["human_judge_agreement"].to_dicts():
        assert row["agreement_pct"] is None
        assert row["reason"] == "no decisive vote; 0 systems with both figures: too few to rank"
    assert tables["human_preference_gap"]["reason"].item() == "no decisive vote on judged runs"
    assert set(tables) >= set(AGREEMENT_TABLES)


def test_the_order_of_votes_changes_nothing() -> None:
    votes, stats = study()
    first = human_tables(votes, stats, resamples=50)
    again = human_tables(votes.reverse(), stats.sample(fraction=1, shuffle=True, seed=1).sort("panel"), resamples=50)
    for name, table in first.items():
        keys = [c for c in table.columns if c in ("panel", "system", "opponent", "margin", "choice", "metric")]
        assert table.sort(keys).equals(again[name].sort(keys)), name
