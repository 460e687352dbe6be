"""SQLite storage whose event log writes batches; named by dagster.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import QueuePool

from vvb_assets.event_storage.batches import BatchWriter


class BatchSqliteEventLogStorage(BatchWriter, SqliteEventLogStorage):
    """Dagster's SQLite event log: a database a run, and an index of asset events over all runs.

    The connections to the index and to the run last used are kept: the stock storage opens the file for every
    statement, and the last connection that closes it moves SQLite's log into the database, with its fsyncs.
    """

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> Engine:
        kept: dict[str, Engine] = self.__dict__.setdefault("_kept", {})
        if shard not in kept:
            for other in [name for name in kept if INDEX_SHARD_NAME not in (name, shard)]:
                kept.pop(other).dispose()
            engine = create_engine(
                self.conn_string_for_shard(shard),
                poolclass=QueuePool,
                pool_size=1,
                connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
            )
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            kept[shard] = engine
        return kept[shard]

    def dispose(self) -> None:
        """Close what is kept."""
        for engine in self.__dict__.pop("_kept", {}).values():
            engine.dispose()
        super().dispose()

    def _store_plain_batch(self, events: Sequence[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        statement = SqlEventLogStorageTable.insert()
        with self.run_connection(events[0].run_id) as connection:
            connection.execute(statement, rows)
        with self.index_transaction() as connection:
            connection.execute(statement, rows)
            last = connection.exec_driver_sql("select max(id) from event_logs").scalar()
            assert isinstance(last, int)
            self._store_what_follows(connection, events, list(range(last - len(rows) + 1, last + 1)))


class BatchSqliteStorage(DagsterSqliteStorage):
    """Dagster's SQLite storage with the batching event log; named by dagster.yaml. `base_dir` is $DAGSTER_HOME."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = BatchSqliteEventLogStorage(str(Path(base_dir) / "history" / "runs"))

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> BatchSqliteStorage:
        """Built by Dagster from dagster.yaml."""
        return cls.from_local(str(config_value["base_dir"]), inst_data)
