"""One tick of automation: what became of the last requests, a sweep, and the requests that follow from it.

Exactly once: what was asked for and has not ended is busy, and the memory is stored with the requests themselves (the
sensor's cursor, which Dagster writes in the same step in which it reserves the runs).
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, dataclass, field

import dagster as dg
from dagster._core.storage.tags import RUN_KEY_TAG

from vvb_assets.graph import Graph, Workspace
from vvb_assets.panels.estimates import with_estimates
from vvb_assets.plan import Plan, Stale, make_plan
from vvb_assets.provenance import recorded_versions
from vvb_assets.sweep import Busy, Policy, Sweep, Sweeper, Tries
from vvb_assets.unfinished import UNFINISHED, expected_versions, find_busy

RETRY_INTERVALS, RETRY_GROWTH = 2, 4


@dataclass
class Memory:
    """What automation remembers between ticks.

    - `number`: requests so far, so that no two runs share a key; `open`: op of each request that has not ended
    - `tries`: by expected version, how often it failed and when last (seconds since the epoch)
    - `usd`: estimated cost of what was asked for on `day` (UTC)
    """

    number: int = 0
    open: dict[str, str] = field(default_factory=dict)
    tries: dict[str, tuple[int, float]] = field(default_factory=dict)
    day: str = ""
    usd: float = 0.0

    @classmethod
    def of(cls, cursor: str | None) -> Memory:
        """The memory in a cursor; an empty one, or one of another release, remembers nothing."""
        try:
            return cls(**json.loads(cursor or "{}"))
        except (ValueError, TypeError):
            return cls()

    def to_cursor(self) -> str:
        """The memory as a sensor's cursor."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Tick:
    """A sweep, the key of each of its requests, and the memory to keep with them."""

    sweep: Sweep
    keys: tuple[str, ...]
    memory: Memory


def tick(
    workspace: Workspace,
    instance: dg.DagsterInstance,
    loaded: Graph,
    memory: Memory,
    now: dt.datetime,
    ops: frozenset[str],
) -> Tick:
    """Sweep the ops named `ops` of the workspace. `loaded` is the graph as Dagster has it, `now` aware of its zone.

    Raises VvbError when an artifact or the benchmark cannot be read.
    """
    settings, seconds = workspace.benchmark.config.automation, now.timestamp()
    after = _settle(memory, instance, seconds)
    today = now.astimezone(dt.UTC).date().isoformat()
    if after.day != today:
        after.day, after.usd = today, 0.0

    def tries(version: str) -> Tries:
        failed, last = after.tries.get(version, (0, 0.0))
        pause = settings.interval_s * RETRY_INTERVALS * RETRY_GROWTH ** (failed - 1) if failed else 0.0
        return Tries(failed, seconds >= last + pause)

    def price(items: list[Stale]) -> list[float | None]:
        return [item.usd for item in with_estimates(workspace, Plan(stale=items)).stale]

    policy = Policy(ops, settings.rollouts == "missing", settings.usd_day - after.usd, settings.attempts)
    # Who is at work is read before the plan: a run that ends in between is seen as busy, and never as undone.
    busy: Busy = find_busy(instance, loaded)
    plan = make_plan(workspace)
    swept = Sweeper(
        workspace,
        plan,
        loaded,
        lambda node: recorded_versions(instance, node),
        busy,
        policy,
        tries,
        price,
    ).sweep()
    keys = []
    for request in swept.requests:
        after.number += 1
        keys.append(f"{request.key}:{after.number}")
        after.open[keys[-1]] = request.op
    after.usd += swept.usd
    after.tries = {version: told for version, told in after.tries.items() if version in swept.current}
    return Tick(swept, tuple(keys), after)


def _settle(memory: Memory, instance: dg.DagsterInstance, seconds: float) -> Memory:
    """Look what became of the requests that were open: those of them that have ended count as tries.

    A version that was made is not wanted any more, so its try is forgotten after the sweep.
    """
    after = Memory(memory.number, {}, {v: (n, t) for v, (n, t) in memory.tries.items()}, memory.day, memory.usd)
    for key, op in memory.open.items():
        runs = instance.get_runs(dg.RunsFilter(tags={RUN_KEY_TAG: key}), limit=1)
        if runs and runs[0].status in UNFINISHED:
            after.open[key] = op
            continue
        for version in expected_versions(runs[0], op) if runs else []:
            after.tries[version] = (after.tries.get(version, (0, 0.0))[0] + 1, seconds)
    return after
