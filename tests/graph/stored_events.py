"""Events of one run, and what an event storage answers about them: what two storages are compared by."""

from __future__ import annotations

from typing import Any

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.events import AssetMaterializationPlannedData, DagsterEvent, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

KEYS = [dg.AssetKey(["J1", "judgment"]), dg.AssetKey(["leaderboard"])]
VERSION = "dagster/data_version"
KINDS = dg.DagsterEventType
CHECK = "complete"


def entries(run_id: str) -> list[EventLogEntry]:
    """Of two assets, six partitions: planned, materialised with tags, checked; and checks without a partition.

    Some checks are planned before, some are not, and one is made twice.
    """
    told: list[DagsterEvent] = []
    for number in range(6):
        key, partition = KEYS[number % 2], f"s|t{number}"
        told.append(
            DagsterEvent.build_asset_materialization_planned_event(
                "job", "step", AssetMaterializationPlannedData(key, partition=partition)
            )
        )
        made = dg.AssetMaterialization(
            key, partition=partition, metadata={"n": number}, tags={VERSION: f"v{number}", "dagster/code_version": "1"}
        )
        told.append(_event(KINDS.ASSET_MATERIALIZATION, StepMaterializationData(made)))
    told.append(_planned_check(KEYS[1], CHECK))
    for number in (0, 2, 4, 2):
        told.append(_check(KEYS[0], CHECK, f"s|t{number}", passed=len(told) % 2 == 0, target=number + 1))
    told += [_check(KEYS[1], CHECK, None, passed=False, target=6), _check(KEYS[1], "unplanned", None, True, None)]
    return [
        EventLogEntry(
            error_info=None,
            level=10,
            user_message="",
            run_id=run_id,
            timestamp=1000.0 + number,
            step_key="step",
            job_name="job",
            dagster_event=event,
        )
        for number, event in enumerate(told)
    ]


def _event(kind: dg.DagsterEventType, data: Any) -> DagsterEvent:
    return DagsterEvent(event_type_value=kind.value, job_name="job", step_key="step", event_specific_data=data)


def _planned_check(key: dg.AssetKey, name: str) -> DagsterEvent:
    return _event(KINDS.ASSET_CHECK_EVALUATION_PLANNED, AssetCheckEvaluationPlanned(asset_key=key, check_name=name))


def _check(key: dg.AssetKey, name: str, partition: str | None, passed: bool, target: int | None) -> DagsterEvent:
    judged = (
        AssetCheckEvaluationTargetMaterializationData(storage_id=target, run_id="r", timestamp=1.0) if target else None
    )
    result = dg.AssetCheckEvaluation(
        asset_key=key, check_name=name, passed=passed, partition=partition, target_materialization_data=judged
    )
    return _event(KINDS.ASSET_CHECK_EVALUATION, result)


def answers(storage: SqlEventLogStorage, run_id: str) -> dict[str, Any]:
    """What the UI, the plan and the daemon ask of a storage."""
    kind = KINDS.ASSET_MATERIALIZATION
    found: dict[str, Any] = {"log": [e.get_dagster_event().event_type_value for e in storage.get_logs_for_run(run_id)]}
    for key in KEYS:
        name = key.to_user_string()
        found[f"{name} partitions"] = sorted(storage.get_materialized_partitions(key))
        found[f"{name} versions"] = storage.get_latest_tags_by_partition(key, kind, [VERSION])
        found[f"{name} ids"] = dict(storage.get_latest_storage_id_by_partition(key, kind))
        found[f"{name} planned"] = dict(
            storage.get_latest_storage_id_by_partition(key, KINDS.ASSET_MATERIALIZATION_PLANNED)
        )
        record = next(iter(storage.get_asset_records([key])))
        newest = record.asset_entry.last_materialization_record
        found[f"{name} newest"] = (newest.storage_id, newest.event_log_entry.timestamp) if newest else None
        events = storage.fetch_materializations(key, limit=100).records
        found[f"{name} events"] = [(r.storage_id, r.partition_key, dict(r.asset_materialization.tags)) for r in events]  # type: ignore[union-attr,arg-type]
        for check in (CHECK, "unplanned"):
            history = storage.get_asset_check_execution_history(dg.AssetCheckKey(key, check), limit=100)
            found[f"{name} {check}"] = [
                (r.status.value, r.partition, r.create_timestamp > 0, r.event.timestamp if r.event else None)  # type: ignore[union-attr]
                for r in history
            ]
            latest = storage.get_latest_asset_check_execution_by_key([dg.AssetCheckKey(key, check)])
            found[f"{name} latest {check}"] = [
                (r.status.value, r.event.get_dagster_event().event_specific_data if r.event else None)
                for r in latest.values()
            ]
    return found


def check_expected(found: dict[str, Any]) -> None:
    """What the answers have to be, read off `entries` by hand."""
    assert found["J1/judgment partitions"] == ["s|t0", "s|t2", "s|t4"]
    assert found["leaderboard versions"]["s|t5"] == {VERSION: "v5"}
    by_partition = {partition: status for status, partition, *_ in found["J1/judgment complete"]}
    assert len(found["J1/judgment complete"]) == 3, "a check made twice in a run is one row"
    assert set(by_partition) == {"s|t0", "s|t2", "s|t4"}
    assert [status for status, *_ in found["leaderboard complete"]] == ["FAILED"], "the planned row became the result"
    assert [status for status, *_ in found["leaderboard unplanned"]] == ["SUCCEEDED"]
