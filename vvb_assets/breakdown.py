"""A plan added up: by stage, panel, system and task, with calls, tokens, USD, and how long it would take.

Seconds are of work, as measured when such artifacts were made (rates.py). `wall_seconds` shares an op's work among its
workers and takes one op after the other, as `vvb run` does. `untimed` counts partitions whose like was never made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vvb_assets.graph import Graph, split_run
from vvb_assets.plan import Plan, Stale

KINDS = ("stage", "panel", "system", "task")


def added_up(items: Iterable[Stale]) -> dict[str, Any]:
    """Sums over partitions: partitions, calls, tokens, usd (None while a price is unknown), seconds, untimed."""
    partitions = calls = tokens_in = tokens_out = untimed = 0
    usd: float | None = 0.0
    seconds = 0.0
    for item in items:
        partitions += 1
        calls += item.calls
        tokens_in += item.input_tokens
        tokens_out += item.output_tokens
        usd = None if usd is None or item.usd is None else usd + item.usd
        untimed += item.seconds is None
        seconds += item.seconds or 0.0
    return {
        "partitions": partitions,
        "calls": calls,
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "usd": None if usd is None else round(usd, 6),
        "seconds": round(seconds, 1),
        "untimed": untimed,
    }


def wall_seconds(graph: Graph, items: Iterable[Stale]) -> float:
    """Wall time of making `items`, op after op, each with its workers."""
    work: dict[str, float] = {}
    for item in items:
        node = graph.nodes[item.asset]
        work[node.op_name] = work.get(node.op_name, 0.0) + (item.seconds or 0.0) / node.workers
    return round(sum(work.values()), 1)


def breakdown(graph: Graph, plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Rows by stage, panel, system and task; a row has its name under the kind, the sums, and `wall_seconds`.

    An artifact that has no panel (or system, or task) is in no row of that kind.
    """
    grouped: dict[str, dict[str, list[Stale]]] = {kind: {} for kind in KINDS}
    for item in plan.stale:
        for kind, name in _names(graph, item).items():
            grouped[kind].setdefault(name, []).append(item)
    return {
        kind: [
            {kind: name, **added_up(items), "wall_seconds": wall_seconds(graph, items)} for name, items in rows.items()
        ]
        for kind, rows in grouped.items()
    }


def _names(graph: Graph, item: Stale) -> Mapping[str, str]:
    node = graph.nodes[item.asset]
    names = {"stage": node.stage}
    if "/" in item.asset:
        names["panel"] = item.asset.split("/")[0]
    if item.partition is None:
        return names
    if node.dims == "run":
        names["system"], names["task"] = split_run(item.partition)
    else:
        names[node.dims] = item.partition
    return names


def document(graph: Graph, plan: Plan) -> dict[str, Any]:
    """The `vvb plan --json` document: the plan, and what it adds up to."""
    found = plan.to_json()
    sums = added_up(plan.stale) | {"wall_seconds": wall_seconds(graph, plan.stale)}
    return found | {"totals": sums | {"held": len(plan.held), "fresh": plan.fresh}, "by": breakdown(graph, plan)}
