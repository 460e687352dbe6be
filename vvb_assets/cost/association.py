"""Does money buy quality: rank correlation of mean cost with the overall score over systems."""

from __future__ import annotations

import polars as pl

from vvb_assets.scores.ranks import kendall, permutation_test

MEASURES = ("overall_nv0", "overall_deliv")
SCHEMA = {
    "measure": pl.String,
    "systems": pl.Int64,
    **dict.fromkeys(("spearman", "kendall_tau_a", "kendall_tau_b", "permutation_p"), pl.Float64),
    "orders": pl.Int64,
    "exact": pl.Boolean,
    "reason": pl.String,
}


def cost_correlation(cost: pl.DataFrame, board: pl.DataFrame, seed: int) -> pl.DataFrame:
    """One row per measure: rank correlation with `mean_usd` over the systems that have both.

    `cost` has system and mean_usd, `board` system and the measures. permutation_p is two-sided; up to nine systems
    every order is counted (`exact`), beyond a Monte Carlo sample of `orders` from `seed`.
    """
    both = cost.select("system", "mean_usd").join(board.select("system", *MEASURES), on="system", how="inner")
    rows = []
    for measure in MEASURES:
        known = both.drop_nulls(["mean_usd", measure])
        usd, score = known["mean_usd"].to_numpy(), known[measure].to_numpy()
        test, tau = permutation_test(usd, score, seed), kendall(usd, score)
        notes = []
        if len(known) < len(both):
            notes.append(f"{len(both) - len(known)} of {len(both)} systems without a cost or a score")
        if test.rho is None:
            notes.append("an order needs two systems" if len(known) < 2 else "every system has the same cost or score")
        how = (test.orders, test.exact) if test.rho is not None else (None, None)
        rows.append((measure, len(known), test.rho, tau.tau_a, tau.tau_b, test.p, *how, "; ".join(notes) or None))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
