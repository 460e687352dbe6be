"""People against judges: pair by pair, by margin, on "both bad", and over systems.

A judge prefers the video whose run has the higher overall (mean of its known dimensions); 'mean' is the mean of the
panels at work, only where all of them have judged both runs. Equal overalls are a judge tie. Source: the paper's
human study and table of agreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from vvb_assets.human.columns import AGREEMENT_TABLES
from vvb_assets.human.ranks import RankAgreement, rank_agreement
from vvb_assets.human.tables import absent, as_table
from vvb_assets.human.wilson import wilson_interval
from vvb_assets.scores.figures import active_panels, panel_figures, panel_mean, percent
from vvb_assets.scores.ranks import RANK_DECIMALS

MEAN = "mean"
MARGINS = (("< 0.2", 0.0, 0.2), ("0.2 - 0.5", 0.2, 0.5), (">= 0.5", 0.5, float("inf")))
LOW_SCORE = 3.5  # of the "both bad" audit
METRICS = ("overall_deliv", "l2_pass_deliv_pct", "strict_pct", "overall_nv0")


def judged_votes(votes: pl.DataFrame, stats: pl.DataFrame) -> pl.DataFrame:
    """One row per (panel or 'mean', vote): both videos' scores as `score_a`, `score_b`, null where not both are judged.

    Columns: panel, task, system_a, system_b, choice, score_a, score_b, gap (a - b, rounded to nine decimals so that
    equal means are ties). `stats` are `run_statistics` rows; a run that is not delivered has no score here.
    """
    panels = active_panels(stats)
    runs = stats.filter(pl.col("delivered").fill_null(False) & pl.col("panel").is_in(panels))
    runs = runs.select("panel", "system", "task", score=pl.when(pl.col("l3_judged")).then(pl.col("run_overall")))
    means = runs.group_by("system", "task", maintain_order=True).agg(
        score=pl.when(pl.col("score").count() == len(panels)).then(pl.col("score").sort().mean())
    )
    scores = pl.concat([runs, means.select(pl.lit(MEAN).alias("panel"), "system", "task", "score")])
    names = pl.DataFrame({"panel": [*panels, MEAN]})
    texts = votes.select(pl.col("task", "system_a", "system_b", "choice").cast(pl.String))
    table = names.join(texts, how="cross", maintain_order="left_right")
    for side in ("a", "b"):
        table = table.join(
            scores.rename({"system": f"system_{side}", "score": f"score_{side}"}),
            on=["panel", f"system_{side}", "task"],
            how="left",
            maintain_order="left",
        )
    return table.with_columns(gap=(pl.col("score_a") - pl.col("score_b")).round(RANK_DECIMALS))


def pair_agreement(judged: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """By panel: decisive, unjudged, judge_ties, tie_pct, agreed, agreement_pct with its Wilson interval."""
    found = {}
    for name, rows in _by_panel(judged):
        decisive = rows.filter(pl.col("choice").is_in(["A", "B"]))
        known = decisive.drop_nulls("gap")
        ties = known.filter(pl.col("gap") == 0).height
        agreed, asked = _agreed(known)
        reason = None
        if not decisive.height:
            reason = "no decisive vote"
        elif not asked:
            reason = "no decisive vote on judged runs" if not known.height else "the judges tie on every pair"
        found[name] = {
            "decisive": known.height,
            "unjudged": decisive.height - known.height,
            "judge_ties": ties,
            "tie_pct": 100 * ties / known.height if known.height else None,
            "agreed": agreed,
            **_share(agreed, asked),
            "pair_reason": reason,
        }
    return found


def by_margin(judged: pl.DataFrame) -> pl.DataFrame:
    """Agreement on decisive votes by the size of the judges' gap; a judge tie is in no row."""
    rows = []
    for name, part in _by_panel(judged):
        known = part.filter(pl.col("choice").is_in(["A", "B"]) & (pl.col("gap") != 0))
        size = pl.col("gap").abs()
        for label, low, high in MARGINS:
            inside = known.filter((size >= low) & (size < high))
            agreed, asked = _agreed(inside)
            share = 100 * asked / known.height if known.height else None
            why = "no such pair" if known.height else "no decisive vote that the judges decide"
            row = {"panel": name, "margin": label, "pairs": asked, "share_pct": share, "agreed": agreed}
            rows.append(row | _share(agreed, asked) | {"reason": None if asked else why})
    return as_table("human_by_margin", rows)


def both_bad_audit(judged: pl.DataFrame) -> pl.DataFrame:
    """Mean score of the videos by what people chose, and the share of pairs with both videos under 3.5."""
    rows: list[dict[str, Any]] = []
    for name, part in _by_panel(judged):
        for label, choices in (("decisive", ["A", "B"]), ("tie", ["tie"]), ("both_bad", ["both_bad"])):
            pairs = part.filter(pl.col("choice").is_in(choices))
            known = pairs.drop_nulls("gap")
            both = known.select(
                mean=pl.mean_horizontal("score_a", "score_b").mean(),
                low=percent(((pl.col("score_a") < LOW_SCORE) & (pl.col("score_b") < LOW_SCORE)).sum(), pl.len()),
            ).row(0)
            reason = None if known.height else ("not judged" if pairs.height else "no such vote")
            rows.append(
                {"panel": name, "choice": label, "pairs": known.height, "mean_score": both[0]}
                | {"both_below_pct": both[1], "reason": reason}
            )
    return as_table("human_both_bad", rows)


def preference_gap(judged: pl.DataFrame) -> pl.DataFrame:
    """Per panel and system: how often people prefer its video, against how often the judges' scores do."""
    decisive = judged.filter(pl.col("choice").is_in(["A", "B"])).drop_nulls("gap")
    won_a = (pl.col("choice") == "A").cast(pl.Float64)
    judge_a = 0.5 + 0.5 * pl.col("gap").sign()
    sides = [
        decisive.select("panel", system="system_a", human=won_a, judge=judge_a),
        decisive.select("panel", system="system_b", human=1 - won_a, judge=1 - judge_a),
    ]
    table = (
        pl.concat(sides)
        .group_by("panel", "system")
        .agg(decisive=pl.len().cast(pl.Int64), human=100 * pl.col("human").mean(), judge=100 * pl.col("judge").mean())
        .with_columns(gap=pl.col("human") - pl.col("judge"))
        .sort(pl.col("panel") == MEAN, "panel", -pl.col("gap"), "system")
    )
    if table.is_empty():
        return absent("human_preference_gap", "no decisive vote on judged runs")
    return as_table(
        "human_preference_gap",
        [
            {"panel": p, "system": s, "decisive": n, "human_win_pct": h, "judge_win_pct": j, "human_minus_judge_pts": g}
            for p, s, n, h, j, g in table.iter_rows()
        ],
    )


def system_agreement(elo: Mapping[str, float | None], stats: pl.DataFrame) -> dict[str, RankAgreement]:
    """By panel, and for the mean over panels: human Elo against the delivered overall, over systems."""
    figures, panels = panel_figures(stats), active_panels(stats)
    found = {}
    for panel in panels:
        part = figures.filter(pl.col("panel") == panel)
        found[panel] = rank_agreement(elo, dict(part.select("system", "overall_deliv").iter_rows()))
    means = panel_mean(figures, panels, ["overall_deliv"])
    found[MEAN] = rank_agreement(elo, dict(means.select("system", "overall_deliv").iter_rows()))
    return found


def metric_agreement(elo: Mapping[str, float | None], stats: pl.DataFrame) -> pl.DataFrame:
    """Human Elo against the leaderboard's figures: which of them orders the systems as people do."""
    figures, panels = panel_figures(stats), active_panels(stats)
    means = panel_mean(figures, panels, list(METRICS))
    measures: dict[str, dict[str, float | None]] = {m: dict(means.select("system", m).iter_rows()) for m in METRICS}
    runs = stats.unique(["system", "task"], keep="first", maintain_order=True)
    rate = runs.group_by("system", maintain_order=True).agg(
        percent(pl.col("delivered").sum(), pl.col("delivered").count())
    )
    measures["delivery_pct"] = dict(rate.iter_rows())
    rows = []
    for metric, values in measures.items():
        agreement = rank_agreement(elo, values)
        rows.append({"metric": metric, **_ranks(agreement), "reason": agreement.reason})
    return as_table("human_metrics", rows)


def agreement_tables(
    elo: Mapping[str, float | None], votes: pl.DataFrame, stats: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Every table of AGREEMENT_TABLES, from the systems' human Elo, the votes and `run_statistics` rows.

    Without a vote, or a panel that has judged anything, each is one row of nulls with the reason.
    """
    reason = "no votes" if votes.is_empty() else "no panel has judged anything"
    if votes.is_empty() or stats.drop_nulls("panel").is_empty():
        return {name: absent(name, reason) for name in AGREEMENT_TABLES}
    judged = judged_votes(votes, stats)
    pairs, systems = pair_agreement(judged), system_agreement(elo, stats)
    rows = []
    for panel, counts in pairs.items():
        reasons = [counts.pop("pair_reason"), systems[panel].reason]
        text = "; ".join(dict.fromkeys(r for r in reasons if r)) or None
        rows.append({"panel": panel, **_ranks(systems[panel]), **counts, "reason": text})
    return {
        "human_judge_agreement": as_table("human_judge_agreement", rows),
        "human_by_margin": by_margin(judged),
        "human_both_bad": both_bad_audit(judged),
        "human_preference_gap": preference_gap(judged),
        "human_metrics": metric_agreement(elo, stats),
    }


def _ranks(agreement: RankAgreement) -> dict[str, Any]:
    return {
        "systems": agreement.n,
        "spearman": agreement.spearman,
        "kendall_tau_a": agreement.kendall_tau_a,
        "kendall_tau_b": agreement.kendall_tau_b,
    }


def _by_panel(judged: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    names = judged["panel"].unique(maintain_order=True).to_list()
    return [(name, judged.filter(pl.col("panel") == name)) for name in names]


def _agreed(decided: pl.DataFrame) -> tuple[int, int]:
    """Of decisive votes with a known gap: how many the judges' scores order the same way, and how many they order."""
    ordered = decided.filter(pl.col("gap") != 0)
    same = (ordered["gap"] > 0) == (ordered["choice"] == "A")
    return int(same.sum()), ordered.height


def _share(agreed: int, asked: int) -> dict[str, float | None]:
    bounds = wilson_interval(agreed, asked)
    return {
        "agreement_pct": 100 * agreed / asked if asked else None,
        "agreement_low_pct": 100 * bounds[0] if bounds else None,
        "agreement_high_pct": 100 * bounds[1] if bounds else None,
    }
