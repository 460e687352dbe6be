"""Publishing artifacts as Dagster events: one materialisation and its check results a partition, in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.events import (
    AssetMaterializationPlannedData,
    DagsterEvent,
    DagsterEventBatchMetadata,
    DagsterEventType,
    generate_event_batch_id,
)

from vvb_assets.event_storage.batches import takes_check_results
from vvb_assets.graph import Node, Workspace, name_of
from vvb_assets.provenance import Pointers, asset_key, newest_ids, version_tags
from vvb_resources.store.artifacts import Manifest

BATCH_EVENTS = 50
BATCH_SECONDS = 2.0

T = TypeVar("T")
Describe = Callable[[Workspace, Node, Manifest], Mapping[str, dg.MetadataValue]]


def shown(workspace: Workspace, node: Node, manifest: Manifest, describe: Describe) -> dict[str, dg.MetadataValue]:
    """Metadata of an artifact's event, whole from the disk: figures, previews and links."""
    return {
        **describe(workspace, node, manifest),
        "made_at": dg.MetadataValue.text(manifest.made_at),
        "seconds": dg.MetadataValue.float(manifest.seconds),
        "payload": dg.MetadataValue.path(str(workspace.store.payload(manifest))),
        "made from": dg.MetadataValue.json(dict(manifest.inputs)),
    }


def materialization(
    workspace: Workspace, node: Node, manifest: Manifest, pointers: Pointers, describe: Describe
) -> dg.AssetMaterialization:
    """The event of an artifact: its metadata, and tags with its versions."""
    return dg.AssetMaterialization(
        asset_key(node.key),
        partition=manifest.partition,
        metadata=shown(workspace, node, manifest, describe),
        tags=version_tags(node, manifest, pointers),
    )


def log_checks(context: dg.AssetExecutionContext, batch: Sequence[tuple[Node, Manifest]]) -> None:
    """Log the check results of `batch`, all of one asset, tied to its materialisations, which are stored by now."""
    batch = [(node, manifest) for node, manifest in batch if manifest.checks]
    if not batch:
        return
    partitions = {manifest.partition for _, manifest in batch if manifest.partition is not None}
    targets = newest_ids(context.instance, batch[0][0], partitions)
    results = [
        check_evaluation(node, manifest, name, check, targets.get(manifest.partition), context.run.run_id)
        for node, manifest in batch
        for name, check in manifest.checks.items()
    ]
    if not takes_check_results(context.instance.event_log_storage):
        for result in results:
            context.log_event(result)
        return
    step = context.op_execution_context._step_execution_context
    for result, place in in_a_batch(results):
        outcome = f"{result.check_name} of {name_of(batch[0][0].key, result.partition)}"
        DagsterEvent.from_step(
            DagsterEventType.ASSET_CHECK_EVALUATION,
            step,
            result,
            f"{outcome} {'passed' if result.passed else 'did not pass'}. {result.description or ''}".strip(),
            place,
        )


def in_a_batch(items: Sequence[T]) -> Iterator[tuple[T, DagsterEventBatchMetadata]]:
    """Each item with its place in one batch of events, which Dagster stores when the last has come."""
    batch = str(generate_event_batch_id())  # type: ignore[no-untyped-call]
    for number, item in enumerate(items, start=1):
        yield item, DagsterEventBatchMetadata(batch, number == len(items))


class Collector:
    """Publishes a run of one partition by yielding its results.

    In such a run later steps may follow, and Dagster skips them when a step before them yields nothing; with a single
    partition, Dagster's own bookkeeping of versions is exact.
    """

    def __init__(self, context: dg.AssetExecutionContext, workspace: Workspace, describe: Describe) -> None:
        self.context, self.workspace, self.describe = context, workspace, describe
        self._waiting: list[tuple[Node, Manifest]] = []

    def add(self, node: Node, manifest: Manifest) -> None:
        """Queue an artifact."""
        self._waiting.append((node, manifest))

    def flush(self) -> Iterator[dg.MaterializeResult[Any]]:
        """Yield what is waiting, then log its checks."""
        for node, manifest in self._waiting:
            yield dg.MaterializeResult(
                asset_key=asset_key(node.key),
                metadata=shown(self.workspace, node, manifest, self.describe),
                data_version=dg.DataVersion(manifest.data_version),
            )
        for item in self._waiting:
            log_checks(self.context, [item])
        self._waiting = []


class Publisher:
    """Collects the events of one step and logs them in batches of one asset each, at most two seconds old.

    A crash loses at most one batch of events; the artifacts stay and are published by the next run.
    """

    def __init__(self, context: dg.AssetExecutionContext, workspace: Workspace, describe: Describe) -> None:
        self.context, self.workspace, self.describe = context, workspace, describe
        self._waiting: dict[str, list[tuple[Node, Manifest]]] = {}
        self._since = time.monotonic()

    def add(self, node: Node, manifest: Manifest) -> None:
        """Queue an artifact's events; flush when enough or old enough."""
        self._waiting.setdefault(node.key, []).append((node, manifest))
        if len(self._waiting[node.key]) >= BATCH_EVENTS or time.monotonic() - self._since >= BATCH_SECONDS:
            self.flush()

    def flush(self) -> tuple[()]:
        """Log what is waiting, upstream first, so that later events point at real storage ids; yields nothing."""
        order = [key for key in self.workspace.graph.nodes if key in self._waiting]
        for key in order:
            batch = self._waiting.pop(key)
            pointers = Pointers(self.context.instance, self.workspace.graph, [(n, m.partition) for n, m in batch])
            events = [materialization(self.workspace, n, m, pointers, self.describe) for n, m in batch]
            self._log_materializations(events)
            log_checks(self.context, batch)
        self._since = time.monotonic()
        return ()

    def _log_materializations(self, events: list[dg.AssetMaterialization]) -> None:
        step = self.context.op_execution_context._step_execution_context
        for event, place in in_a_batch(events):
            DagsterEvent.asset_materialization(step, event, place)

    def log_planned(self, node: Node, partitions: list[str]) -> None:
        """Tell Dagster which partitions this run is about to make (a run's own tags name only one of them)."""
        step = self.context.op_execution_context._step_execution_context
        for partition, place in in_a_batch(partitions):
            event = DagsterEvent.build_asset_materialization_planned_event(
                step.job_name, step.step.key, AssetMaterializationPlannedData(asset_key(node.key), partition=partition)
            )
            self.context.instance.report_dagster_event(event, self.context.run.run_id, batch_metadata=place)


def check_evaluation(
    node: Node, manifest: Manifest, name: str, check: Mapping[str, Any], target: int | None, run_id: str
) -> dg.AssetCheckEvaluation:
    """An asset check's outcome, tied to the materialisation it judged (else the UI takes it for outdated)."""
    return dg.AssetCheckEvaluation(
        asset_key=asset_key(node.key),
        check_name=name,
        passed=bool(check["passed"]),
        metadata={},
        severity=dg.AssetCheckSeverity[check.get("severity", "WARN")],
        description=str(check.get("description", "")),
        partition=manifest.partition,
        target_materialization_data=(
            AssetCheckEvaluationTargetMaterializationData(storage_id=target, run_id=run_id, timestamp=time.time())
            if target is not None
            else None
        ),
    )
