"""The leaderboard: by hand, against naive code, and what must and must not change it."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.scores import naive
from tests.scores.naive import Rows
from tests.scores.sets import hand_made, result_rows, to_results
from vvb_assets.leaderboards.main import leaderboard, per_panel
from vvb_assets.leaderboards.score import score_results
from vvb_assets.scores.figures import panel_figures
from vvb_assets.scores.statistics import run_statistics

relaxed = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def tables(
    rows: Rows, **options: bool
) -> tuple[dict[str, dict[str, object]], dict[tuple[str, str], dict[str, object]]]:
    stats = run_statistics(to_results(rows).validate(**options))
    by_panel = {(r["panel"], r["system"]): r for r in per_panel(panel_figures(stats)).to_dicts()}
    return {r["system"]: r for r in leaderboard(stats).to_dicts()}, by_panel


def same(found: dict[str, object], expected: dict[str, object]) -> None:
    for name, value in expected.items():
        if name != "whole":
            assert found[name] == (value if value is None else pytest.approx(value, abs=1e-9)), name


def test_figures_by_hand() -> None:
    board, panels = tables(hand_made())
    p_up, q_half = panels["P", "up"], panels["Q", "half"]
    assert p_up["l2_pass_deliv_pct"] == pytest.approx(200 / 3)  # pass pass fail, and an unknown that counts nowhere
    assert p_up["unknown_pct"] == 25.0  # 1 of 4 checks
    assert p_up["strict_pct"] == 50.0  # t1: only a detail check fails; t2: nothing passes
    assert p_up["all_core_pct"] == 50.0
    assert p_up["VQ"] == 3.0
    assert p_up["AQ"] == 5.0  # the unknown is left out
    assert p_up["overall_deliv"] == pytest.approx((3 + 4 + 4 + 4 + 5) / 5)
    assert p_up["run_overall"] == pytest.approx((4 + 19 / 5) / 2)
    assert panels["P", "half"]["l2_pass_nv0_pct"] == pytest.approx(50.0)  # 2 of 3, and t2's check fails
    assert q_half["judge_errors"] == 1
    assert q_half["strict_pct"] is None
    assert (q_half["strict_low_pct"], q_half["strict_high_pct"]) == (0.0, 50.0)
    assert q_half["overall_nv0"] == pytest.approx(1.5)  # 15 points, five dimensions, two runs
    assert board["up"]["rank"] == 1
    assert board["up"]["overall_nv0"] == pytest.approx((4.0 + 4.9) / 2)
    assert board["up"]["complete"] is True
    assert board["up"]["usd_per_task"] == 2.0
    assert board["half"]["usd_per_task"] is None
    assert board["half"]["delivery_pct"] == 50.0
    assert board["half"]["spec_pct"] == 0.0
    assert board["half"]["complete"] is False
    assert board["half"]["strict_pct"] is None
    assert board["half"]["rank"] == 2
    assert board["half"]["reason"] == "1 run unpriced; Q: 1 judge error"


@relaxed
@given(result_rows())
def test_equals_naive(rows: Rows) -> None:
    board, panels = tables(rows)
    for (panel, system), row in panels.items():
        same(row, naive.panel_row(rows, panel, system))
    for system, expected in naive.board(rows).items():
        same(board[system], expected)


@relaxed
@given(result_rows(), st.randoms(use_true_random=False))
def test_order_of_rows_is_irrelevant(rows: Rows, random: object) -> None:
    before, _ = tables(rows)
    shuffled = {name: random.sample(part, len(part)) for name, part in rows.items()}  # type: ignore[attr-defined]
    after, _ = tables(shuffled)
    for system, row in before.items():
        same(after[system], {k: v for k, v in row.items() if isinstance(v, float | int)})


@relaxed
@given(result_rows())
def test_names_of_systems_are_irrelevant(rows: Rows) -> None:
    renamed = {
        n: [{**r, **({"system": f"z-{r['system']}"} if "system" in r else {})} for r in p] for n, p in rows.items()
    }
    before, after = tables(rows)[0], tables(renamed)[0]
    for system, row in before.items():
        same(after[f"z-{system}"], {k: v for k, v in row.items() if k not in ("system", "name")})


@relaxed
@given(result_rows())
def test_doubled_panels_leave_the_means(rows: Rows) -> None:
    copies = {n: p + [{**r, "panel": r["panel"] + "-copy"} for r in p if "panel" in r] for n, p in rows.items()}
    before, after = tables(rows)[0], tables(copies)[0]
    for system, row in before.items():
        same(after[system], {k: v for k, v in row.items() if isinstance(v, float) or k in ("rank", "complete")})


def test_copied_panel_takes_its_share() -> None:
    """Three panels, two alike: the mean weighs each panel, not each opinion."""
    rows = hand_made()
    for name in ("verdicts", "scores"):
        rows[name] += [{**r, "panel": "R"} for r in rows[name] if r["panel"] == "P"]
    assert tables(rows)[0]["up"]["overall_nv0"] == pytest.approx((4.0 + 4.0 + 4.9) / 3)


def test_nothing_delivered() -> None:
    rows = hand_made()
    for run in rows["runs"]:
        run["delivered"] = run["delivered"] and run["system"] != "half"
    for name in ("verdicts", "scores"):
        rows[name] = [r for r in rows[name] if r["system"] != "half"]
    row = tables(rows)[0]["half"]
    assert [row[c] for c in ("delivery_pct", "overall_nv0", "run_overall", "l2_pass_nv0_pct", "strict_pct")] == [0] * 5
    assert [row[c] for c in ("overall_deliv", "l2_pass_deliv_pct", "VQ", "unknown_pct")] == [None] * 4
    assert "nothing delivered" in str(row["reason"])
    assert (row["rank"], row["complete"]) == (2, True)


def test_all_unknown() -> None:
    rows = hand_made()
    rows["verdicts"] = [{**v, "verdict": "unknown"} for v in rows["verdicts"]]
    rows["scores"] = [{**s, "score": None} for s in rows["scores"]]
    row = tables(rows)[0]["up"]
    assert [row[c] for c in ("l2_pass_deliv_pct", "l2_pass_nv0_pct", "overall_deliv", "overall_nv0")] == [None] * 4
    assert (row["strict_pct"], row["all_core_pct"], row["unknown_pct"], row["rank"]) == (0.0, 0.0, 100.0, None)
    assert "no known score: VQ, VA, CL, TM, AQ" in str(row["reason"])


def test_missing_panel_is_incomplete_not_smaller() -> None:
    rows = hand_made()
    for name in ("verdicts", "scores"):
        rows[name] = [r for r in rows[name] if (r["panel"], r["system"], r["task"]) != ("Q", "up", "t2")]
    board, panels = tables(rows)
    row = board["up"]
    assert (row["complete"], row["rank"], row["missing_panels"]) == (False, None, "Q")
    assert [row[c] for c in ("overall_nv0", "l2_pass_nv0_pct", "strict_pct")] == [None] * 3
    assert row["reason"] == "Q: 1 of 2 delivered runs not judged"
    assert panels["Q", "up"]["overall_deliv"] == 5.0  # as far as it has come
    assert panels["Q", "up"]["complete"] is False


def test_a_panel_that_has_judged_nothing_waits() -> None:
    rows = hand_made()
    more = pl.DataFrame({"panel": ["P", "Q", "new"]})
    stats = run_statistics(to_results(rows, panels=more).validate())
    row = leaderboard(stats).row(by_predicate=pl.col("system") == "up", named=True)
    assert row["overall_nv0"] == pytest.approx((4.0 + 4.9) / 2)
    assert (row["panels"], row["missing_panels"], row["complete"], row["rank"]) == ("P, Q", "new", False, 1)


def test_missing_run_row_is_incomplete() -> None:
    rows = hand_made()
    rows["runs"] = [r for r in rows["runs"] if (r["system"], r["task"]) != ("half", "t2")]
    row = tables(rows, require_all_runs=False)[0]["half"]
    assert (row["tasks"], row["runs"], row["missing_runs"], row["rank"], row["complete"]) == (2, 1, 1, None, False)
    assert "1 of 2 runs not made" in str(row["reason"])


def test_no_panel_at_all() -> None:
    rows = hand_made() | {"verdicts": [], "scores": []}
    row = tables(rows)[0]["up"]
    assert (row["delivery_pct"], row["overall_nv0"], row["rank"], row["complete"]) == (100.0, None, None, False)
    assert "no panel has judged anything" in str(row["reason"])


@relaxed
@given(result_rows())
def test_every_table_is_finite_and_says_why_it_lacks_a_value(rows: Rows) -> None:
    made = score_results(to_results(rows).validate())
    for name, frame in made.items():
        assert len(frame), name
    for row in made["leaderboard"].to_dicts():
        for column in ("spec_pct", "strict_pct", "overall_nv0", "usd_per_task"):
            assert row[column] is not None or row["reason"], column
    for row in made["cost"].to_dicts():
        assert row["total_usd"] is not None or row["reason"]
