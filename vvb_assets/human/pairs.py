"""The pair design: which two systems' videos are compared on which task, and on which side each is shown.

Every system pair is shown about equally often, every system about equally often on each side, and what balance leaves
open is random. The same runs and seed give the same design, on any machine.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

Pair = tuple[str, str]  # two systems in id order

SCHEMA = {"vote": pl.String, "task": pl.String, "system_a": pl.String, "system_b": pl.String}
MAX_LOOKS = 20_000_000  # replacements the search for a better balance looks at: some seconds


@dataclass(frozen=True)
class Design:
    """`table`: vote (a key), task, system_a, system_b, in the order of showing. `left_out`: tasks with too few runs."""

    table: pl.DataFrame
    left_out: Mapping[str, int]

    def spread(self) -> tuple[int, int]:
        """Fewest and most comparisons of a pair of systems, over the pairs of systems that are in the design."""
        counts = Counter(tuple(sorted(row)) for row in self.table.select("system_a", "system_b").iter_rows())
        return (min(counts.values()), max(counts.values())) if counts else (0, 0)


def design_pairs(runs: Mapping[str, Sequence[str]], pairs_per_task: int, seed: int) -> Design:
    """Choose `pairs_per_task` pairs of systems for each task, no pair twice on a task.

    `runs` maps a task to the systems whose run on it is playable and judged whole by every panel. A task with fewer
    possible pairs is shown with those it has; one with fewer than two systems is left out. `left_out` gives for each
    task the number of pairs that are wanting.
    """
    rng = random.Random(seed)
    options = {task: list(combinations(sorted(systems), 2)) for task, systems in sorted(runs.items())}
    chosen = _choose(options, pairs_per_task, rng)
    _even_out(chosen, options)
    shown = [(task, pair) for task in sorted(chosen) for pair in sorted(chosen[task])]
    rng.shuffle(shown)  # annotators must not meet one task's videos in a row
    rows = [(f"P{n:04d}", task, *sides) for n, (task, sides) in enumerate(_sides(shown, rng), start=1)]
    wanting = {task: pairs_per_task - len(chosen[task]) for task in options if len(chosen[task]) < pairs_per_task}
    return Design(pl.DataFrame(rows, schema=SCHEMA, orient="row"), wanting)


def _choose(options: Mapping[str, list[Pair]], wanted: int, rng: random.Random) -> dict[str, set[Pair]]:
    """Greedy: the tasks with the least choice first, each with the pairs and systems shown least so far."""
    tasks = sorted(options)
    rng.shuffle(tasks)
    tasks.sort(key=lambda task: len(options[task]))
    pair_count: Counter[Pair] = Counter()
    system_count: Counter[str] = Counter()
    chosen: dict[str, set[Pair]] = {task: set() for task in tasks}
    for task in tasks:
        for _ in range(min(wanted, len(options[task]))):
            shown = {
                pair: (pair_count[pair], system_count[pair[0]] + system_count[pair[1]])
                for pair in options[task]
                if pair not in chosen[task]
            }
            least = min(shown.values())
            pair = rng.choice([pair for pair, often in shown.items() if often == least])
            chosen[task].add(pair)
            pair_count[pair] += 1
            system_count.update(pair)
    return chosen


def _even_out(chosen: dict[str, set[Pair]], options: Mapping[str, list[Pair]]) -> None:
    """Move comparisons from a pair shown often to one shown at least twice less, along chains of tasks, until none.

    The counts are then as even as the playable runs allow: no other choice has a smaller sum of squares (a minimum-cost
    flow without a negative cycle). For very large studies it stops early, with a design that is nearly so.
    """
    count: Counter[Pair] = Counter({pair: 0 for pairs in options.values() for pair in pairs})
    holders: dict[Pair, set[str]] = {pair: set() for pair in count}
    for task, pairs in chosen.items():
        for pair in pairs:
            count[pair] += 1
            holders[pair].add(task)
    looks, moved = 0, True
    while moved and looks < MAX_LOOKS:
        moved = False
        for start in sorted(count, key=lambda pair: (-count[pair], pair)):
            path, looked = _chain(start, count, holders, chosen, options)
            looks += looked
            for source, task, target in path:
                chosen[task].remove(source)
                chosen[task].add(target)
                holders[source].remove(task)
                holders[target].add(task)
            if path:
                count[start] -= 1
                count[path[-1][2]] += 1
                moved = True
            if looks >= MAX_LOOKS:
                break


def _chain(
    start: Pair,
    count: Mapping[Pair, int],
    holders: Mapping[Pair, set[str]],
    chosen: Mapping[str, set[Pair]],
    options: Mapping[str, list[Pair]],
) -> tuple[list[tuple[Pair, str, Pair]], int]:
    """Shortest chain of replacements (pair, task, new pair) from `start` to a pair shown two times less, [] if none.

    Also the number of replacements looked at.
    """
    came: dict[Pair, tuple[Pair, str]] = {}
    seen, queue, looked = {start}, deque([start]), 0
    while queue:
        source = queue.popleft()
        for task in sorted(holders[source]):
            for target in options[task]:
                looked += 1
                if target in seen or target in chosen[task]:
                    continue
                seen.add(target)
                came[target] = (source, task)
                if count[start] - count[target] >= 2:
                    return _walk_back(start, target, came), looked
                queue.append(target)
    return [], looked


def _walk_back(start: Pair, target: Pair, came: Mapping[Pair, tuple[Pair, str]]) -> list[tuple[Pair, str, Pair]]:
    path = []
    while target != start:
        source, task = came[target]
        path.append((source, task, target))
        target = source
    return path[::-1]


def _sides(shown: Sequence[tuple[str, Pair]], rng: random.Random) -> list[tuple[str, Pair]]:
    """Side A for the system that had it less often so far, else by lot."""
    lead: Counter[str] = Counter()  # times on side A minus times on side B
    placed = []
    for task, (first, second) in shown:
        gap = lead[first] - lead[second]
        swap = gap > 0 if gap else rng.random() < 0.5
        a, b = (second, first) if swap else (first, second)
        lead[a] += 1
        lead[b] -= 1
        placed.append((task, (a, b)))
    return placed
