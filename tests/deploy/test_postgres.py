"""The graph's events in a real PostgreSQL: in batches, read back, and whole again after the database crashed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster_postgres.event_log import PostgresEventLogStorage
from dagster_postgres.utils import DagsterPostgresException

from tests.deploy.server import PostgresServer
from tests.graph.conftest import World
from tests.graph.stored_events import answers, check_expected, entries
from tests.graph.wired import definitions_of
from vvb_assets import publishing
from vvb_assets.event_storage.postgres import BatchPostgresEventLogStorage
from vvb_assets.graph import Graph, Made, Node, Workspace
from vvb_assets.progress import Silent
from vvb_assets.provenance import asset_key, recorded_versions
from vvb_assets.running import Report, Selection, open_instance, run_plan
from vvb_resources.errors import StoreError
from vvb_resources.store.home import Home

pytestmark = pytest.mark.xdist_group("postgres")

TASKS = tuple(f"t{number:02d}" for number in range(14))
RUNS = 2 * len(TASKS)


def run(world: World, instance: dg.DagsterInstance) -> Report:
    return run_plan(
        world.workspace(), definitions_of(world), instance, Selection(), rerun_held=False, listener=Silent()
    )


def on_disk(graph: Graph, workspace: Workspace) -> dict[str, dict[str | None, str]]:
    """Data versions by asset and partition, as the manifests have them."""
    return {
        key: {p: m.data_version for p, m in workspace.store.manifests(key, graph.partitions(node)).items()}
        for key, node in graph.nodes.items()
    }


def in_database(graph: Graph, instance: dg.DagsterInstance) -> dict[str, dict[str | None, str]]:
    """The same as PostgreSQL has them."""
    return {key: recorded_versions(instance, node) for key, node in graph.nodes.items()}


@pytest.mark.parametrize("cuts", [(0, 19), (0, 1, 13, 14, 16, 19)])
def test_batches_answer_as_single_events_do(postgres: PostgresServer, shared_home: Home, cuts: tuple[int, ...]) -> None:
    run_id = "8f3c4c52-0000-4000-8000-000000000001"
    found = []
    for kind in (PostgresEventLogStorage, BatchPostgresEventLogStorage):
        postgres.empty()
        storage = kind(postgres.url)
        with dg.instance_for_test() as instance:
            storage.register_instance(instance)
            batch = entries(run_id)
            if kind is PostgresEventLogStorage:
                for entry in batch:
                    storage.store_event(entry)
            else:
                for start, end in itertools.pairwise(cuts):
                    storage.store_event_batch(batch[start:end])
            found.append(answers(storage, run_id))
            storage._engine.dispose()
    check_expected(found[0])
    assert found[1] == found[0]


@pytest.fixture
def world(shared_home: Home) -> World:
    return World(shared_home.root, tasks=TASKS)


def test_events_go_in_batches_and_come_back(world: World, shared_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[tuple[str, str]]] = []
    stored = BatchPostgresEventLogStorage.store_event_batch

    def counted(self: BatchPostgresEventLogStorage, events: Any) -> None:
        told = [event.get_dagster_event() for event in events]
        batches.append([(event.asset_key.to_user_string(), event.event_type_value) for event in told])
        stored(self, events)

    monkeypatch.setattr(BatchPostgresEventLogStorage, "store_event_batch", counted)
    monkeypatch.setattr(publishing, "BATCH_EVENTS", 20)
    monkeypatch.setattr(publishing, "BATCH_SECONDS", 600.0)  # a slow machine sends smaller batches
    with open_instance(shared_home) as instance:
        assert type(instance.event_log_storage) is BatchPostgresEventLogStorage
        report = run(world, instance)
        assert report.failed == {}
        workspace = world.workspace()
        versions = on_disk(workspace.graph, workspace)
        assert [len(versions[key]) for key in ("rollout", "checked", "scored", "table")] == [RUNS, RUNS, RUNS, 1]
        assert in_database(workspace.graph, instance) == versions

        checked = [batch for batch in batches if "checked" in dict(batch)]
        assert all(len(set(batch)) == 1 for batch in checked), "a batch is of one asset and one kind"
        made = [("ASSET_MATERIALIZATION", 20), ("ASSET_MATERIALIZATION", RUNS - 20)]
        assert [(batch[0][1], len(batch)) for batch in checked] == [("ASSET_MATERIALIZATION_PLANNED", RUNS), *made]
        event = instance.fetch_materializations(asset_key("checked"), limit=1).records[0].asset_materialization
        assert event is not None
        assert event.metadata["n"].value == 1
        assert {"dagster/input_data_version/rollout", "dagster/input_data_version/limits"} <= set(event.tags or {})

        world.files["limits", None] = "second"
        assert run(world, instance).made["checked"] == RUNS
        assert in_database(workspace.graph, instance) == on_disk(workspace.graph, workspace)
        assert run(world, instance) == Report(), "nothing is left to make or to publish"


class CrashingWorld(World):
    """Calls `crash` before the twenty-seventh check is made, once."""

    crash: Callable[[], None]
    crashed_at: str | None = None

    def _node(self, key: str, dims: Any, inputs: tuple[str, ...], **more: Any) -> Node:
        node = super()._node(key, dims, inputs, **more)

        def make(workspace: Workspace, of: Node, partition: str | None, out: Path) -> Made:
            if key == "checked" and sum(n for (k, _), n in self.made.items() if k == key) == 26 and not self.crashed_at:
                self.crashed_at = partition
                self.crash()
            return node.make(workspace, of, partition, out)

        return replace(node, make=make)


@pytest.mark.parametrize("comes_back", ["at once", "after the run has failed"])
def test_a_database_that_crashes_in_the_middle_costs_no_work(
    postgres: PostgresServer, shared_home: Home, comes_back: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if comes_back != "at once":
        monkeypatch.setattr("dagster_postgres.utils.calculate_delay", lambda **_: 0.01)  # fail soon

    def crash() -> None:
        postgres.crash()
        if comes_back == "at once":
            postgres.start()

    world = CrashingWorld(shared_home.root, tasks=TASKS)
    world.crash = crash
    with open_instance(shared_home) as instance:
        if comes_back == "at once":
            assert run(world, instance).failed == {}, "lost connections are made again"
        else:
            with pytest.raises(DagsterPostgresException):
                run(world, instance)
            postgres.start()
            again = run(world, instance)
            assert again.failed == {}
            assert again.republished["checked"] > 0, "what was made but not logged is only logged"
        assert world.crashed_at == "b|t12"
        workspace = world.workspace()
        assert set(world.made.values()) == {1}, "nothing was made twice"
        assert len(world.made) == 3 * RUNS + 1
        assert in_database(workspace.graph, instance) == on_disk(workspace.graph, workspace)


def test_a_missing_settings_file_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VVB_DAGSTER_YAML", str(tmp_path / "none.yaml"))
    with pytest.raises(StoreError, match=r"none.yaml: is missing -- mend VVB_DAGSTER_YAML"):
        open_instance(Home(tmp_path, "world"))
