"""Every table of the human study from votes and run statistics, for results made elsewhere."""

from __future__ import annotations

import polars as pl

from vvb_assets.human.agreement import agreement_tables
from vvb_assets.human.columns import HUMAN_TABLES
from vvb_assets.human.rating import RESAMPLES, rate
from vvb_assets.human.tables import absent, rating_tables


def human_tables(
    votes: pl.DataFrame | None, stats: pl.DataFrame, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, pl.DataFrame]:
    """Every table of HUMAN_TABLES by name, from votes in the results format and `run_statistics` rows.

    Without votes (None, or no row) each table is one row of nulls with the reason.
    """
    if votes is None or votes.is_empty():
        reason = "the results have no votes" if votes is None else "no votes"
        return {name: absent(name, reason) for name in HUMAN_TABLES}
    plain = votes.with_columns(pl.col("task", "system_a", "system_b", "choice").cast(pl.String))
    systems = stats["system"].unique(maintain_order=True).to_list()
    tables = rating_tables(rate(plain, seed=seed, resamples=resamples, systems=systems))
    elo = dict(tables["bradley_terry"].select("system", "elo").iter_rows())
    return tables | agreement_tables(elo, plain, stats)
