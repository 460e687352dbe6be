"""Every table of the human study from votes and run statistics, for results made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from vvb_assets.human.agreement import agreement_tables
from vvb_assets.human.columns import HUMAN_TABLES, RATING_TABLES
from vvb_assets.human.rating import RESAMPLES, rate
from vvb_assets.human.tables import absent, rating_tables

NO_VOTES = "no votes"


def human_tables(
    votes: pl.DataFrame | None, stats: pl.DataFrame, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, pl.DataFrame]:
    """Every table of HUMAN_TABLES by name, from votes in the results format and `run_statistics` rows.

    Without votes (None, or no row) each table is one row of nulls with the reason.
    """
    if votes is None or votes.is_empty():
        return {name: absent(name, NO_VOTES) for name in HUMAN_TABLES}
    tables = vote_ratings(votes, stats["system"].unique(maintain_order=True).to_list(), seed, resamples)
    elo = dict(tables["bradley_terry"].select("system", "elo").iter_rows())
    return tables | agreement_tables(elo, _as_text(votes), stats)


def vote_ratings(
    votes: pl.DataFrame | None, systems: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, pl.DataFrame]:
    """The tables of RATING_TABLES, from votes in the results format; `systems` are rated or told why not."""
    if votes is None or votes.is_empty():
        return {name: absent(name, NO_VOTES) for name in RATING_TABLES}
    return rating_tables(rate(_as_text(votes), seed=seed, resamples=resamples, systems=systems))


def _as_text(votes: pl.DataFrame) -> pl.DataFrame:
    return votes.with_columns(pl.col("task", "system_a", "system_b", "choice").cast(pl.String))
