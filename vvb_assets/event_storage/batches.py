"""What follows from a batch of asset events, in one transaction: the part that SQLite and PostgreSQL share.

Stock storages write check results and planned partitions one event at a time, and SQLite everything
(docs/design/events.md has the figures). These classes lean on private methods of the pinned Dagster release;
`tests/graph/test_event_storage.py` compares them with the stock storages event by event, and the stock ones can be put
back over the same database by removing the `storage` block of dagster.yaml, or naming `postgres` in it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import sqlalchemy as db
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluation,
    AssetCheckEvaluationPlanned,
)
from dagster._core.events import DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._serdes import serialize_value
from sqlalchemy.engine import Connection

EVALUATION = DagsterEventType.ASSET_CHECK_EVALUATION
EVALUATION_PLANNED = DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
CHECKS = frozenset({EVALUATION, EVALUATION_PLANNED})

BATCHED = frozenset(
    {
        DagsterEventType.ASSET_MATERIALIZATION,
        DagsterEventType.ASSET_OBSERVATION,
        DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
        *CHECKS,
    }
)
"""What is written in batches. Stock storages refuse check results in a batch: ask `takes_check_results`."""


def takes_check_results(storage: object) -> bool:
    """May check results be sent to this event storage in batches."""
    return isinstance(storage, BatchWriter)


class BatchWriter(SqlEventLogStorage):
    """What both storages share: is a batch plain, and the rows that follow from its events."""

    def has_table(self, table_name: str) -> bool:
        """The stock answer, asked once: tables come with a migration and do not go."""
        known: set[str] = self.__dict__.setdefault("_known_tables", set())
        if table_name not in known and super().has_table(table_name):  # type: ignore[safe-super]
            known.add(table_name)
        return table_name in known

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store `events` in order; anything but a plain batch of asset events of one run goes the stock way."""
        plain = all(e.is_dagster_event and e.dagster_event_type in BATCHED for e in events)
        if not events or not plain or len({e.run_id for e in events}) != 1 or not events[0].run_id:
            for event in events:
                self.store_event(event)
            return
        self._store_plain_batch(events)

    @abstractmethod
    def _store_plain_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store asset events of one run, all of them or none."""

    def _store_what_follows(self, connection: Connection, events: Sequence[EventLogEntry], ids: Sequence[int]) -> None:
        """Tags, each asset's newest event, and check results, for events whose rows are stored under `ids`."""
        stored = list(zip(events, ids, strict=True))
        checks = [(event, number) for event, number in stored if event.dagster_event_type in CHECKS]
        assets = [(event, number) for event, number in stored if event.dagster_event_type not in CHECKS]
        if assets:
            tags = [
                {
                    "event_id": number,
                    "asset_key": _asset_of(event),
                    "key": key,
                    "value": value,
                    "event_timestamp": _time_of(event),
                }
                for event, number in assets
                for key, value in self._tags_for_asset_event(event).items()
            ]
            if tags:
                connection.execute(AssetEventTagsTable.insert(), tags)
            for event, number in {_asset_of(event): (event, number) for event, number in assets}.values():
                self._store_asset_event(connection, event, number)
        if checks:
            self._store_checks(connection, checks)

    def _store_checks(self, connection: Connection, checks: Sequence[tuple[EventLogEntry, int]]) -> None:
        """A row a check, run and partition: planned ones are inserted, results take their place or are inserted."""
        table = AssetCheckExecutionsTable
        rows: dict[tuple[str, str, str | None], dict[str, Any]] = {}
        for event, number in checks:
            for row in self._check_rows(event, number):
                rows[row["asset_key"], row["check_name"], row["partition"]] = row
        of_run = db.and_(
            table.c.run_id == checks[0][0].run_id,
            table.c.asset_key.in_({key for key, _, _ in rows}),
            table.c.check_name.in_({name for _, name, _ in rows}),
            db.or_(table.c.partition.is_(None), table.c.partition.in_({p for _, _, p in rows if p is not None})),
        )
        found = connection.execute(
            db.select(table.c.id, table.c.asset_key, table.c.check_name, table.c.partition).where(of_run)
        )
        known = {(key, name, partition): number for number, key, name, partition in found}
        for place in known.keys() & rows.keys():
            connection.execute(table.update().where(table.c.id == known[place]).values(**rows[place]))
        fresh = [row for place, row in rows.items() if place not in known]
        if fresh:
            connection.execute(table.insert(), fresh)

    def _check_rows(self, event: EventLogEntry, number: int) -> list[dict[str, Any]]:
        told = event.get_dagster_event().event_specific_data
        common = {
            "run_id": event.run_id,
            "evaluation_event": serialize_value(event),
            "evaluation_event_timestamp": _time_of(event),
            "evaluation_event_storage_id": number,
        }
        if event.dagster_event_type == EVALUATION_PLANNED:
            planned = cast(AssetCheckEvaluationPlanned, told)
            subset = planned.partitions_subset
            common |= {"asset_key": planned.asset_key.to_string(), "check_name": planned.check_name}
            status = AssetCheckExecutionRecordStatus.PLANNED
            common |= {"execution_status": status.value, "materialization_event_storage_id": None}
            return [{**common, "partition": p} for p in (subset.get_partition_keys() if subset else [None])]
        result = cast(AssetCheckEvaluation, told)
        passed = AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED
        judged = result.target_materialization_data
        return [
            {
                **common,
                "asset_key": result.asset_key.to_string(),
                "check_name": result.check_name,
                "execution_status": passed[0 if result.passed else 1].value,
                "materialization_event_storage_id": judged.storage_id if judged else None,
                "partition": result.partition,
            }
        ]


def _time_of(event: EventLogEntry) -> datetime:
    """In UTC without saying so, as Dagster's tables have it."""
    return datetime.fromtimestamp(event.timestamp, UTC).replace(tzinfo=None)


def _asset_of(event: EventLogEntry) -> str:
    key = event.get_dagster_event().asset_key
    assert key is not None, "an asset event names its asset"
    return key.to_string()
