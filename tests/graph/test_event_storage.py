"""The batching storage against Dagster's stock one: the same events in, the same answers out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.events import AssetMaterializationPlannedData, DagsterEvent, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from vvb_assets.event_storage import BatchSqliteEventLogStorage

KEYS = [dg.AssetKey(["J1", "judgment"]), dg.AssetKey(["leaderboard"])]
VERSION = "dagster/data_version"


def entries(run_id: str) -> list[EventLogEntry]:
    """Twelve events of two assets: planned ones, then materialisations with tags."""
    made = []
    for number in range(6):
        key, partition = KEYS[number % 2], f"s|t{number}"
        planned = DagsterEvent.build_asset_materialization_planned_event(
            "job", "step", AssetMaterializationPlannedData(key, partition=partition)
        )
        event = dg.AssetMaterialization(
            key, partition=partition, metadata={"n": number}, tags={VERSION: f"v{number}", "dagster/code_version": "1"}
        )
        done = DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
            job_name="job",
            step_key="step",
            event_specific_data=StepMaterializationData(event),
        )
        for each in (planned, done):
            made.append(
                EventLogEntry(
                    error_info=None,
                    level=10,
                    user_message="",
                    run_id=run_id,
                    timestamp=1000.0 + len(made),
                    step_key="step",
                    job_name="job",
                    dagster_event=each,
                )
            )
    return made


def answers(storage: SqliteEventLogStorage, run_id: str) -> dict[str, Any]:
    materialization = dg.DagsterEventType.ASSET_MATERIALIZATION
    found: dict[str, Any] = {"log": [e.get_dagster_event().event_type_value for e in storage.get_logs_for_run(run_id)]}
    for key in KEYS:
        name = key.to_user_string()
        found[f"{name} partitions"] = sorted(storage.get_materialized_partitions(key))
        found[f"{name} versions"] = storage.get_latest_tags_by_partition(key, materialization, [VERSION])
        found[f"{name} ids"] = dict(storage.get_latest_storage_id_by_partition(key, materialization))
        record = next(iter(storage.get_asset_records([key])))
        newest = record.asset_entry.last_materialization_record
        found[f"{name} newest"] = (newest.storage_id, newest.event_log_entry.timestamp) if newest else None
        events = storage.fetch_materializations(key, limit=100).records
        found[f"{name} events"] = [(r.storage_id, r.partition_key, dict(r.asset_materialization.tags)) for r in events]  # type: ignore[union-attr,arg-type]
    return found


def test_batches_answer_as_single_events_do(tmp_path: Path) -> None:
    run_id = "8f3c4c52-0000-4000-8000-000000000001"
    stock = SqliteEventLogStorage(str(tmp_path / "stock"))
    batching = BatchSqliteEventLogStorage(str(tmp_path / "batch"))
    with dg.instance_for_test() as instance:
        stock.register_instance(instance)
        batching.register_instance(instance)
        for entry in entries(run_id):
            stock.store_event(entry)
        batch = entries(run_id)
        batching.store_event_batch(batch[:5])
        batching.store_event_batch(batch[5:])
        expected, found = answers(stock, run_id), answers(batching, run_id)
    assert expected["J1/judgment partitions"] == ["s|t0", "s|t2", "s|t4"]
    assert expected["leaderboard versions"]["s|t5"] == {VERSION: "v5"}
    assert found == expected


@pytest.mark.parametrize("size", [0, 1])
def test_small_batches_are_stored_too(tmp_path: Path, size: int) -> None:
    run_id = "8f3c4c52-0000-4000-8000-000000000002"
    storage = BatchSqliteEventLogStorage(str(tmp_path))
    with dg.instance_for_test() as instance:
        storage.register_instance(instance)
        storage.store_event_batch(entries(run_id)[:size])
        assert len(storage.get_logs_for_run(run_id)) == size
