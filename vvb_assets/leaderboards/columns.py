"""What each table is and what its columns mean: for the column schemas of the graph, and for the exports."""

from __future__ import annotations

from collections.abc import Mapping

from vvb_assets.cost.association import SCHEMA as CORRELATION
from vvb_assets.human.columns import HUMAN_TABLES
from vvb_assets.leaderboards.agreement import SCHEMA as AGREEMENT
from vvb_assets.leaderboards.leniency import LENIENCY_SCHEMA as LENIENCY
from vvb_assets.leaderboards.leniency import SCALE_SCHEMA as SCALE_USE
from vvb_assets.leaderboards.main import HUMAN_COLUMNS
from vvb_assets.leaderboards.reranking import SCHEMA as RERANKING
from vvb_assets.leaderboards.self_preference import SCHEMA as SELF_PREFERENCE
from vvb_assets.leaderboards.uncertainty import PAIRWISE_SCHEMA as PAIRWISE
from vvb_assets.leaderboards.uncertainty import UNCERTAINTY_SCHEMA as UNCERTAINTY
from vvb_assets.panels.columns import COST_SPEC
from vvb_resources.benchmark.models import DIMENSIONS
from vvb_resources.store.tables import TableSpec

_DIMENSION_TITLES = {
    "VQ": "visual quality",
    "VA": "visual aesthetics",
    "CL": "content logic",
    "TM": "timing and motion",
    "AQ": "audio quality",
}
MEANINGS: Mapping[str, str] = {
    "rank": "1 = highest overall_nv0; equals share a rank; null while runs or judgments are missing",
    "system": "id of the agent system",
    "name": "name of the system",
    "lab": "who made the model",
    "harness": "agent harness it runs in",
    "panel": "id of the judge panel; 'mean' = unweighted mean over the panels at work",
    "panels": "panels the means are over: those that have judged a delivered run",
    "judge": "the judge of the panel that the part is routed to",
    "tasks": "number of tasks",
    "runs": "number of runs made, delivered or not",
    "delivered": "number of runs with a playable video",
    "playable": "number of runs with a playable video",
    "missing_runs": "number of runs not made yet",
    "missing_panels": "panels that have not judged every delivered run of the system",
    "incomplete_runs": "judgments (run x panel) with a missing verdict, a judge error or a missing score row",
    "judged_runs": "number of delivered runs with verdicts and scores of the panel",
    "unjudged_l2": "number of delivered runs without a verdict of the panel",
    "unjudged_l3": "number of delivered runs without a score of the panel",
    "judge_errors": "number of checks a judge could not answer",
    "complete": "every run made and judged, without a judge error",
    "reason": "why a value is null or the row incomplete",
    "delivery_pct": "share of runs with a playable video, percent",
    "spec_pct": "share of tasks whose run passes every applicable program check, percent; no video fails",
    "l2_pass_deliv_pct": "L2: passed / (passed + failed) checks of delivered runs, percent",
    "l2_pass_nv0_pct": "L2: the same with every check of a missing video as failed, percent",
    "core_pass_deliv_pct": "L2: pass rate of core checks, delivered runs, percent",
    "detail_pass_deliv_pct": "L2: pass rate of detail checks, delivered runs, percent",
    "gap_pts": "core minus detail pass rate, percentage points",
    "strict_pct": "share of tasks without a failed core check and with a passed one, percent; no video fails",
    "all_core_pct": "share of tasks whose core checks all pass or are n/a, one passing, percent; no video fails",
    "clean_pct": "share of tasks without any failed check and with a passed one, percent; no video fails",
    "overall_deliv": "L3: mean of the five dimension means over delivered runs, 1-5",
    "overall_nv0": "L3: the same with a missing video as 0 in every dimension, 0-5",
    "run_overall": "L3: mean over runs of the run's mean over its known dimensions, no video 0; 0-5",
    "unknown_pct": "share of unknown among all checks (scores) of delivered, judged runs, percent",
    "judge_error_pct": "share of judge errors among all checks of delivered, judged runs, percent",
    "usd_per_task": "mean cost of a run, USD; null while a run is unpriced",
    "human_elo": "Elo of people's votes: 400 log10(Bradley-Terry strength), geometric mean at 1000",
    "human_elo_low": "lower end of its 95% bootstrap interval over the votes",
    "human_elo_high": "upper end of its 95% bootstrap interval over the votes",
    "human_rank": "rank of human_elo",
    "human_rank_low": "2.5th percentile of that rank over the resamples",
    "human_rank_high": "97.5th percentile of that rank over the resamples",
    "human_reason": "why there is no human Elo",
    "category": "task category, C01-C12",
    "language": "language of the task",
    "subcategory": "task subcategory; a task counts in each of its subcategories",
    "dim": "quality dimension",
    "mean_deliv": "mean known score over delivered runs, 1-5",
    "mean_nv0": "mean with a missing video as 0, 0-5",
    "known": "number of known scores",
    "level": "L2 checks or L3 scores",
    "part": "modality of the checks, or dimension of the scores",
    "asked": "number of checks (scores) of delivered, judged runs",
    "unknown": "number answered unknown (L3: null)",
    "missing": "number without a row",
    "check": "program check; 'every' = all applicable checks of a task together",
    "passed": "number of tasks that pass",
    "failed": "number of tasks that fail, a missing video included",
    "open": "number of tasks with no verdict: unmeasured, or not made",
    "pass_pct": "share of the tasks the check applies to, percent; null while some are open",
    "no_failed_check_pct": "share of tasks with no failed check of any kind and a passed one, percent",
    "only_detail_pct": "share of tasks that fail detail checks only, percent",
    "failed_delivered_pct": "share of tasks delivered but not strictly successful, percent",
    "no_video_pct": "share of tasks without a playable video, percent",
    "priced": "number of runs with a price",
    "priced_usd": "what the priced runs cost, USD",
    "total_usd": "cost of all runs, USD; null while a run is unpriced or not made",
    "mean_usd": "mean cost of a run, USD",
    "median_usd": "median cost of a run, USD",
    "p90_usd": "90th percentile of the cost of a run, USD",
    "max_usd": "highest cost of a run, USD",
    "usd_per_playable": "total cost for each playable video, USD",
    "overall_per_usd": "overall_nv0 for each USD of mean cost",
    "pareto": "no other system is cheaper and as good, or as cheap and better",
    "mean": "mean over runs of the run overall, no video 0, mean over panels; 0-5",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "deliv_mean": "the same mean over delivered runs only, 1-5",
    "deliv_low": "lower end of its 95% interval",
    "deliv_high": "upper end of its 95% interval",
    "rank_low": "best rank of the 95% interval",
    "rank_high": "worst rank of the 95% interval",
    "next_system": "the system below, which the following columns compare with",
    "p_greater": "share of resamples in which this mean is above the other one, ties half",
    "wins": "number of tasks on which it scores higher than the other one",
    "losses": "number of tasks on which it scores lower",
    "ties": "number of tasks on which both score the same, 0 to 0 included",
    "resamples": "number of bootstrap resamples of the tasks",
    "seed": "seed of the bootstrap",
    "system_a": "the system with the better mean",
    "system_b": "the system it is compared with",
    "difference": "mean of system_a minus mean of system_b, points",
    "panel_a": "first panel; 'all' = mean over the pairs of panels, W over all panels",
    "panel_b": "second panel",
    "spearman": "Spearman's rho over systems, mid-ranks",
    "kendall_tau_a": "Kendall's tau-a over systems: (concordant - discordant) / all pairs",
    "kendall_tau_b": "Kendall's tau-b over systems, corrected for ties",
    "kendalls_w": "Kendall's W of the panels' system overalls, corrected for ties",
    "check_agreement_pct": "share of checks both decided with the same verdict, percent",
    "kappa": "Cohen's kappa on checks both decided",
    "pearson": "Pearson's r of run overalls over videos both scored",
    "pair_ordering_pct": "pairs of videos of one task ordered alike, of those neither panel ties, percent",
    "pair_tie_pct": "share of such pairs that either panel ties, percent",
    "systems": "number of systems compared",
    "checks": "number of checks both decided, over all runs",
    "videos": "number of videos that count",
    "pairs": "number of pairs of videos of one task, both scored by both panels",
    "l3_deliv": "mean over systems of overall_deliv, 1-5",
    "l2_pass_pct": "mean over systems of l2_pass_deliv_pct, percent",
    "leniency": "mean over videos all panels scored of (this panel - mean of the others), points",
    "offset": "the same against the mean of all panels, points",
    "spread_nv0": "best minus worst overall_nv0, points",
    "spread_deliv": "best minus worst overall_deliv, points",
    **{f"score{s}_pct": f"share of scores of {s} among scores asked for, percent" for s in range(1, 6)},
    "score_unknown_pct": "share of unknown scores among scores asked for, percent",
    "compared": "a system against all videos; the panel's own model, or own family, against all others",
    "relative_score": "how much higher than the other panels this one rates it, both centred; points",
    "own": "is it the panel's own model or family",
    "method": "the headline ranking, or which panels are left out of it",
    "score": "overall, no video = 0, over the panels left",
    "headline_rank": "rank in the headline ranking",
    "kendall_tau": "Kendall's tau-a of this ranking with the headline",
    "measure": "score that the mean cost is compared with",
    "permutation_p": "two-sided permutation p of Spearman's rho",
    "orders": "number of orders counted",
    "exact": "every order was counted (else a seeded sample)",
    **{d: f"L3: mean {title} over delivered runs, 1-5" for d, title in _DIMENSION_TITLES.items()},
    **{f"{d}_nv0": f"L3: {title} with a missing video as 0, 0-5" for d, title in _DIMENSION_TITLES.items()},
    **{
        f"{s}_{e}_pct": f"{e}est value {s}_pct can take while runs are open, percent"
        for s in ("spec", "strict", "all_core", "clean")
        for e in ("low", "high")
    },
}
HEADERS: Mapping[str, str] = {
    "rank": "#",
    "system": "System",
    "name": "Name",
    "panel": "Panel",
    "category": "Category",
    "language": "Language",
    "subcategory": "Subcategory",
    "tasks": "Tasks",
    "delivered": "Videos",
    "delivery_pct": "Delivery %",
    "spec_pct": "Spec %",
    "l2_pass_deliv_pct": "L2 deliv. %",
    "l2_pass_nv0_pct": "L2 nv0 %",
    "strict_pct": "Strict %",
    "all_core_pct": "All core %",
    "overall_deliv": "Overall deliv.",
    "overall_nv0": "Overall nv0",
    "unknown_pct": "Unknown %",
    "usd_per_task": "$/task",
    "human_elo": "Human Elo",
    "complete": "Complete",
    "reason": "Note",
}
_SLICE = ("system", "tasks", "delivered", "delivery_pct", "spec_pct", "l2_pass_deliv_pct", "l2_pass_nv0_pct")
_SLICE_REST = ("strict_pct", "all_core_pct", "overall_deliv", "overall_nv0", "complete", "reason")
_L2 = ("l2_pass_deliv_pct", "l2_pass_nv0_pct")
_SUCCESS = ("strict_pct", "all_core_pct")


def _bounds(*names: str) -> tuple[str, ...]:
    return tuple(f"{n}{e}_pct" for n in names for e in ("", "_low", "_high"))


def _spec(title: str, columns: tuple[str, ...], shown: tuple[str, ...] = ()) -> TableSpec:
    return TableSpec(title, {c: MEANINGS[c] for c in columns}, {c: HEADERS[c] for c in columns if c in HEADERS}, shown)


TABLES: Mapping[str, TableSpec] = {
    "leaderboard": _spec(
        "Leaderboard: mean over panels",
        (
            *("rank", "system", "name", "lab", "harness", "tasks", "runs", "delivered", "delivery_pct"),
            *(*_bounds("spec"), *_L2, *_bounds("strict"), "all_core_pct", *DIMENSIONS),
            *(
                "overall_deliv",
                "overall_nv0",
                "run_overall",
                "unknown_pct",
                "usd_per_task",
                *HUMAN_COLUMNS,
                "panels",
                "complete",
            ),
            *("missing_runs", "missing_panels", "incomplete_runs", "judge_errors", "reason"),
        ),
        (
            *("rank", "system", "delivered", "tasks", "delivery_pct", "spec_pct", *_L2, *_SUCCESS, *DIMENSIONS),
            *("overall_deliv", "overall_nv0", "human_elo", "usd_per_task", "reason"),
        ),
    ),
    "per_panel": _spec(
        "Each panel's own figures",
        (
            *("panel", "rank", "system", "tasks", "runs", "missing_runs", "delivered", "judged_runs"),
            *("unjudged_l2", "unjudged_l3", "judge_errors", "incomplete_runs", *_L2),
            *("core_pass_deliv_pct", "detail_pass_deliv_pct", *_bounds("strict", "all_core", "clean"), *DIMENSIONS),
            *(*(f"{d}_nv0" for d in DIMENSIONS), "overall_deliv", "overall_nv0", "run_overall"),
            *("unknown_pct", "judge_error_pct", "complete", "reason"),
        ),
        (
            *("panel", "rank", "system", *_L2, "all_core_pct", "strict_pct", *DIMENSIONS),
            *("overall_deliv", "overall_nv0", "unknown_pct", "reason"),
        ),
    ),
    "by_category": _spec("By task category: mean over panels", ("category", *_SLICE, *_SLICE_REST)),
    "by_language": _spec("By task language: mean over panels", ("language", *_SLICE, *_SLICE_REST)),
    "by_subcategory": _spec("By task subcategory: mean over panels", ("subcategory", *_SLICE, *_SLICE_REST)),
    "dimensions": _spec(
        "Quality dimensions", ("panel", "system", "dim", "mean_deliv", "mean_nv0", "known", "delivered", "reason")
    ),
    "core_vs_detail": _spec(
        "Core against detail checks",
        ("panel", "system", "core_pass_deliv_pct", "detail_pass_deliv_pct", "gap_pts", "reason"),
    ),
    "failed_any_check": _spec(
        "How tasks fail",
        (
            *("panel", "system", "no_failed_check_pct", "strict_pct", "only_detail_pct"),
            *("failed_delivered_pct", "no_video_pct", "reason"),
        ),
    ),
    "judge_errors": _spec(
        "Unknown answers and judge errors",
        (
            *("panel", "judge", "level", "part", "asked", "unknown", "judge_errors", "missing"),
            *("unknown_pct", "judge_error_pct", "reason"),
        ),
    ),
    "l1_table": _spec(
        "Program checks (L1)", ("system", "check", "tasks", "passed", "failed", "open", "pass_pct", "reason")
    ),
    "cost": _spec(
        "Cost",
        (
            *("system", "tasks", "runs", "priced", "playable", "priced_usd", "total_usd", "mean_usd", "median_usd"),
            *("p90_usd", "max_usd", "usd_per_playable", "overall_nv0", "overall_per_usd", "pareto", "reason"),
        ),
    ),
    "cost_correlation": _spec("Cost against score: rank correlation over systems", tuple(CORRELATION)),
    "uncertainty": _spec(
        "Uncertainty: bootstrap over tasks, each system against the next", tuple(UNCERTAINTY), tuple(UNCERTAINTY)[:-4]
    ),
    "pairwise": _spec("Every two systems: P(A > B) and tasks won", tuple(PAIRWISE)),
    "agreement": _spec("Agreement between panels", tuple(AGREEMENT)),
    "scale_use": _spec("Leniency and use of the scale", tuple(SCALE_USE)),
    "leniency": _spec("Leniency by dimension and by system", tuple(LENIENCY)),
    "self_preference": _spec("Self-preference: relative score on the visual dimensions", tuple(SELF_PREFERENCE)),
    "reranking": _spec("The ranking without own panels and families", tuple(RERANKING)),
}
ALL_TABLES: Mapping[str, TableSpec] = {**TABLES, **HUMAN_TABLES}  # the human study's have assets of their own
STORED_TABLES: Mapping[str, TableSpec] = {**ALL_TABLES, "judging_costs": COST_SPEC}  # those of a data home
