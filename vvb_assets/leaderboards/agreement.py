"""Do the panels agree: on the order of systems, on single checks, on single videos, on pairs of one task's videos."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.scores.arrays import RunArrays
from vvb_assets.scores.bootstrap import DECIMALS
from vvb_assets.scores.ranks import kendall, kendalls_w, pearson, spearman

ALL_PANELS = "all"
FIGURES = ("spearman", "kendall_tau_a", "kendall_tau_b", "check_agreement_pct", "kappa", "pearson")
ORDERING = ("pair_ordering_pct", "pair_tie_pct")
COUNTS = ("systems", "checks", "videos", "pairs")
SCHEMA = {
    **dict.fromkeys(("panel_a", "panel_b"), pl.String),
    **dict.fromkeys((*FIGURES[:3], "kendalls_w", *FIGURES[3:], *ORDERING), pl.Float64),
    **dict.fromkeys(COUNTS, pl.Int64),
    "reason": pl.String,
}


@dataclass(frozen=True)
class CheckAgreement:
    """Raw agreement in percent and Cohen's kappa on checks both decided; None where it does not exist."""

    agreement_pct: float | None
    kappa: float | None


def check_agreement(both_pass: int, pass_fail: int, fail_pass: int, both_fail: int) -> CheckAgreement:
    """Raw agreement and Cohen's kappa from the counts of a 2 x 2 table.

    kappa = (observed - expected) / (1 - expected); None without a check, or where chance alone agrees on every one
    (both panels gave one and the same verdict throughout).
    """
    n = both_pass + pass_fail + fail_pass + both_fail
    if n == 0:
        return CheckAgreement(None, None)
    a_pass, b_pass = both_pass + pass_fail, both_pass + fail_pass
    by_chance = a_pass * b_pass + (n - a_pass) * (n - b_pass)  # times n * n, in whole numbers
    agreed = both_pass + both_fail
    kappa = (n * agreed - by_chance) / (n * n - by_chance) if by_chance < n * n else None
    return CheckAgreement(100.0 * agreed / n, kappa)


def agreement(figures: pl.DataFrame, pairs: pl.DataFrame, arrays: RunArrays) -> pl.DataFrame:
    """One row per pair of panels at work, then panel_a 'all': the mean over the pairs, and W of all panels at once.

    `figures` are `panel_figures`, `pairs` is `verdict_pairs`. spearman and kendall_*: on the systems' overall_nv0;
    kendalls_w: on the same, corrected for ties; kappa and check_agreement_pct: on checks both decided, pooled over
    runs; pearson: run overalls of videos both scored; pair_ordering_pct: of two videos of one task, both in the same
    order, pairs that either panel ties left out; pair_tie_pct: share of those. A value that does not exist is null,
    with a reason.
    """
    overalls = {
        panel: figures.filter(pl.col("panel") == panel).select("system", "overall_nv0") for panel in arrays.panels
    }
    scores = {
        panel: dict(frame.with_columns(pl.col("system").cast(pl.String)).iter_rows())
        for panel, frame in overalls.items()
    }
    counts = {(r["panel_a"], r["panel_b"]): r for r in pairs.to_dicts()}
    orderings = pair_orderings(arrays)
    rows = [
        _pair_row(a, b, scores, counts, orderings[i, j], arrays)
        for (i, a), (j, b) in combinations(enumerate(arrays.panels), 2)
    ]
    if len(rows) > 1:
        rows.append(_all_row(rows, scores, arrays))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _shared(scores: dict[str, dict[str, float | None]], panels: tuple[str, ...]) -> list[list[float]]:
    """Overalls of the systems that every one of `panels` has, a list a panel."""
    first = scores[panels[0]]
    systems = [s for s in first if all(scores[p].get(s) is not None for p in panels)]
    return [[float(scores[p][s] or 0.0) for s in systems] for p in panels]


def _pair_row(
    a: str,
    b: str,
    scores: dict[str, dict[str, float | None]],
    counts: dict[tuple[str, str], dict[str, int]],
    ordering: PairOrdering,
    arrays: RunArrays,
) -> dict[str, object]:
    left, right = _shared(scores, (a, b))
    row_counts = counts.get((a, b)) or counts.get((b, a)) or {}
    cells = [int(row_counts.get(c, 0)) for c in ("both_pass", "pass_fail", "fail_pass", "both_fail")]
    checks = check_agreement(*cells)
    videos = arrays.video_scores
    x, y = (videos[arrays.panels.index(p)].ravel() for p in (a, b))
    both = ~np.isnan(x) & ~np.isnan(y)
    tau = kendall(left, right)
    row: dict[str, object] = {
        "panel_a": a,
        "panel_b": b,
        "spearman": spearman(left, right),
        "kendall_tau_a": tau.tau_a,
        "kendall_tau_b": tau.tau_b,
        "kendalls_w": kendalls_w([left, right]),
        "check_agreement_pct": checks.agreement_pct,
        "kappa": checks.kappa,
        "pearson": pearson(x[both], y[both]),
        "pair_ordering_pct": ordering.accuracy_pct,
        "pair_tie_pct": ordering.tie_pct,
        "systems": len(left),
        "checks": sum(cells),
        "videos": int(both.sum()),
        "pairs": ordering.pairs,
    }
    return row | {"reason": _reason(row, len(arrays.systems))}


def _all_row(
    rows: list[dict[str, object]], scores: dict[str, dict[str, float | None]], arrays: RunArrays
) -> dict[str, object]:
    """Mean of each figure over the pairs that have it; W over the systems that every panel has."""
    shared = _shared(scores, arrays.panels)
    row: dict[str, object] = {"panel_a": ALL_PANELS, "panel_b": ALL_PANELS, "kendalls_w": kendalls_w(shared)}
    for figure in (*FIGURES, *ORDERING):
        values = [float(v) for r in rows if isinstance(v := r[figure], float)]
        row[figure] = sum(values) / len(values) if len(values) == len(rows) else None
    row |= {"systems": len(shared[0])}
    row |= {c: sum(int(v) for r in rows if isinstance(v := r[c], int)) for c in COUNTS[1:]}
    nulls = any(row[c] is None for c in (*FIGURES, *ORDERING))
    notes = [_reason(row, len(arrays.systems))] if not nulls else ["a pair of panels lacks a figure"]
    return row | {"reason": notes[0]}


def _reason(row: dict[str, object], systems: int) -> str | None:
    """Why a figure is null, or what the row leaves out."""
    parts = []
    shared = row["systems"]
    if isinstance(shared, int) and shared < systems:
        parts.append(f"{systems - shared} of {systems} systems without an overall of both panels")
    if isinstance(shared, int) and shared < 2:
        parts.append("an order needs two systems")
    elif row["spearman"] is None:
        parts.append("a panel gives every system the same overall")
    if row["checks"] == 0:
        parts.append("no check that both decided")
    elif row["kappa"] is None:
        parts.append("one and the same verdict throughout: kappa does not exist")
    if row["videos"] == 0:
        parts.append("no video that both scored")
    elif row["pearson"] is None:
        parts.append("video scores do not vary")
    if row["pairs"] == 0:
        parts.append("no two videos of one task")
    elif row["pair_ordering_pct"] is None:
        parts.append("every pair is tied")
    return "; ".join(parts) or None


@dataclass(frozen=True)
class PairOrdering:
    """Pairs of videos of one task that two panels both scored: how many, tied by either, ordered alike."""

    pairs: int
    tied: int
    alike: int

    @property
    def accuracy_pct(self) -> float | None:
        """Percent ordered alike among the pairs neither panel ties; None without one."""
        decided = self.pairs - self.tied
        return 100.0 * self.alike / decided if decided else None

    @property
    def tie_pct(self) -> float | None:
        """Percent of the pairs that either panel ties; None without a pair."""
        return 100.0 * self.tied / self.pairs if self.pairs else None


def pair_orderings(arrays: RunArrays) -> dict[tuple[int, int], PairOrdering]:
    """`PairOrdering` of every two panels (by index), over all tasks and pairs of systems.

    The signs of all pairs are a matrix (panels, pairs): products of two rows count pairs alike minus pairs opposed, of
    their magnitudes the pairs neither ties, of the masks the pairs both scored.
    """
    scores = np.round(arrays.video_scores, DECIMALS)
    n = len(arrays.panels)
    known, decided, balance = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    terms = len(arrays.systems) * len(arrays.tasks)
    number: type[np.floating[Any]] = np.float32 if terms < 2**24 else np.float64  # sums must stay whole
    for first in range(len(arrays.systems) - 1 if n and terms else 0):
        gap = (scores[:, first, None, :] - scores[:, first + 1 :, :]).reshape(n, -1)
        there: NDArray[Any] = (~np.isnan(gap)).astype(number)
        sign: NDArray[Any] = np.sign(np.nan_to_num(gap)).astype(number)
        magnitude = np.abs(sign)
        known += there @ there.T
        balance += sign @ sign.T
        decided += magnitude @ magnitude.T
    return {
        (a, b): PairOrdering(
            int(known[a, b]), int(known[a, b] - decided[a, b]), int((decided[a, b] + balance[a, b]) / 2)
        )
        for a, b in combinations(range(n), 2)
    }
