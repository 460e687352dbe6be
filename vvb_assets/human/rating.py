"""From votes to ratings: strengths, Elo, bootstrap intervals, rank intervals, win rates, who is above whom, tiers.

Only decisive votes (A or B) carry strength; a tie is reported apart, or counted as half a win each way if asked for;
"both bad" never counts. A figure that does not exist is None, with a reason (docs/human_study.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vvb_assets.human.bradley_terry import (
    Floats,
    connected_groups,
    fit_log_strengths,
    has_finite_fit,
    with_prior,
)
from vvb_resources.errors import ResultsError

Ties = Literal["drop", "half"]

PRIOR, RESAMPLES = 0.1, 2000
PRIOR_RANGE = (1e-6, 1e6)  # outside it double precision cannot tell it from none, or from nothing else
ELO_SCALE, ELO_MEAN = 400.0, 1000.0
INTERVAL = (2.5, 97.5)
SEPARATED = 0.975  # share of resamples in which one system must be above another to count as separated
EQUAL = 1e-9  # log strengths closer than this are equal


@dataclass(frozen=True)
class Rating:
    """Ratings of the systems of a set of votes, in the order of `systems` (id order).

    - `wins`, `losses`, `ties`, `both_bad`: (S, S) counts, row against column; `ties` and `both_bad` are symmetric
    - `theta`: (S,) log strengths with mean 0 over the rated systems, NaN where there is none; `samples`: (B, S) the
      same for each resample, NaN rows for resamples without a finite fit
    - `reasons`: why a system has no strength, by id
    """

    systems: tuple[str, ...]
    wins: Floats
    ties: Floats
    both_bad: Floats
    ties_as: Ties
    theta: Floats
    samples: Floats
    reasons: dict[str, str]

    @property
    def rated(self) -> NDArray[np.bool_]:
        """Which systems have a strength."""
        return np.isfinite(self.theta)

    @property
    def elo(self) -> Floats:
        """400 log10(strength) + 1000, so that the geometric mean of the strengths stands at 1000."""
        return to_elo(self.theta)

    @property
    def won(self) -> Floats:
        """Wins of each system; under `half` a tie is half a win."""
        won: Floats = (self.wins + (self.ties / 2 if self.ties_as == "half" else 0)).sum(axis=1)
        return won

    @property
    def games(self) -> Floats:
        """Votes that count for each system: decisive ones, and ties under `half`."""
        games: Floats = (self.wins + self.wins.T + (self.ties if self.ties_as == "half" else 0)).sum(axis=1)
        return games

    @property
    def unfitted(self) -> int:
        """Number of resamples without a finite fit (there are some only without a prior)."""
        return int(np.isnan(self.samples[:, self.rated]).any(axis=1).sum()) if self.rated.any() else 0

    def order(self) -> list[int]:
        """Systems from strongest to weakest, then those without a strength, by id."""
        return sorted(range(len(self.systems)), key=lambda i: (not self.rated[i], -_rounded(float(self.theta[i])), i))

    def elo_bounds(self) -> tuple[Floats, Floats]:
        """Percentile interval of each Elo, NaN where there is none.

        A resample without a finite fit could lie anywhere: it counts as below the lower and above the upper bound, so
        that an interval can only be wider for it.
        """
        return _bounds(to_elo(self.samples), -np.inf, np.inf, "linear")

    def rank_bounds(self) -> tuple[Floats, Floats]:
        """Percentile interval of each rank over the resamples (1 = strongest, equals share the better rank)."""
        rated = self.rated
        ranks = np.full(self.samples.shape, np.nan)
        kept = self.samples[:, rated]
        above = (kept[:, None, :] > kept[:, :, None] + EQUAL).sum(axis=2)
        ranks[:, rated] = np.where(np.isnan(kept), np.nan, 1 + above)
        return _bounds(ranks, 1.0, float(rated.sum()), "nearest rank")

    def above(self) -> Floats:
        """(S, S): share of resamples with row above column, equals half; NaN where a system has no strength."""
        size = len(self.systems)
        share = np.full((size, size), np.nan)
        samples = self.samples[~np.isnan(self.samples[:, self.rated]).any(axis=1)]
        if len(samples):
            for i in np.flatnonzero(self.rated):
                gap = samples[:, [i]] - samples
                share[i] = ((gap > EQUAL) + 0.5 * (np.abs(gap) <= EQUAL)).mean(axis=0)
            share[:, ~self.rated] = np.nan
        return share

    def tiers(self) -> dict[int, int]:
        """Tier of each rated system by index: from the top, a new one where a system is separated from a member.

        No two systems of a tier can be told apart: neither is above the other in 97.5% of the resamples. Systems of
        neighbouring tiers need not all be separated from each other.
        """
        share = self.above()
        found: dict[int, int] = {}
        members: list[int] = []
        tier = 1
        for i in (i for i in self.order() if self.rated[i]):
            if any(share[m, i] >= SEPARATED for m in members):
                members, tier = [], tier + 1
            members.append(i)
            found[i] = tier
        return found


def to_elo(theta: Floats) -> Floats:
    """Log strengths with mean 0 as Elo with mean 1000."""
    elo: Floats = theta * (ELO_SCALE / np.log(10)) + ELO_MEAN
    return elo


def rate(
    votes: pl.DataFrame,
    *,
    prior: float = PRIOR,
    ties: Ties = "drop",
    resamples: int = RESAMPLES,
    seed: int = 0,
    systems: Sequence[str] = (),
) -> Rating:
    """Rate every system of `votes` (columns system_a, system_b, choice), and `systems` that got none.

    The prior is virtual votes for each pair of rated systems, half a win each way. A system is rated if it has a vote
    that counts and the votes connect it with all others that have one; without a prior it must also have won and lost
    along a cycle through all of them. The resamples draw as many votes as there are, with replacement; the same votes
    in any order give the same figures. Raises ResultsError for a prior that cannot be used.
    """
    if not (prior == 0 or PRIOR_RANGE[0] <= prior <= PRIOR_RANGE[1]):
        raise ResultsError(f"a prior of {prior} virtual votes", remedy="choose 0, or 1e-6 to 1e6; the paper's is 0.1")
    names = tuple(sorted({*systems, *votes["system_a"].to_list(), *votes["system_b"].to_list()}))
    wins, tied, bad = _counts(votes, names)
    size = len(names)
    counted = wins + (tied / 2 if ties == "half" else 0)
    reasons = _reasons(names, counted, prior, ties)
    inside = np.array([i for i, name in enumerate(names) if name not in reasons], dtype=np.int64)
    theta, samples = np.full(size, np.nan), np.full((resamples, size), np.nan)
    if len(inside):
        block = np.ix_(inside, inside)
        fitted = fit_log_strengths(with_prior(counted[block], prior)[None])[0]
        theta[inside] = fitted
        if np.isnan(fitted).any():
            reasons |= dict.fromkeys((names[i] for i in inside), "the fit did not converge")
        else:
            drawn = _resample(wins[block], tied[block] if ties == "half" else None, resamples, seed)
            samples[:, inside] = fit_log_strengths(with_prior(drawn, prior), fitted)
    return Rating(names, wins, tied, bad, ties, theta, samples, reasons)


def _counts(votes: pl.DataFrame, names: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Wins, ties and both-bad votes, (S, S) each; the latter two symmetric."""
    place = {name: i for i, name in enumerate(names)}
    size = len(names)
    wins, ties, bad = (np.zeros((size, size)) for _ in range(3))
    grouped = votes.group_by("system_a", "system_b", "choice").len()
    for a, b, choice, n in grouped.with_columns(pl.col("choice").cast(pl.String)).iter_rows():
        i, j = place[a], place[b]
        if choice == "A":
            wins[i, j] += n
        elif choice == "B":
            wins[j, i] += n
        else:
            table = ties if choice == "tie" else bad
            table[i, j] += n
            table[j, i] += n
    return wins, ties, bad


def _reasons(names: Sequence[str], counted: Floats, prior: float, ties: Ties) -> dict[str, str]:
    """Why systems have no strength: no vote that counts, no connection, or (without a prior) no finite maximum."""
    used = [i for i in range(len(names)) if counted[i].any() or counted[:, i].any()]
    what = "decisive vote" if ties == "drop" else "decisive vote or tie"
    reasons = {name: f"no {what}" for i, name in enumerate(names) if i not in used}
    block = counted[np.ix_(used, used)]
    groups = connected_groups(block) if used else []
    if len(groups) > 1:
        shown = " | ".join(", ".join(names[used[k]] for k in group) for group in groups)
        reasons |= dict.fromkeys((names[i] for i in used), f"no vote connects the groups {shown}")
    elif used and prior == 0 and not has_finite_fit(block[None])[0]:
        flawless = [names[used[k]] for k in range(len(used)) if not block[:, k].any()]
        winless = [names[used[k]] for k in range(len(used)) if not block[k].any()]
        parts = [f"{', '.join(flawless)} never lost"] * bool(flawless)
        parts += [f"{', '.join(winless)} never won"] * bool(winless)
        why = "; ".join(parts) or "one group of systems won every vote against the others"
        reasons |= dict.fromkeys((names[i] for i in used), f"no finite strength without a prior: {why}")
    return reasons


def _resample(wins: Floats, ties: Floats | None, resamples: int, seed: int) -> Floats:
    """(B, S, S) tables of wins, each from as many votes drawn with replacement as there are."""
    size = len(wins)
    won = np.argwhere(wins > 0)
    drawn_ties = np.argwhere(np.triu(ties) > 0) if ties is not None else won[:0]
    weights = wins[wins > 0]
    if ties is not None:
        weights = np.concatenate([weights, np.triu(ties)[np.triu(ties) > 0]])
    total = round(float(weights.sum()))
    draw = np.random.default_rng(seed).multinomial(total, weights / weights.sum(), size=resamples)
    tables = np.zeros((resamples, size, size))
    tables[:, won[:, 0], won[:, 1]] = draw[:, : len(won)]
    for k, (i, j) in enumerate(drawn_ties):
        half = draw[:, len(won) + k] / 2
        tables[:, i, j] += half
        tables[:, j, i] += half
    return tables


def _bounds(samples: Floats, lowest: float, highest: float, method: str) -> tuple[Floats, Floats]:
    """Percentile bounds of each column; NaN samples count as `lowest` below and `highest` above; NaN if unbounded."""
    lost = np.isnan(samples)
    never = lost.all(axis=0)
    bounds = []
    for percentile, stand_in, nearest in zip(INTERVAL, (lowest, highest), ("lower", "higher"), strict=True):
        ordered = np.sort(np.where(lost, stand_in, samples), axis=0)
        if not len(ordered):
            bounds.append(np.full(samples.shape[1], np.nan))
            continue
        place = percentile / 100 * (len(ordered) - 1)
        low, high = int(np.floor(place)), int(np.ceil(place))
        if method == "linear":
            with np.errstate(invalid="ignore"):
                value = ordered[low] + (place - low) * (ordered[high] - ordered[low])
        else:
            value = ordered[low if nearest == "lower" else high]
        bounds.append(np.where(np.isfinite(value) & ~never, value, np.nan))
    return bounds[0], bounds[1]


def _rounded(theta: float) -> float:
    return round(theta / EQUAL) * EQUAL if np.isfinite(theta) else -np.inf
