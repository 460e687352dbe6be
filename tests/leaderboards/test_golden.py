"""Figures of the paper that follow from its other tables, by the product's own functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vvb_assets.cost.totals import pareto_frontier, per_playable, per_usd
from vvb_assets.scores.figures import panel_mean

PAPER = Path(__file__).parents[1] / "data" / "paper"
GOLDEN: dict[str, dict[str, Any]] = {
    entry["name"]: entry
    for entry in json.loads((PAPER / "golden_paper.json").read_text())
    if entry["kind"] == "product"
}
MEANS = [name for name in GOLDEN if name.startswith("panel_mean.")]


def paper(name: str) -> pl.DataFrame:
    return pl.read_csv(PAPER / f"{name}.csv")


def holds(name: str, found: dict[str, float]) -> None:
    entry = GOLDEN[name]
    assert found.keys() == entry["expected"].keys()
    for system, value in entry["expected"].items():
        assert found[system] == pytest.approx(value, abs=entry["tolerance"] + 1e-9), system


def test_there_are_ten_panel_means() -> None:
    assert len(MEANS) == 10


@pytest.mark.parametrize("name", MEANS)
def test_panel_mean(name: str) -> None:
    column = name.removeprefix("panel_mean.")
    means = panel_mean(paper("e2_per_panel"), ["J1", "J2", "J3"], [column], ["key"])
    holds(name, dict(means.select("key", column).iter_rows()))


def test_cost_per_playable_and_per_usd() -> None:
    cost = (
        paper("g1_cost")
        .join(paper("f1_outcomes").select("key", "playable"), on="key")
        .with_columns(
            playable_usd=per_playable(pl.col("total_usd"), pl.col("playable")),
            per_usd=per_usd(pl.col("overall_nv0"), pl.col("total_usd") / 239),
        )
    )
    holds("cost.per_playable", dict(cost.select("key", "playable_usd").iter_rows()))
    holds("cost.overall_per_usd", dict(cost.select("key", "per_usd").iter_rows()))


def test_pareto_frontier() -> None:
    assert pareto_frontier(paper("g1_cost").with_columns(system="key")) == GOLDEN["cost.pareto"]["expected"]
