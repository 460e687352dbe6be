"""Who is making what right now: unfinished runs, and backfills under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.execution.backfill import BulkActionsFilter, BulkActionStatus
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    PARTITION_NAME_TAG,
)

from vvb_assets.graph import Graph, Node
from vvb_assets.partitions import Partitions
from vvb_assets.provenance import asset_key
from vvb_assets.sweep import Busy
from vvb_assets.wiring import job_name, op_safe

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
UNDER_WAY = [BulkActionStatus.REQUESTED, BulkActionStatus.CANCELING, BulkActionStatus.FAILING]


def find_busy(instance: dg.DagsterInstance, graph: Graph) -> Busy:
    """What unfinished runs make, and the assets of the backfills that are under way (whose runs may not exist yet)."""
    partitions: dict[str, set[str | None]] = {}
    of = Partitions(graph)
    for run in instance.get_runs(dg.RunsFilter(statuses=UNFINISHED)):
        for node in _assets_of(run, graph):
            partitions.setdefault(node.key, set()).update(_partitions_of(run, node, of))
    backfills = instance.get_backfills(filters=BulkActionsFilter(statuses=UNDER_WAY))
    assets = {key.to_user_string() for backfill in backfills for key in backfill.asset_selection or ()}
    return Busy({key: frozenset(found) for key, found in partitions.items()}, frozenset(assets))


def _assets_of(run: dg.DagsterRun, graph: Graph) -> list[Node]:
    if run.asset_selection:
        return [node for node in graph.nodes.values() if asset_key(node.key) in run.asset_selection]
    return [node for node in graph.nodes.values() if job_name(node.op_name) == run.job_name]


def _partitions_of(run: dg.DagsterRun, node: Node, of: Partitions) -> Sequence[str | None]:
    """The list in its configuration, else what its tags name."""
    listed = listed_partitions(run, node.op_name)
    definition = of.of(node.dims)
    if listed or definition is None:
        return listed or [None]
    start, end = run.tags.get(ASSET_PARTITION_RANGE_START_TAG), run.tags.get(ASSET_PARTITION_RANGE_END_TAG)
    if start and end:
        return list(definition.get_partition_keys_in_range(dg.PartitionKeyRange(start, end)))
    named = run.tags.get(PARTITION_NAME_TAG)
    return [named] if named else []


def listed_partitions(run: dg.DagsterRun, op: str) -> list[str]:
    """The partitions that the run's configuration lists for an op; empty when it lists none."""
    return list(_config_of(run, op).get("partitions") or [])


def expected_versions(run: dg.DagsterRun, op: str) -> list[str]:
    """What a run of automation expected its partitions to become (`Request.versions`)."""
    return list(_config_of(run, op).get("versions") or [])


def _config_of(run: dg.DagsterRun, op: str) -> Mapping[str, Any]:
    steps: Mapping[str, Any] = run.run_config.get("ops") or {}  # type: ignore[assignment]
    found: Mapping[str, Any] = steps.get(op_safe(op), {}).get("config", {})
    return found
