"""PostgreSQL storage whose event log writes batches over a kept connection; named by deploy/dagster-postgres.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._serdes import ConfigurableClassData
from dagster_postgres.event_log import PostgresEventLogStorage
from dagster_postgres.storage import DagsterPostgresStorage
from dagster_postgres.utils import create_pg_engine, get_token_provider_from_config, pg_url_from_config

from vvb_assets.event_storage.batches import BatchWriter

RECYCLE_S = 300  # a connection that was idle longer is made again: firewalls forget them


class BatchPostgresEventLogStorage(BatchWriter, PostgresEventLogStorage):
    """Dagster's PostgreSQL event log. A process keeps one connection; the stock one connects for each statement."""

    def __init__(
        self,
        postgres_url: str,
        should_autocreate_tables: bool = True,
        inst_data: ConfigurableClassData | None = None,
        token_provider: Any = None,
    ) -> None:
        super().__init__(postgres_url, should_autocreate_tables, inst_data, token_provider)
        self._engine = create_pg_engine(
            postgres_url,
            token_provider,
            isolation_level="AUTOCOMMIT",
            pool_size=1,
            pool_pre_ping=True,  # a database that was started again is noticed before anything is sent
            pool_recycle=RECYCLE_S,
        )

    def _store_plain_batch(self, events: Sequence[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        table = SqlEventLogStorageTable
        statement = table.insert().returning(table.c.id, sort_by_parameter_order=True)
        with self._connect() as connection:
            connection = connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                ids = [int(number) for (number,) in connection.execute(statement, rows)]
                self._store_what_follows(connection, events, ids)


class BatchPostgresStorage(DagsterPostgresStorage):
    """Dagster's PostgreSQL storage with the batching event log; the same configuration."""

    def __init__(
        self,
        postgres_url: str,
        should_autocreate_tables: bool = True,
        inst_data: ConfigurableClassData | None = None,
        token_provider: Any = None,
    ) -> None:
        super().__init__(postgres_url, should_autocreate_tables, inst_data, token_provider)
        self._event_log_storage = BatchPostgresEventLogStorage(
            postgres_url, should_autocreate_tables, token_provider=token_provider
        )

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> BatchPostgresStorage:
        """Built by Dagster from dagster.yaml."""
        return cls(
            pg_url_from_config(config_value),
            config_value.get("should_autocreate_tables", True),
            inst_data,
            get_token_provider_from_config(config_value),
        )
