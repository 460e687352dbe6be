"""Publishing artifacts as Dagster events: one materialisation and its check results a partition, in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.events import (
    AssetMaterializationPlannedData,
    DagsterEvent,
    DagsterEventBatchMetadata,
    generate_event_batch_id,
)

from vvb_assets.graph import Node, Workspace
from vvb_assets.provenance import MATERIALIZATION, Pointers, asset_key, version_tags
from vvb_resources.store.artifacts import Manifest

BATCH_EVENTS = 25
BATCH_SECONDS = 2.0

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


class Checks:
    """Logs the check results of published artifacts, tied to their materialisations."""

    def __init__(self, context: dg.AssetExecutionContext) -> None:
        self.context = context

    def log(self, batch: Sequence[tuple[Node, Manifest]]) -> None:
        """Log the checks of `batch`, whose materialisations are stored by now; all of one asset."""
        with_checks = [(node, manifest) for node, manifest in batch if manifest.checks]
        if not with_checks:
            return
        targets = self._targets(with_checks[0][0])
        for node, manifest in with_checks:
            for name, check in manifest.checks.items():
                target = targets.get(manifest.partition)
                self.context.log_event(check_evaluation(node, manifest, name, check, target, self.context.run.run_id))

    def _targets(self, node: Node) -> dict[str | None, int]:
        instance = self.context.instance
        if node.dims == "none":
            event = instance.get_latest_data_version_record(asset_key(node.key))
            return {None: event.storage_id} if event else {}
        return dict(instance.event_log_storage.get_latest_storage_id_by_partition(asset_key(node.key), MATERIALIZATION))


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
            Checks(self.context).log([item])
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
            pointers = Pointers(self.context.instance, self.workspace.graph)
            events = [materialization(self.workspace, n, m, pointers, self.describe) for n, m in batch]
            self._log_materializations(events)
            Checks(self.context).log(batch)
        self._since = time.monotonic()
        return ()

    def _log_materializations(self, events: list[dg.AssetMaterialization]) -> None:
        step = self.context.op_execution_context._step_execution_context
        batch = str(generate_event_batch_id())  # type: ignore[no-untyped-call]
        for number, event in enumerate(events, start=1):
            DagsterEvent.asset_materialization(step, event, DagsterEventBatchMetadata(batch, number == len(events)))

    def log_planned(self, node: Node, partitions: list[str]) -> None:
        """Tell Dagster which partitions this run is about to make (a run's own tags name only one of them)."""
        step = self.context.op_execution_context._step_execution_context
        batch = str(generate_event_batch_id())  # type: ignore[no-untyped-call]
        for number, partition in enumerate(partitions, start=1):
            event = DagsterEvent.build_asset_materialization_planned_event(
                step.job_name, step.step.key, AssetMaterializationPlannedData(asset_key(node.key), partition=partition)
            )
            place = DagsterEventBatchMetadata(batch, number == len(partitions))
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
