"""Uncertainty, agreement, leniency, self-preference and re-rankings: by hand, by naive loops, against statsmodels."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from tests.scores.naive import DIMS, Rows
from tests.scores.sets import hand_made, result_rows, to_results
from vvb_assets.leaderboards.agreement import PairOrdering, check_agreement
from vvb_assets.leaderboards.leniency import offset
from vvb_assets.leaderboards.score import score_results
from vvb_assets.scores.families import kinship, system_families

relaxed = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
PANELS = pl.DataFrame(
    {"panel": ["P", "Q"], "judge_system": ["up", None], "judge_family": ["f", "g"], "dims": [None, "VQ|VA|CL|TM|AQ"]}
)
SYSTEMS = pl.DataFrame({"system": ["up", "half"], "lab": ["L", "M"], "family": [None, "f"]})


def scored(rows: Rows, **more: Any) -> dict[str, pl.DataFrame]:
    return score_results(to_results(rows, **more).validate(), resamples=200, seed=1)


def row(table: pl.DataFrame, **key: str) -> dict[str, Any]:
    found = table.filter(*[pl.col(k) == v for k, v in key.items()])
    assert len(found) == 1
    return found.row(0, named=True)


def near(found: float | None, expected: float | None) -> None:
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


# --- by hand, on the two systems, two tasks and two panels of `hand_made`


def test_uncertainty_by_hand() -> None:
    """up: t1 (4 + 5) / 2, t2 (3.8 + 4.8) / 2; half: t1 (3 + 3) / 2, t2 no video. Means 4.4 and 1.5."""
    tables = scored(hand_made())
    up, half = (row(tables["uncertainty"], system=s) for s in ("up", "half"))
    near(up["mean"], 4.4)
    near(half["mean"], 1.5)
    near(half["deliv_mean"], 3.0)
    near(up["low"], 4.3)  # two tasks: a resample is one of t1 t1, t1 t2, t2 t2
    near(up["high"], 4.5)
    assert (half["low"], half["high"]) == (0.0, 3.0)
    assert (half["deliv_low"], half["deliv_high"]) == (3.0, 3.0)  # resamples without t1 have no delivered mean
    assert (up["next_system"], up["p_greater"], up["wins"], up["losses"], up["ties"]) == ("half", 1.0, 2, 0, 0)
    assert (up["rank_low"], up["rank_high"], half["rank_low"], half["rank_high"]) == (1, 1, 2, 2)
    assert half["reason"] == "no system below to compare with"
    near(row(tables["pairwise"], system_a="up", system_b="half")["difference"], 2.9)


def test_agreement_by_hand() -> None:
    """Both decided: up t1 a (pass pass), c (fail pass); half t1 a (fail pass), b (pass pass)."""
    found = row(scored(hand_made())["agreement"], panel_a="P", panel_b="Q")
    assert (found["checks"], found["check_agreement_pct"], found["kappa"]) == (4, 50.0, 0.0)
    near(found["spearman"], 1.0)
    near(found["kendalls_w"], 1.0)
    assert (found["systems"], found["videos"], found["pairs"]) == (2, 3, 1)
    assert (found["pair_ordering_pct"], found["pair_tie_pct"]) == (100.0, 0.0)
    near(found["pearson"], float(np.corrcoef([4, 3.8, 3], [5, 4.8, 3])[0, 1]))


def test_leniency_by_hand() -> None:
    """P - Q over three videos: 4 - 5, 3.8 - 4.8, 3 - 3; in AQ only two have both."""
    tables = scored(hand_made())
    p, q = (row(tables["scale_use"], panel=x) for x in ("P", "Q"))
    near(p["leniency"], -2 / 3)
    near(q["leniency"], 2 / 3)
    near(p["offset"], -1 / 3)
    assert p["videos"] == 3
    near(p["score4_pct"], 100 * 7 / 15)
    near(p["score_unknown_pct"], 100 / 15)
    near(p["spread_deliv"], (3 + 4 + 4 + 4 + 5) / 5 - 3)
    heard = row(tables["leniency"], panel="P", system="all", part="AQ")
    assert (heard["leniency"], heard["videos"]) == (1.5, 2)  # 5 - 4 and 3 - 1
    near(row(tables["leniency"], panel="P", system="up", part="overall")["leniency"], -1.0)
    assert offset(0.3, 3) == pytest.approx(0.2)


def test_self_preference_by_hand() -> None:
    """P - Q on the four visual dimensions: up 4 - 5, 3.5 - 5; half 3 - 3.5. Mean -1; up -1.25, half -0.5."""
    table = scored(hand_made(), panels=PANELS, systems=SYSTEMS)["self_preference"]
    near(row(table, panel="P", compared="system", system="up")["relative_score"], -0.25)
    near(row(table, panel="P", compared="system", system="half")["relative_score"], 0.5)
    own = row(table, panel="P", compared="own model")
    near(own["relative_score"], -0.75)
    assert (own["system"], own["videos"], own["own"]) == ("up", 2, True)
    assert row(table, panel="P", compared="own family")["reason"] == "there are no other videos"
    assert row(table, panel="Q", compared="own model")["reason"] == "no system is the panel's own model"


def test_reranking_by_hand() -> None:
    """Without P, its own model `up` is judged by Q alone; both are of P's family, so the family order is Q's too."""
    table = scored(hand_made(), panels=PANELS, systems=SYSTEMS)["reranking"]
    near(row(table, method="without own panel", system="up")["score"], 4.9)
    near(row(table, method="without own panel", system="half")["score"], 1.5)
    near(row(table, method="without family", system="half")["score"], 1.5)
    shifted = row(table, method="without family, shifted", system="half")
    near(shifted["score"], 1.5 - 0.5 / 3)  # Q's offset is 1/3, on half of the tasks
    assert (shifted["panels"], shifted["headline_rank"], shifted["kendall_tau"]) == ("Q", 2, 1.0)


def test_families_are_named_or_follow_from_judges() -> None:
    results = to_results(hand_made(), panels=PANELS, systems=SYSTEMS).validate()
    assert system_families(results) == {"half": "f", "up": "f"}  # half by its row, up by its judge
    same_lab = SYSTEMS.select("system", lab=pl.lit("L"))
    kin = kinship(to_results(hand_made(), panels=PANELS, systems=same_lab).validate())
    assert kin.families == {"P": {"up", "half"}, "Q": set()}
    assert kin.models == {"P": {"up"}, "Q": set()}
    deaf = PANELS.with_columns(dims=pl.Series(["AQ", "AQ"]))
    heard = kinship(to_results(hand_made(), panels=deaf, systems=SYSTEMS).validate())
    assert (heard.models["P"], heard.visual_models["P"]) == ({"up"}, frozenset())


# --- against loops over plain rows, and a peer


@settings(deadline=None)
@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_kappa_equals_statsmodels(cells: tuple[int, int, int, int]) -> None:
    found = check_agreement(*cells)
    if sum(cells) == 0:
        assert (found.agreement_pct, found.kappa) == (None, None)
        return
    oracle = cohens_kappa(np.array(cells).reshape(2, 2), return_results=False) if found.kappa is not None else None
    near(found.kappa, None if oracle is None else float(oracle))
    one_verdict = cells[1:] == (0, 0, 0) or cells[:3] == (0, 0, 0)
    assert (found.kappa is None) == one_verdict


def overall(rows: Rows, panel: str, run: dict[str, Any]) -> float | None:
    """Run overall of one panel: mean of known dimensions; 0 without a video."""
    if not run["delivered"]:
        return 0.0
    key = (panel, run["system"], run["task"])
    known = [
        s["score"] for s in rows["scores"] if (s["panel"], s["system"], s["task"]) == key and s["score"] is not None
    ]
    return sum(known) / len(known) if known else None


def at_work(rows: Rows) -> list[str]:
    made = any(r["delivered"] for r in rows["runs"])
    return sorted({x["panel"] for n in ("verdicts", "scores") for x in rows[n]}) if made else []


@relaxed
@given(result_rows())
def test_agreement_equals_naive(rows: Rows) -> None:
    table = scored(rows)["agreement"]
    panels = at_work(rows)
    for a, b in combinations(panels, 2):
        found = row(table, panel_a=a, panel_b=b)
        decided: dict[tuple[str, ...], dict[str, str]] = {}
        for v in rows["verdicts"]:
            if v["verdict"] in ("pass", "fail"):
                decided.setdefault((v["system"], v["task"], v["check"]), {})[v["panel"]] = v["verdict"]
        both = [(d[a], d[b]) for d in decided.values() if a in d and b in d]
        assert found["checks"] == len(both)
        near(found["check_agreement_pct"], 100 * sum(x == y for x, y in both) / len(both) if both else None)
        videos = {
            (r["system"], r["task"]): [overall(rows, p, r) for p in (a, b)] for r in rows["runs"] if r["delivered"]
        }
        shared = {k: v for k, v in videos.items() if None not in v}
        assert found["videos"] == len(shared)
        pairs = [(shared[x], shared[y]) for x, y in combinations(shared, 2) if x[1] == y[1]]
        gaps = [(round(x[0] - y[0], 9), round(x[1] - y[1], 9)) for x, y in pairs]  # type: ignore[operator]
        untied = [(g, h) for g, h in gaps if g and h]
        assert found["pairs"] == len(pairs)
        near(found["pair_ordering_pct"], 100 * sum(g * h > 0 for g, h in untied) / len(untied) if untied else None)
        near(found["pair_tie_pct"], 100 * (len(gaps) - len(untied)) / len(gaps) if gaps else None)


@relaxed
@given(result_rows())
def test_leniency_and_tasks_won_equal_naive(rows: Rows) -> None:
    tables, panels = scored(rows), at_work(rows)
    for panel in panels:
        gaps = []
        for run in rows["runs"]:
            values = {p: overall(rows, p, run) for p in panels}
            if run["delivered"] and len(panels) > 1 and None not in values.values():
                rest = [v for p, v in values.items() if p != panel]
                gaps.append(values[panel] - sum(rest) / len(rest))  # type: ignore[operator,arg-type]
        near(row(tables["scale_use"], panel=panel)["leniency"], sum(gaps) / len(gaps) if gaps else None)
    scores = {(r["system"], r["task"]): [overall(rows, p, r) for p in panels] for r in rows["runs"]}
    for pair in tables["pairwise"].drop_nulls("system_a").to_dicts():
        signs = []
        for task in {r["task"] for r in rows["runs"]}:
            x, y = scores[pair["system_a"], task], scores[pair["system_b"], task]
            if None not in x and None not in y:
                signs.append(np.sign(round(sum(x) / len(x) - sum(y) / len(y), 9)))  # type: ignore[arg-type]
        assert (pair["wins"], pair["losses"], pair["ties"]) == tuple(signs.count(s) for s in (1, -1, 0))


def test_ordering_of_nothing_does_not_exist() -> None:
    assert (PairOrdering(0, 0, 0).accuracy_pct, PairOrdering(0, 0, 0).tie_pct) == (None, None)
    assert (PairOrdering(2, 2, 0).accuracy_pct, PairOrdering(2, 2, 0).tie_pct) == (None, 100.0)


def test_a_system_is_even_with_its_copy() -> None:
    """Every resample ties: P = 0.5 exactly, and every task is a tie."""
    rows = hand_made()
    for name in ("runs", "verdicts", "scores"):
        rows[name] += [{**r, "system": "twin"} for r in rows[name] if r["system"] == "up"]
    pair = row(scored(rows)["pairwise"], system_a="twin", system_b="up")
    assert [pair[c] for c in ("difference", "p_greater", "wins", "losses", "ties")] == [0.0, 0.5, 0, 0, 2]


def test_dimensions_here_are_those_of_the_naive_code() -> None:
    assert DIMS[:-1] == ["VQ", "VA", "CL", "TM"]
