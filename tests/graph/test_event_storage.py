"""The batching storage against Dagster's stock one: the same events in, the same answers out."""

from __future__ import annotations

import itertools
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from tests.graph.stored_events import answers, check_expected, entries
from vvb_assets.event_storage.sqlite import BatchSqliteEventLogStorage

RUN = "8f3c4c52-0000-4000-8000-00000000000{}"


@pytest.mark.parametrize("cuts", [(0, 19), (0, 5, 19), (0, 1, 13, 14, 16, 19)])
def test_batches_answer_as_single_events_do(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    run_id = RUN.format(1)
    stock = SqliteEventLogStorage(str(tmp_path / "stock"))
    batching = BatchSqliteEventLogStorage(str(tmp_path / "batch"))
    with dg.instance_for_test() as instance:
        stock.register_instance(instance)
        batching.register_instance(instance)
        batch = entries(run_id)
        assert cuts[-1] == len(batch)
        for entry in batch:
            stock.store_event(entry)
        for start, end in itertools.pairwise(cuts):
            batching.store_event_batch(batch[start:end])
        expected, found = answers(stock, run_id), answers(batching, run_id)
    check_expected(expected)
    assert found == expected


@pytest.mark.parametrize("size", [0, 1])
def test_small_batches_are_stored_too(tmp_path: Path, size: int) -> None:
    run_id = RUN.format(2)
    storage = BatchSqliteEventLogStorage(str(tmp_path))
    with dg.instance_for_test() as instance:
        storage.register_instance(instance)
        storage.store_event_batch(entries(run_id)[:size])
        assert len(storage.get_logs_for_run(run_id)) == size


def test_many_runs_and_two_processes_share_the_files(tmp_path: Path) -> None:
    """Kept connections: another storage over the same folder reads what was just written, of any run."""
    one, other = (BatchSqliteEventLogStorage(str(tmp_path)) for _ in range(2))
    with dg.instance_for_test() as instance:
        for storage in (one, other):
            storage.register_instance(instance)
        for number in range(4):
            writer, reader = (one, other) if number % 2 else (other, one)
            writer.store_event_batch(entries(RUN.format(number)))
            assert len(reader.get_logs_for_run(RUN.format(number))) == len(entries(RUN.format(number)))
        assert len(one.get_logs_for_run(RUN.format(0))) == len(entries(RUN.format(0)))
        events = one.fetch_materializations(dg.AssetKey(["J1", "judgment"]), limit=100).records
        assert len(events) == 4 * 3
        one.dispose()
        assert one.get_materialized_partitions(dg.AssetKey(["leaderboard"])) == {"s|t1", "s|t3", "s|t5"}
