"""Strengths against a published table, two other programs, and arithmetic by hand."""

from __future__ import annotations

import choix
import evalica
import numpy as np
import pytest

from tests.human.sets import ABILITIES, BASEBALL, TEAMS, random_wins
from vvb_assets.human.bradley_terry import connected_groups, fit_log_strengths, has_finite_fit, with_prior


def evalica_fit(wins: np.ndarray) -> np.ndarray:
    """Log strengths with mean 0 by evalica; wins may be fractional (weights)."""
    pairs = np.argwhere(wins > 0)
    names = [str(i) for i in range(len(wins))]
    result = evalica.bradley_terry(
        [names[i] for i, _ in pairs],
        [names[j] for _, j in pairs],
        [evalica.Winner.X] * len(pairs),
        weights=[float(wins[i, j]) for i, j in pairs],
        tolerance=1e-15,
        limit=1_000_000,
    )
    logs = np.log(result.scores[names].to_numpy())
    return logs - logs.mean()


def test_baseball_as_published() -> None:
    theta = fit_log_strengths(BASEBALL[None])[0]
    for team, ability in ABILITIES.items():
        assert theta[TEAMS.index(team)] - theta[TEAMS.index("Baltimore")] == pytest.approx(ability, abs=5e-5), team


@pytest.mark.parametrize("seed", range(6))
def test_without_prior_as_evalica(seed: int) -> None:
    wins = random_wins(seed)
    assert fit_log_strengths(wins[None])[0] == pytest.approx(evalica_fit(wins), abs=1e-9)


@pytest.mark.parametrize(("seed", "prior"), [(0, 0.1), (1, 0.1), (2, 2.0), (3, 1e-3)])
def test_prior_is_virtual_votes(seed: int, prior: float) -> None:
    """evalica has no prior; given half a virtual win each way for each pair as weighted votes, it agrees."""
    wins = random_wins(seed, systems=6, votes=60)
    by_hand = wins.copy()
    for i in range(6):
        for j in range(6):
            by_hand[i, j] += prior / 2 if i != j else 0
    assert fit_log_strengths(with_prior(wins, prior)[None])[0] == pytest.approx(evalica_fit(by_hand), abs=1e-9)


def test_without_prior_as_choix() -> None:
    wins = random_wins(7)
    data = [(int(i), int(j)) for i, j in np.argwhere(wins > 0) for _ in range(int(wins[i, j]))]
    assert fit_log_strengths(wins[None])[0] == pytest.approx(choix.ilsr_pairwise(9, data, tol=1e-12), abs=1e-9)


def test_two_systems_in_closed_form() -> None:
    """The strengths of two are as their (real and virtual) wins: 3 + 0.05 to 1 + 0.05."""
    theta = fit_log_strengths(with_prior(np.array([[0.0, 3.0], [1.0, 0.0]]), 0.1)[None])[0]
    assert theta[0] - theta[1] == pytest.approx(np.log(3.05 / 1.05), abs=1e-12)


def test_a_batch_is_its_members() -> None:
    tables = np.stack([random_wins(seed) for seed in range(5)])
    start = fit_log_strengths(tables[:1])[0]
    for row, table in zip(fit_log_strengths(tables, start), tables, strict=True):
        assert row == pytest.approx(fit_log_strengths(table[None])[0], abs=1e-12)


def test_an_extreme_table_converges() -> None:
    """A million wins against a prior of a millionth: ln((1e6 + 5e-7) / 5e-7) apart, from a start at 0."""
    theta = fit_log_strengths(with_prior(np.array([[0.0, 1e6], [0.0, 0.0]]), 1e-6)[None])[0]
    assert theta[0] - theta[1] == pytest.approx(np.log(1e6 / 5e-7), rel=1e-9)


def test_no_finite_fit() -> None:
    """A beats B beats C: nobody beats A. With one win of C over A there is a cycle, hence a fit."""
    chain = np.array([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])
    cycle = chain.copy()
    cycle[2, 0] = 1
    assert has_finite_fit(np.stack([chain, cycle])).tolist() == [False, True]
    theta = fit_log_strengths(np.stack([chain, cycle]))
    assert np.isnan(theta[0]).all()
    assert theta[1] == pytest.approx(np.zeros(3), abs=1e-12)


def test_connected_groups() -> None:
    wins = np.zeros((5, 5))
    wins[0, 3] = wins[4, 1] = 1
    assert connected_groups(wins) == [[0, 3], [1, 4], [2]]
