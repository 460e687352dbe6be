"""Ratings as tables: the Bradley-Terry table and the matrix of every system against every other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from vvb_assets.human.columns import FIT_COLUMNS, HUMAN_TABLES
from vvb_assets.human.rating import Rating
from vvb_assets.human.wilson import wilson_interval
from vvb_resources.store.tables import check_finite

_TEXT = frozenset({"system", "opponent", "panel", "margin", "choice", "metric", "reason"})
_COUNTS = frozenset(
    {"rank", "rank_low", "rank_high", "tier", "ties", "both_bad", "systems", "decisive", "unjudged", "judge_ties"}
    | {"agreed", "pairs"}
)


def as_table(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as the table `name`, columns and types as HUMAN_TABLES has them; NaN and infinity are refused."""
    schema = {
        c: pl.String if c in _TEXT else pl.Int64 if c in _COUNTS else pl.Float64 for c in HUMAN_TABLES[name].columns
    }
    return check_finite(pl.DataFrame(rows, schema=schema, orient="row"), name)


def absent(name: str, reason: str) -> pl.DataFrame:
    """The table with one row: all null but the reason."""
    return as_table(name, [{"reason": reason}])


def rating_rows(rating: Rating) -> list[dict[str, Any]]:
    """One row per system, strongest first, with every column of the bradley_terry table."""
    (low, high), (best, worst) = rating.elo_bounds(), rating.rank_bounds()
    share, tiers, order = rating.above(), rating.tiers(), rating.order()
    won, games, elo = rating.won, rating.games, rating.elo
    rows: list[dict[str, Any]] = []
    for place, i in enumerate(order):
        following = order[place + 1] if place + 1 < len(order) else None
        wilson = wilson_interval(won[i], games[i])
        previous = rows[-1] if rows else None
        equal = previous is not None and previous["elo"] is not None and abs(previous["elo"] - elo[i]) < 1e-6
        rank = previous["rank"] if equal and previous else place + 1
        rows.append(
            {
                "rank": rank if rating.rated[i] else None,
                "system": rating.systems[i],
                "strength": _strength(rating.theta[i]),
                "elo": number(elo[i]),
                "elo_low": number(low[i]),
                "elo_high": number(high[i]),
                "rank_low": whole(best[i]),
                "rank_high": whole(worst[i]),
                "wins": float(won[i]),
                "games": float(games[i]),
                "win_rate": float(won[i] / games[i]) if games[i] else None,
                "win_low": wilson[0] if wilson else None,
                "win_high": wilson[1] if wilson else None,
                "tier": tiers.get(i),
                "p_above_next": number(share[i, following]) if following is not None else None,
                "ties": int(rating.ties[i].sum()),
                "both_bad": int(rating.both_bad[i].sum()),
                "reason": rating.reasons.get(rating.systems[i]) or _open_interval(rating, low[i], high[i]),
            }
        )
    return rows


def _open_interval(rating: Rating, low: float, high: float) -> str | None:
    if np.isfinite(low) and np.isfinite(high):
        return None
    return f"{rating.unfitted} of {len(rating.samples)} resamples have no finite fit without a prior"


def _strength(theta: float) -> float | None:
    """exp(theta), or null where that is beyond a float (its Elo is not)."""
    return float(np.exp(theta)) if np.isfinite(theta) and abs(theta) < 700 else None


def rating_tables(rating: Rating) -> dict[str, pl.DataFrame]:
    """`bradley_terry` and `human_win_matrix`; without votes one row that says so."""
    if not rating.systems:
        return {name: absent(name, "no votes") for name in ("bradley_terry", "human_win_matrix")}
    share, order = rating.above(), rating.order()
    pairs = [
        {
            "system": rating.systems[i],
            "opponent": rating.systems[j],
            "wins": rating.wins[i, j],
            "losses": rating.wins[j, i],
            "ties": int(rating.ties[i, j]),
            "both_bad": int(rating.both_bad[i, j]),
            "p_above": number(share[i, j]),
            "reason": rating.reasons.get(rating.systems[i]) or rating.reasons.get(rating.systems[j]),
        }
        for i in order
        for j in order
        if i != j
    ]
    matrix = as_table("human_win_matrix", pairs) if pairs else absent("human_win_matrix", "one system only")
    return {"bradley_terry": as_table("bradley_terry", rating_rows(rating)), "human_win_matrix": matrix}


def fit_document(rating: Rating) -> Mapping[str, Any]:
    """The `vvb fit --json` document. A system with a null carries `reason`; so does the whole without any vote."""
    systems = []
    for row in rating_rows(rating):
        entry = {c: row[c] for c in FIT_COLUMNS}
        for count in ("wins", "games"):
            entry[count] = int(entry[count]) if float(entry[count]).is_integer() else entry[count]
        systems.append(entry | ({"reason": row["reason"]} if row["reason"] else {}))
    document: dict[str, Any] = {
        "systems": systems,
        "decisive": int(rating.wins.sum()),
        "ties": int(rating.ties.sum() / 2),
        "both_bad": int(rating.both_bad.sum() / 2),
    }
    return document if systems else document | {"reason": "no votes"}


def number(value: float) -> float | None:
    """A float, or None for NaN and infinity."""
    return float(value) if np.isfinite(value) else None


def whole(value: float) -> int | None:
    """An integer, or None for NaN."""
    return int(value) if np.isfinite(value) else None
