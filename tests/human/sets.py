"""Votes to fit: a published table, random studies, and rows by hand."""

from __future__ import annotations

import numpy as np
import polars as pl

# American League East, 1987 season: wins of the row over the column. Agresti, Categorical Data Analysis (1990), 10.6.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
BASEBALL = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=np.float64,
)
# Its fit as R's BradleyTerry2 prints it (Baltimore = 0).
ABILITIES = {"Milwaukee": 1.5814, "Detroit": 1.4364, "Toronto": 1.2945, "New York": 1.2476, "Boston": 1.1077}
ABILITIES |= {"Cleveland": 0.6839, "Baltimore": 0.0}


def random_wins(seed: int, systems: int = 9, votes: int = 214) -> np.ndarray:
    """Wins (S, S) of votes between random pairs, whose winner follows hidden strengths; every system wins and loses."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(0, 0.7, systems)
    while True:
        a = rng.integers(0, systems, votes)
        b = (a + rng.integers(1, systems, votes)) % systems
        first = rng.random(votes) < 1 / (1 + np.exp(hidden[b] - hidden[a]))
        wins = np.zeros((systems, systems))
        np.add.at(wins, (np.where(first, a, b), np.where(first, b, a)), 1)
        if wins.sum(axis=0).all() and wins.sum(axis=1).all():
            return wins


def votes_of(*rows: str, task: str = "t") -> pl.DataFrame:
    """Votes written as "a b A": sides and choice; "a b A*3" stands for three of them."""
    found = []
    for row in rows:
        a, b, choice = row.split()
        choice, _, times = choice.partition("*")
        found += [(task, a, b, choice)] * int(times or 1)
    return pl.DataFrame(found, schema=["task", "system_a", "system_b", "choice"], orient="row")


def votes_from_wins(wins: np.ndarray, names: tuple[str, ...]) -> pl.DataFrame:
    """A vote for each win, the winner on side A."""
    rows = [
        f"{names[i].replace(' ', '')} {names[j].replace(' ', '')} A*{int(wins[i, j])}" for i, j in np.argwhere(wins > 0)
    ]
    return votes_of(*rows)
