"""Figures of the paper's human study that follow from its other tables, by the product's own functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from vvb_assets.human.ranks import rank_agreement
from vvb_assets.human.wilson import wilson_interval

PAPER = Path(__file__).parents[1] / "data" / "paper"
GOLDEN: dict[str, dict[str, Any]] = {
    entry["name"]: entry
    for entry in json.loads((PAPER / "golden_paper.json").read_text())
    if entry["kind"] == "product"
}
COUNTS = {"astra": (36, 46), "opus": (43, 58), "sonnet": (23, 34), "argon": (34, 56), "deepseek": (23, 45)}
COUNTS |= {"kimi": (22, 49), "glm": (18, 48), "flash": (8, 47), "sol": (7, 45)}
METRICS = {
    "overall_deliv": ("e1_leaderboard", "overall_deliv"),
    "l2_pass_deliv": ("e1_leaderboard", "l2_pass_deliv_pct"),
    "strict(no-video fails)": ("e1_leaderboard", "strict_pct"),
    "overall_nv0": ("e1_leaderboard", "overall_nv0"),
    "delivery": ("f1_outcomes", "playable"),
}
H2 = sorted(name for name in GOLDEN if name.startswith("h2."))


def column(file: str, name: str, panel: str | None = None) -> dict[str, float | None]:
    frame = pl.read_csv(PAPER / f"{file}.csv")
    frame = frame if panel is None else frame.filter(pl.col("panel") == panel)
    return dict(frame.select("key", pl.col(name).cast(pl.Float64)).iter_rows())


ELO = column("h1_human", "bt_elo")


def test_wilson_as_published() -> None:
    for system, (wins, games) in COUNTS.items():
        low, high = wilson_interval(wins, games) or (None, None)
        for name, value in (("win_rate", wins / games), ("wilson_lo", low), ("wilson_hi", high)):
            entry = GOLDEN[f"wilson.{name}"]
            assert value == pytest.approx(entry["expected"][system], abs=entry["tolerance"]), (name, system)


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 50), (36, 46), (214, 429), (1, 10_000)])
def test_wilson_as_statsmodels(wins: int, games: int) -> None:
    expected = proportion_confint(wins, games, alpha=0.05, method="wilson")
    assert wilson_interval(wins, games) == pytest.approx(expected, abs=1e-9)


def test_wilson_without_games() -> None:
    assert wilson_interval(0, 0) is None


def test_there_are_ten_metric_correlations() -> None:
    assert len(H2) == 10


@pytest.mark.parametrize("name", H2)
def test_human_elo_against_a_metric(name: str) -> None:
    _, coefficient, metric = name.split(".", 2)
    found = rank_agreement(ELO, column(*METRICS[metric]))
    assert getattr(found, coefficient) == pytest.approx(GOLDEN[name]["expected"], abs=GOLDEN[name]["tolerance"])
    assert found.n == 9


@pytest.mark.parametrize("panel", ["J1", "J2", "J3", "mean"])
def test_human_elo_against_a_panel(panel: str) -> None:
    judged = column("e1_leaderboard", "overall_deliv") if panel == "mean" else None
    judged = judged or column("e2_per_panel", "overall_deliv", panel)
    entry = GOLDEN[f"human_vs_judge_system_rho.{panel}"]
    assert rank_agreement(ELO, judged).spearman == pytest.approx(entry["expected"], abs=entry["tolerance"])


def test_rank_coefficients_as_scipy() -> None:
    delivery = column("f1_outcomes", "playable")
    found = rank_agreement(ELO, delivery)
    x, y = [ELO[k] for k in ELO], [delivery[k] for k in ELO]
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.kendall_tau_b == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert found.kendall_tau_a != found.kendall_tau_b  # two systems deliver equally often


def test_rank_coefficients_of_nothing() -> None:
    assert rank_agreement({"a": 1.0}, {"a": 2.0}).reason == "1 system with both figures: too few to rank"
    equal = rank_agreement({"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 3.0 + 1e-12})
    assert (equal.spearman, equal.kendall_tau_a, equal.kendall_tau_b) == (None, 0.0, None)
    assert equal.reason == "all systems are equal in one of the two"
    assert rank_agreement({"a": None, "b": 2.0}, {"a": 3.0}).n == 0
