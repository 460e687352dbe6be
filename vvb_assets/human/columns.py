"""What the tables of the human study are and what their columns mean."""

from __future__ import annotations

from collections.abc import Mapping

from vvb_resources.store.tables import TableSpec

MEANINGS: Mapping[str, str] = {
    "rank": "1 = strongest; equals share a rank; null without a strength",
    "system": "id of the agent system",
    "opponent": "id of the system it is compared with",
    "tier": "no two systems of a tier can be told apart (neither above the other in 97.5% of resamples)",
    "strength": "Bradley-Terry strength; geometric mean 1",
    "elo": "400 log10(strength), geometric mean at 1000",
    "elo_low": "lower end of the 95% bootstrap interval of elo",
    "elo_high": "upper end of the 95% bootstrap interval of elo",
    "rank_low": "2.5th percentile of the rank over the resamples",
    "rank_high": "97.5th percentile of the rank over the resamples",
    "wins": "votes won (a tie is half a win where ties are counted so)",
    "losses": "votes lost",
    "games": "votes that count: decisive ones (and ties where they are counted so)",
    "win_rate": "wins / games, 0-1",
    "win_low": "lower end of the Wilson 95% interval of win_rate",
    "win_high": "upper end of the Wilson 95% interval of win_rate",
    "ties": "votes that call the two equal",
    "both_bad": "votes that call both bad",
    "p_above_next": "share of resamples in which the system is above the next one, equals half",
    "p_above": "share of resamples in which the system is above the opponent, equals half",
    "panel": "id of the judge panel; 'mean' = mean over the panels at work",
    "systems": "number of systems with both figures",
    "spearman": "Spearman's rho over systems: human Elo against the figure",
    "kendall_tau_a": "Kendall's tau-a over systems (ties count 0), as the paper prints",
    "kendall_tau_b": "Kendall's tau-b over systems (corrected for ties)",
    "decisive": "decisive votes on pairs whose two runs are judged whole",
    "unjudged": "decisive votes on pairs that are not",
    "judge_ties": "of the decisive votes, those whose two videos have equal scores",
    "tie_pct": "judge_ties / decisive, percent",
    "agreed": "of the decisive votes without a judge tie, those whose winner scores higher",
    "agreement_pct": "agreed / (decisive - judge_ties), percent",
    "agreement_low_pct": "lower end of the Wilson 95% interval of agreement_pct",
    "agreement_high_pct": "upper end of the Wilson 95% interval of agreement_pct",
    "margin": "difference of the two videos' scores, 1-5 scale",
    "pairs": "votes in the row",
    "share_pct": "share of the decisive votes without a judge tie, percent",
    "choice": "decisive (A or B), tie or both_bad",
    "mean_score": "mean score of the videos of the pairs, 1-5; each pair counts both its videos",
    "both_below_pct": "pairs with both videos below 3.5, percent",
    "human_win_pct": "share of decisive votes that the system won, percent",
    "judge_win_pct": "share of the same pairs that it wins by the judges' scores, ties half, percent",
    "human_minus_judge_pts": "human_win_pct - judge_win_pct, percentage points",
    "metric": "figure of the leaderboard, mean over panels",
    "reason": "why a value is null",
}
HEADERS: Mapping[str, str] = {
    "rank": "#",
    "system": "System",
    "opponent": "Opponent",
    "panel": "Panel",
    "tier": "Tier",
    "elo": "Elo",
    "elo_low": "Elo low",
    "elo_high": "Elo high",
    "rank_low": "Rank low",
    "rank_high": "Rank high",
    "wins": "Wins",
    "games": "Games",
    "win_rate": "Win rate",
    "win_low": "Wilson low",
    "win_high": "Wilson high",
    "p_above_next": "P(above next)",
    "spearman": "Spearman",
    "kendall_tau_a": "Kendall τa",
    "kendall_tau_b": "Kendall τb",
    "agreement_pct": "Agreement %",
    "tie_pct": "Judge ties %",
    "metric": "Metric",
    "margin": "Margin",
    "reason": "Note",
}


def _spec(title: str, *columns: str, shown: tuple[str, ...] = ()) -> TableSpec:
    return TableSpec(title, {c: MEANINGS[c] for c in columns}, {c: HEADERS[c] for c in columns if c in HEADERS}, shown)


FIT_COLUMNS = (  # of `vvb fit --json`
    *("system", "strength", "elo", "elo_low", "elo_high", "rank_low", "rank_high"),
    *("wins", "games", "win_rate", "win_low", "win_high"),
)
RATING_TABLES: Mapping[str, TableSpec] = {
    "bradley_terry": _spec(
        "Human preference: Bradley-Terry",
        *("rank", *FIT_COLUMNS, "tier", "p_above_next", "ties", "both_bad", "reason"),
        shown=(
            *("rank", "system", "win_rate", "win_low", "win_high", "elo", "elo_low", "elo_high"),
            *("rank_low", "rank_high", "tier", "p_above_next", "wins", "games", "reason"),
        ),
    ),
    "human_win_matrix": _spec(
        "Human preference: every system against every other",
        *("system", "opponent", "wins", "losses", "ties", "both_bad", "p_above", "reason"),
    ),
}
_RANKS = ("spearman", "kendall_tau_a", "kendall_tau_b")
AGREEMENT_TABLES: Mapping[str, TableSpec] = {
    "human_judge_agreement": _spec(
        "People against judges",
        *("panel", "systems", *_RANKS, "decisive", "unjudged", "judge_ties", "tie_pct", "agreed"),
        *("agreement_pct", "agreement_low_pct", "agreement_high_pct", "reason"),
        shown=("panel", *_RANKS, "decisive", "tie_pct", "agreement_pct", "reason"),
    ),
    "human_by_margin": _spec(
        "People against judges, by the margin of the judges' scores",
        *("panel", "margin", "pairs", "share_pct", "agreed", "agreement_pct"),
        *("agreement_low_pct", "agreement_high_pct", "reason"),
    ),
    "human_both_bad": _spec(
        "Judges' scores where people call both videos bad",
        *("panel", "choice", "pairs", "mean_score", "both_below_pct", "reason"),
    ),
    "human_preference_gap": _spec(
        "Systems that people and judges prefer differently",
        *("panel", "system", "decisive", "human_win_pct", "judge_win_pct", "human_minus_judge_pts", "reason"),
    ),
    "human_metrics": _spec("Human Elo against the leaderboard's figures", "metric", "systems", *_RANKS, "reason"),
}
HUMAN_TABLES: Mapping[str, TableSpec] = {**RATING_TABLES, **AGREEMENT_TABLES}
