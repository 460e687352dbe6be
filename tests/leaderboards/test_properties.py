"""What must and must not change any table: order of rows, names, a copied panel, and results with little in them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.scores.naive import Rows
from tests.scores.sets import hand_made, result_rows, to_results
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.leaderboards.pictures import DRAWN, draw
from vvb_assets.leaderboards.score import score_results

relaxed = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
# columns that may be empty beside a row that is whole
FREE = {"reason", "name", "lab", "harness", "judge", "missing_panels", "own", "panels"}
COMPARED = (
    *("uncertainty", "pairwise", "agreement", "scale_use", "leniency", "self_preference", "reranking"),
    "cost_correlation",
)


def ordered(rows: Rows) -> dict[str, Any]:
    """Frames that fix the order of systems, tasks and panels, so that the order of rows is free."""
    tasks = sorted({r["task"] for r in rows["runs"]} | {c["task"] for c in rows["checks"]})
    systems = sorted({r["system"] for r in rows["runs"]})
    categories = ["C01" if i % 2 else "C02" for i in range(len(tasks))]
    return {
        "tasks": pl.DataFrame({"task": tasks, "category": categories}),
        "systems": pl.DataFrame({"system": systems, "family": ["f"] * len(systems)}),
    }


def tables(rows: Rows, **more: Any) -> dict[str, pl.DataFrame]:
    return score_results(to_results(rows, **more).validate(), resamples=150, seed=3)


def equal(found: dict[str, pl.DataFrame], expected: dict[str, pl.DataFrame]) -> None:
    assert found.keys() == TABLES.keys()
    for name, frame in expected.items():
        assert_frame_equal(found[name], frame, abs_tol=1e-9, check_row_order=True, check_dtypes=False)


@relaxed
@given(result_rows(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_no_table(rows: Rows, random: Any) -> None:
    more = ordered(rows)
    shuffled = {name: random.sample(part, len(part)) for name, part in rows.items()}
    equal(tables(shuffled, **more), tables(rows, **more))


@relaxed
@given(result_rows())
def test_names_of_systems_change_no_table(rows: Rows) -> None:
    """Names in the same order: everything but the names stays."""
    renamed = {
        n: [{**r, **({"system": "z" + r["system"]} if "system" in r else {})} for r in p] for n, p in rows.items()
    }
    found, before = tables(renamed, **ordered(renamed)), tables(rows, **ordered(rows))
    back = {n: f.with_columns(pl.col(pl.String).str.replace_all("zs", "s")) for n, f in found.items()}
    equal(back, before)


@relaxed
@given(result_rows())
def test_a_panel_agrees_with_its_copy(rows: Rows) -> None:
    """A copied panel orders, checks and scores alike; with all panels doubled no mean moves."""
    copied = {n: p + [{**r, "panel": r["panel"] + "c"} for r in p if "panel" in r] for n, p in rows.items()}
    found, before = tables(copied), tables(rows)
    for r in found["agreement"].drop_nulls("panel_a").to_dicts():
        if r["panel_b"] == r["panel_a"] + "c":
            for column in ("spearman", "kendall_tau_b", "kappa", "pearson", "kendalls_w"):
                assert r[column] is None or r[column] == pytest.approx(1.0), column
            for column in ("check_agreement_pct", "pair_ordering_pct"):
                assert r[column] is None or r[column] == 100.0, column
    for name, columns in (("uncertainty", ("system", "mean", "low", "high", "wins")), ("pairwise", ("p_greater",))):
        assert_frame_equal(found[name].select(columns), before[name].select(columns), abs_tol=1e-9)


@relaxed
@given(result_rows())
def test_comparisons_say_why_a_value_is_missing(rows: Rows) -> None:
    for name in COMPARED:
        for r in tables(rows, **ordered(rows))[name].to_dicts():
            empty = [c for c, v in r.items() if v is None and c not in FREE]
            assert not empty or r["reason"], (name, r)


@relaxed
@given(result_rows())
def test_bounds_hold(rows: Rows) -> None:
    made = tables(rows)
    for r in made["uncertainty"].drop_nulls("mean").to_dicts():
        assert r["low"] <= r["high"]
        assert 0 <= r["low"] <= 5 + 1e-9
        assert r["rank_low"] <= r["rank_high"] <= len(made["uncertainty"])
        assert r["p_greater"] is None or 0 <= r["p_greater"] <= 1
        assert r["wins"] is None or r["wins"] + r["losses"] + r["ties"] <= r["tasks"]
    for r in made["pairwise"].drop_nulls("system_a").to_dicts():
        assert r["difference"] is None or r["difference"] >= -1e-9


# --- results with little in them


def without_delivery(rows: Rows) -> Rows:
    kept = {n: [r for r in rows[n] if r["system"] != "half"] for n in ("verdicts", "scores")}
    runs = [{**r, "delivered": r["delivered"] and r["system"] != "half"} for r in rows["runs"]]
    return rows | kept | {"runs": runs}


def only(rows: Rows, column: str, value: str) -> Rows:
    return {n: [r for r in part if r.get(column, value) == value] for n, part in rows.items()}


def all_unknown(rows: Rows) -> Rows:
    verdicts = [{**v, "verdict": "unknown"} for v in rows["verdicts"]]
    return rows | {"verdicts": verdicts, "scores": [{**s, "score": None} for s in rows["scores"]]}


def no_common_panel(rows: Rows) -> Rows:
    """P has judged `up` alone, Q `half` alone."""
    kept = {("P", "up"), ("Q", "half")}
    return rows | {n: [r for r in rows[n] if (r["panel"], r["system"]) in kept] for n in ("verdicts", "scores")}


SPARSE: dict[str, Rows] = {
    "one system": only(hand_made(), "system", "up"),
    "one task": only(hand_made(), "task", "t1"),
    "one panel": only(hand_made(), "panel", "P"),
    "a system without a video": without_delivery(hand_made()),
    "no video at all": {n: [] for n in ("checks", "verdicts", "scores")}
    | {"runs": [{**r, "delivered": False} for r in hand_made()["runs"]]},
    "all unknown": all_unknown(hand_made()),
    "no panel in common": no_common_panel(hand_made()),
    "no panel": hand_made() | {"verdicts": [], "scores": []},
    "a task without checks": hand_made()
    | {"checks": hand_made()["checks"][:3], "verdicts": [v for v in hand_made()["verdicts"] if v["task"] == "t1"]},
    "nothing": {"checks": [], "runs": [], "verdicts": [], "scores": []},
}
# what the comparisons answer: table, column and value of its first row
ANSWERS: dict[str, list[tuple[str, str, Any]]] = {
    "one system": [
        ("pairwise", "reason", "a comparison needs two systems that every panel has scored whole"),
        ("uncertainty", "reason", "no system below to compare with"),
        ("agreement", "spearman", None),
        ("agreement", "pair_ordering_pct", None),
        ("cost_correlation", "reason", "an order needs two systems"),
        ("reranking", "kendall_tau", None),
    ],
    "one task": [("uncertainty", "low", 4.5), ("uncertainty", "high", 4.5), ("pairwise", "p_greater", 1.0)],
    "one panel": [
        ("agreement", "reason", "agreement needs two panels"),
        ("scale_use", "reason", "one panel: there is no other to compare with"),
        ("self_preference", "reason", "one panel: there is no other to compare with"),
    ],
    "a system without a video": [("pairwise", "p_greater", 1.0), ("uncertainty", "wins", 2)],
    "no video at all": [("uncertainty", "reason", "no panel has judged anything")],
    "all unknown": [("agreement", "videos", 0), ("agreement", "kappa", None), ("pairwise", "p_greater", None)],
    "no panel in common": [
        ("uncertainty", "reason", "2 delivered runs not scored by every panel"),
        ("agreement", "systems", 0),
        ("agreement", "checks", 0),
        ("scale_use", "leniency", None),
    ],
    "no panel": [("uncertainty", "reason", "no panel has judged anything"), ("agreement", "spearman", None)],
    "a task without checks": [("uncertainty", "p_greater", 1.0)],
    "nothing": [(name, "reason", "there are no runs") for name in TABLES if name != "by_category"],
}


@pytest.mark.parametrize("case", SPARSE)
def test_sparse_results_have_a_stated_answer(case: str) -> None:
    """Every table is there, finite (score_results checks it), and drawn; comparisons give the answer above."""
    made = tables(SPARSE[case])
    for name, column, value in ANSWERS[case]:
        found = made[name][column][0]
        assert found == (pytest.approx(value) if isinstance(value, float) else value), (name, column)
    for name in COMPARED:
        for r in made[name].to_dicts():
            empty = [c for c, v in r.items() if v is None and c not in FREE]
            assert not empty or r["reason"], (name, r)
    for name in DRAWN:
        assert draw(name, made)[name].startswith(b"\x89PNG")


def test_a_system_without_a_known_score_has_no_mean() -> None:
    """`half` keeps the 0 of its missing video; of `up` nothing is known."""
    rows = {r["system"]: r for r in tables(all_unknown(hand_made()))["uncertainty"].to_dicts()}
    assert (rows["half"]["mean"], rows["half"]["deliv_mean"]) == (0.0, None)
    assert (rows["up"]["mean"], rows["up"]["low"], rows["up"]["rank_low"]) == (None, None, None)
    assert "no known score" in rows["up"]["reason"]
