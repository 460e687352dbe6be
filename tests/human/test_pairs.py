"""The pair design: as even as the playable runs allow, random otherwise, and the same again from the same seed."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from vvb_assets.human.pairs import Design, design_pairs

SYSTEMS = [f"s{i}" for i in range(9)]


def pair_counts(design: Design) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sorted(row)) for row in design.table.select("system_a", "system_b").iter_rows())


def least_sum_of_squares(runs: dict[str, list[str]], wanted: int) -> int:
    """The smallest possible sum of squared pair counts, as an assignment problem.

    Each task has `wanted` slots; a pair has a seat a task, and its k-th seat costs 2k - 1, so that k seats cost k^2. A
    task may not sit on one pair twice: each task has its own stand-in for a pair's seats, which no instance here needs
    (wanted = 1).
    """
    assert wanted == 1
    pairs = sorted({pair for systems in runs.values() for pair in combinations(sorted(systems), 2)})
    tasks = [task for task, systems in runs.items() if len(systems) > 1]
    cost = np.full((len(tasks), len(pairs) * len(tasks)), 1e6)
    for t, task in enumerate(tasks):
        for p, pair in enumerate(pairs):
            if set(pair) <= set(runs[task]):
                cost[t, p * len(tasks) : (p + 1) * len(tasks)] = 2 * np.arange(len(tasks)) + 1
    return int(cost[linear_sum_assignment(cost)].sum())


def test_all_runs_playable_as_in_the_paper() -> None:
    """239 tasks over 36 pairs of nine systems: 239 = 6 x 36 + 23, so 13 pairs 6 times and 23 pairs 7 times."""
    design = design_pairs({f"t{i}": SYSTEMS for i in range(239)}, 1, seed=1)
    assert design.table.height == 239
    assert design.table["task"].n_unique() == 239
    assert Counter(pair_counts(design).values()) == {6: 13, 7: 23}
    assert design.spread() == (6, 7)
    games = Counter(design.table["system_a"].to_list() + design.table["system_b"].to_list())
    assert max(games.values()) - min(games.values()) <= 8
    side_a = Counter(design.table["system_a"].to_list())
    assert all(abs(2 * side_a[s] - games[s]) <= 2 for s in SYSTEMS)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_as_even_as_the_playable_runs_allow(seed: int) -> None:
    rng = random.Random(seed)
    runs = {f"t{i}": rng.sample("abcd", rng.choice([1, 2, 2, 2, 3, 4])) for i in range(rng.randint(3, 20))}
    design = design_pairs(runs, 1, seed)
    assert sum(n * n for n in pair_counts(design).values()) == least_sum_of_squares(runs, 1)
    for task, a, b in design.table.select("task", "system_a", "system_b").iter_rows():
        assert {a, b} <= set(runs[task])
        assert a != b


def test_greed_alone_would_be_uneven() -> None:
    """t1 and t2 can only show ab, t3 shows ab or ac, t4 any: the even design gives ab 2, ac 1, bc 1."""
    runs = {"t1": ["a", "b"], "t2": ["b", "a"], "t3": ["a", "b", "c"], "t4": ["c", "b", "a"]}
    for seed in range(10):
        assert pair_counts(design_pairs(runs, 1, seed)) == {("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 1}


def test_several_pairs_a_task_differ() -> None:
    design = design_pairs({f"t{i}": SYSTEMS[:4] for i in range(5)}, 3, seed=0)
    seen = [(task, *sorted((a, b))) for _, task, a, b in design.table.iter_rows()]
    assert len(seen) == len(set(seen)) == 15
    assert design.spread() == (2, 3)


def test_tasks_with_too_few_runs_are_told() -> None:
    design = design_pairs({"none": [], "one": ["a"], "two": ["a", "b"], "three": ["a", "b", "c"]}, 2, seed=0)
    assert design.left_out == {"none": 2, "one": 2, "two": 1}
    assert Counter(design.table["task"].to_list()) == {"two": 1, "three": 2}
    empty = design_pairs({}, 1, 0)
    assert (empty.table.height, empty.spread()) == (0, (0, 0))


def test_seeded_and_independent_of_the_order_of_the_runs() -> None:
    runs = {f"t{i}": SYSTEMS for i in range(40)}
    shuffled = {task: list(reversed(systems)) for task, systems in reversed(runs.items())}
    first = design_pairs(runs, 1, 5).table
    assert design_pairs(shuffled, 1, 5).table.equals(first)
    assert not design_pairs(runs, 1, 6).table.equals(first)
    assert first["vote"].to_list() == [f"P{n:04d}" for n in range(1, 41)]


def test_the_order_of_showing_is_not_the_order_of_tasks() -> None:
    tasks = design_pairs({f"t{i:02d}": SYSTEMS for i in range(40)}, 1, 0).table["task"].to_list()
    assert tasks != sorted(tasks)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_side_is_drawn_by_lot(seed: int) -> None:
    """Over many seeds a single comparison is shown either way about equally often (binomial: 3.9 sd of 200)."""
    shown = [design_pairs({"t": ["a", "b"]}, 1, 1000 * seed + k).table["system_a"].item() for k in range(200)]
    assert 72 <= shown.count("a") <= 128
