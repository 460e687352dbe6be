"""How long 2,000 bootstrap fits of Bradley-Terry take, beside evalica and choix on resamples of the same votes.

Run: python -m benchmarks.fit_speed. Peers get their fastest entry point (prepared lists, loose default tolerances).
They have no prior and fit one table a call, so they are timed on fewer resamples and scaled up. Times are CPU seconds
of the process, which other work on the machine does not change.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import choix
import evalica
import numpy as np
import pandas as pd
import polars as pl

from vvb_assets.human.rating import rate
from vvb_assets.human.tables import rating_tables

RESAMPLES, PEER_RESAMPLES, ROUNDS = 2000, 40, 5


def votes_of(systems: int, votes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Winners and losers of random votes that follow hidden strengths."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(0, 0.8, systems)
    a = rng.integers(0, systems, votes)
    b = (a + rng.integers(1, systems, votes)) % systems
    first = rng.random(votes) < 1 / (1 + np.exp(hidden[b] - hidden[a]))
    return np.where(first, a, b), np.where(first, b, a)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds, best of ROUNDS."""
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def bootstrap_evalica(winner: np.ndarray, loser: np.ndarray) -> None:
    """Fit by evalica (Rust), tolerance 1e-6 as it comes, one weighted row for each winner and loser."""
    rng = np.random.default_rng(0)
    cells, counts = np.unique(np.stack([winner, loser], axis=1), axis=0, return_counts=True)
    x, y = [str(i) for i in cells[:, 0]], [str(i) for i in cells[:, 1]]
    won, names = [evalica.Winner.X] * len(cells), pd.Index(sorted({*x, *y}))
    for _ in range(PEER_RESAMPLES):
        weights = rng.multinomial(len(winner), counts / counts.sum()).astype(float).tolist()
        evalica.bradley_terry(x, y, won, index=names, weights=weights, limit=1000)


def bootstrap_choix(winner: np.ndarray, loser: np.ndarray) -> None:
    """Fit by choix (iterative Luce spectral ranking), with the small regularisation that makes every fit finite."""
    rng = np.random.default_rng(0)
    size = int(max(winner.max(), loser.max())) + 1
    for _ in range(PEER_RESAMPLES):
        chosen = rng.integers(0, len(winner), len(winner))
        data = list(zip(winner[chosen].tolist(), loser[chosen].tolist(), strict=True))
        choix.ilsr_pairwise(size, data, alpha=0.01)


def main() -> None:
    """Print a Markdown table: CPU seconds for 2,000 resamples, and the ratio to this platform's."""
    warnings.simplefilter("ignore")
    print("| systems, votes | fits of rate() | all tables | evalica | choix |")
    print("|---|---|---|---|---|")
    for systems, votes in ((9, 214), (9, 2000), (30, 2000)):
        winner, loser = votes_of(systems, votes)
        frame = pl.DataFrame({"system_a": winner, "system_b": loser, "choice": ["A"] * votes}).with_columns(
            pl.col("system_a", "system_b").cast(pl.String)
        )
        ours = seconds(lambda frame=frame: rate(frame, resamples=RESAMPLES))
        tables = seconds(lambda frame=frame: rating_tables(rate(frame, resamples=RESAMPLES)))
        cells = [f"{systems}, {votes:,}", f"{ours:.3f} s", f"{tables:.3f} s"]
        for peer in (bootstrap_evalica, bootstrap_choix):
            started = time.process_time()
            peer(winner, loser)
            taken = (time.process_time() - started) * RESAMPLES / PEER_RESAMPLES
            cells.append(f"{taken:.2f} s ({taken / ours:.0f}x)")
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
