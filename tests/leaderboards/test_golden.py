"""Figures of the paper that follow from its other tables, by the product's own functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vvb_assets.cost.totals import pareto_frontier, per_playable, per_usd
from vvb_assets.leaderboards.leniency import offset
from vvb_assets.leaderboards.reranking import kendall_with, reranked
from vvb_assets.scores.figures import panel_mean
from vvb_assets.scores.ranks import kendall, kendalls_w, permutation_test, spearman

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


def column(table: str, name: str, panel: str | None = None) -> dict[str, float]:
    """A column of a paper's table by system; of one panel, if the table has panels."""
    frame = paper(table) if panel is None else paper(table).filter(pl.col("panel") == panel)
    return dict(frame.select("key", pl.col(name).cast(pl.Float64)).iter_rows())


def aligned(a: dict[str, float], b: dict[str, float]) -> tuple[list[float], list[float]]:
    assert a.keys() == b.keys()
    assert len(a) == 9
    return list(a.values()), [b[k] for k in a]


def near(name: str, found: float | None) -> None:
    assert found == pytest.approx(GOLDEN[name]["expected"], abs=GOLDEN[name]["tolerance"] + 1e-9)


@pytest.mark.parametrize("pair", ["J1-J2", "J1-J3", "J2-J3"])
def test_panels_order_systems_alike(pair: str) -> None:
    a, b = (column("e2_per_panel", "overall_nv0", p) for p in pair.split("-"))
    near(f"panel_spearman.{pair}", spearman(*aligned(a, b)))


def test_concordance_of_three_panels() -> None:
    first, *others = (column("e2_per_panel", "overall_nv0", p) for p in ("J1", "J2", "J3"))
    near("kendalls_W", kendalls_w([list(first.values()), *(aligned(first, o)[1] for o in others)]))


@pytest.mark.parametrize("panel", ["J1", "J2", "J3", "mean"])
def test_panels_order_systems_as_people_do(panel: str) -> None:
    elo = column("h1_human", "bt_elo")
    if panel == "mean":
        means = panel_mean(paper("e2_per_panel"), ["J1", "J2", "J3"], ["overall_deliv"], ["key"])
        overall = dict(means.select("key", "overall_deliv").iter_rows())
    else:
        overall = column("e2_per_panel", "overall_deliv", panel)
    near(f"human_vs_judge_system_rho.{panel}", spearman(*aligned(elo, overall)))


METRICS = {
    "overall_deliv": ("e1_leaderboard", "overall_deliv"),
    "l2_pass_deliv": ("e1_leaderboard", "l2_pass_deliv_pct"),
    "strict(no-video fails)": ("e1_leaderboard", "strict_pct"),
    "overall_nv0": ("e1_leaderboard", "overall_nv0"),
    "delivery": ("f1_outcomes", "playable"),
}


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_against_people(metric: str) -> None:
    x, y = aligned(column("h1_human", "bt_elo"), column(*METRICS[metric]))
    near(f"h2.spearman.{metric}", spearman(x, y))
    near(f"h2.kendall_tau_a.{metric}", kendall(x, y).tau_a)


def test_the_paper_prints_tau_a() -> None:
    """Delivery has ties: tau-b would be 0.479, the paper prints 0.47."""
    x, y = aligned(column("h1_human", "bt_elo"), column("f1_outcomes", "playable"))
    assert kendall(x, y).tau_b == pytest.approx(0.479, abs=0.0005)


def test_cost_against_score() -> None:
    usd = column("g1_cost", "mean_usd")
    test = permutation_test(*aligned(usd, column("g1_cost", "overall_nv0")), seed=0)
    near("cost.spearman_nv0", test.rho)
    near("cost.permutation_p", test.p)
    assert (test.exact, test.orders) == (True, 362_880)
    near("cost.spearman_deliv", spearman(*aligned(usd, column("e1_leaderboard", "overall_deliv"))))


def test_views_against_quality() -> None:
    x, y = aligned(column("f3_inspection", "mean_views"), column("e1_leaderboard", "overall_deliv"))
    near("f3.views_vs_quality", spearman(x, y))


def _panel_figures() -> pl.DataFrame:
    delivery = paper("f1_outcomes").select("key", delivery_pct=100 * pl.col("playable") / 239)
    return (
        paper("e2_per_panel")
        .drop("system")
        .rename({"key": "system"})
        .join(delivery.rename({"key": "system"}), on="system")
    )


def _offsets() -> dict[str, float]:
    """Offsets of the panels, from the published means: playable-weighted, so a mean over videos."""
    weighted = _panel_figures().with_columns(
        videos=pl.col("delivery_pct"), total=pl.col("overall_deliv") * pl.col("delivery_pct")
    )
    sums = weighted.group_by("panel").agg(pl.col("total").sum() / pl.col("videos").sum())
    level = dict(sums.iter_rows())
    return {p: offset((3 * v - sum(level.values())) / 2, 3) for p, v in level.items()}


def test_ranking_without_own_panel() -> None:
    own = {"argon": {"J1"}, "flash": {"J2"}, "sol": {"J3"}}
    headline, other = reranked(_panel_figures(), {}), reranked(_panel_figures(), own)
    near("own_panel_excluded_tau", kendall_with(headline, other))
    assert (headline["flash"] or 0) > (headline["glm"] or 0)
    assert (other["flash"] or 0) < (other["glm"] or 0)  # the only two that swap


def test_ranking_without_family_after_the_shift() -> None:
    kin = {"argon": {"J1", "J2"}, "flash": {"J1", "J2"}, "astra": {"J3"}, "sol": {"J3"}}
    headline = reranked(_panel_figures(), {})
    shifted = reranked(_panel_figures(), kin, _offsets())
    near("family_excluded_tau", kendall_with(headline, shifted))
    near("family_excluded_gap", (shifted["astra"] or 0) - (shifted["opus"] or 0))
    unshifted = reranked(_panel_figures(), kin)
    assert (unshifted["opus"] or 0) > (unshifted["astra"] or 0)  # as the paper says


def test_which_entries_are_computed_here() -> None:
    """The rest of the 44: the L1 counts (test_program_checks), Wilson (human study) and BVB's overall."""
    assert len(GOLDEN) == 44
    elsewhere = [n for n in GOLDEN if n.startswith(("l1_check_total", "wilson.", "bvb."))]
    assert len(elsewhere) == 6
