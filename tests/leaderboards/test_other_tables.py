"""Cost, slices, dimensions, ways to fail and judge errors, by hand on the small set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tests.scores.sets import hand_made, to_results
from vvb_assets.cost.totals import cost_table, pareto_frontier
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.leaderboards.score import score_results


def made(**more: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return score_results(to_results(hand_made(), **more).validate())


def row(table: pl.DataFrame, **key: str) -> dict[str, Any]:
    found = table.filter(*[pl.col(k) == v for k, v in key.items()])
    assert len(found) == 1
    return found.row(0, named=True)


def test_slices_count_a_task_in_each_of_its_subcategories() -> None:
    tasks = pl.DataFrame({"task": ["t1", "t2"], "category": ["C01", "C02"], "subcategories": [["S01", "D01"], ["S01"]]})
    tables = made(tasks=tasks)
    half = row(tables["by_category"], system="half", category="C02")
    assert (half["tasks"], half["delivered"], half["overall_nv0"], half["l2_pass_nv0_pct"]) == (1, 0, 0.0, 0.0)
    assert row(tables["by_category"], system="half", category="C01")["overall_nv0"] == pytest.approx(3.0)
    assert row(tables["by_subcategory"], system="up", subcategory="S01")["tasks"] == 2
    assert row(tables["by_subcategory"], system="up", subcategory="D01")["tasks"] == 1
    assert tables["by_language"].to_dicts() == [
        {c: "tasks has no language" if c == "reason" else None for c in TABLES["by_language"].columns}
    ]


def test_dimensions() -> None:
    table = made()["dimensions"]
    assert row(table, panel="P", system="up", dim="AQ")["mean_deliv"] == 5.0
    assert row(table, panel="P", system="up", dim="AQ")["known"] == 1
    assert row(table, panel="Q", system="half", dim="TM")["mean_nv0"] == 2.5
    assert row(table, panel="mean", system="half", dim="TM")["mean_nv0"] == pytest.approx((1.5 + 2.5) / 2)


def test_core_against_detail() -> None:
    table = made()["core_vs_detail"]
    up = row(table, panel="P", system="up")
    assert (up["core_pass_deliv_pct"], up["detail_pass_deliv_pct"], up["gap_pts"]) == (100.0, 0.0, 100.0)
    half = row(table, panel="Q", system="half")
    assert (half["core_pass_deliv_pct"], half["detail_pass_deliv_pct"], half["reason"]) == (
        100.0,
        None,
        "1 judge error",
    )


def test_ways_to_fail_add_up() -> None:
    table = made()["failed_any_check"]
    up = row(table, panel="P", system="up")
    parts = ["no_failed_check_pct", "only_detail_pct", "failed_delivered_pct", "no_video_pct"]
    assert [up[c] for c in parts] == [0.0, 50.0, 50.0, 0.0]
    assert [row(table, panel="P", system="half")[c] for c in parts] == [0.0, 0.0, 50.0, 50.0]
    assert [row(table, panel="mean", system="up")[c] for c in parts] == [50.0, 25.0, 25.0, 0.0]
    assert row(table, panel="Q", system="half")["strict_pct"] is None


def test_judge_errors_by_part_and_judge() -> None:
    rows = hand_made()
    for check in rows["checks"]:
        check["modality"] = "audio" if check["check"] == "c" else "visual"
    panels = pl.DataFrame(
        {
            "panel": ["P", "Q", "Q"],
            "judge_system": ["eye", "eye", "ear"],
            "dims": [None, "VQ|VA|CL|TM", "AQ"],
            "modalities": [None, "visual", "audio|audio_visual"],
        }
    )
    results = to_results(rows, panels=panels)
    checks = results.checks.with_columns(modality=pl.Series([c["modality"] for c in rows["checks"]]))
    errors = score_results(replace(results, checks=checks).validate())["judge_errors"]
    heard = row(errors, panel="Q", part="audio")
    assert (heard["judge"], heard["asked"], heard["judge_errors"], heard["judge_error_pct"]) == ("ear", 2, 1, 50.0)
    seen = row(errors, panel="P", part="visual")
    assert (seen["judge"], seen["asked"], seen["unknown"], seen["unknown_pct"]) == ("eye", 5, 1, 20.0)
    assert row(errors, panel="P", part="AQ")["unknown"] == 1
    assert row(errors, panel="Q", part="AQ")["judge"] == "ear"


def test_cost_is_null_while_a_run_is_unpriced() -> None:
    runs = pl.DataFrame(hand_made()["runs"])
    table = cost_table(runs, pl.DataFrame({"system": ["up", "half"], "overall_nv0": [4.0, 1.0]}))
    up, half = row(table, system="up"), row(table, system="half")
    assert [up[c] for c in ("total_usd", "mean_usd", "median_usd", "max_usd")] == [4.0, 2.0, 2.0, 3.0]
    assert up["p90_usd"] == pytest.approx(2.8)
    assert (up["usd_per_playable"], up["overall_per_usd"]) == (2.0, 2.0)
    assert (half["total_usd"], half["priced_usd"], half["usd_per_playable"]) == (None, 2.0, None)
    assert half["reason"] == "1 of 2 runs unpriced"


def test_pareto_keeps_equals_and_drops_the_dominated() -> None:
    table = pl.DataFrame(
        {"system": ["a", "b", "c", "d"], "mean_usd": [1.0, 1.0, 2.0, None], "overall_nv0": [3.0, 3.0, 3.0, 5.0]}
    )
    assert pareto_frontier(table) == ["a", "b"]
