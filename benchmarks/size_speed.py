"""What a size costs besides plan and events: the start of a run, SQL views, the UI's questions.

`python -m benchmarks.size_speed --tasks 239 [--postgres] [--keep FOLDER]`: fills a store and Dagster's tables
(SYNTHETIC), then prints one column of the table in docs/performance.md. `--keep` names a folder that is filled once and
used again. Wall seconds, the median of ROUNDS (starts: once).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from dagster import DagsterEventType

from benchmarks.event_speed import storage
from benchmarks.synthetic_events import insert_events
from benchmarks.synthetic_store import fill_payloads, fill_store, write_benchmark
from tests.webserver import Webserver, free_port
from vvb_assets.graph import Workspace
from vvb_assets.making import current_inputs
from vvb_assets.panels.judgment import Judgment
from vvb_assets.running import open_instance
from vvb_assets.serving import LOCATION, serving
from vvb_assets.settings import Settings
from vvb_resources.store.views import connect

ROUNDS = 5
PARTS = ("store", "run", "ui")
BATCH = 100  # partitions of the run whose start is measured
ASKED, OP = "J1/l2_verdicts", "panel_J1"
KEY = {"path": ASKED.split("/")}
GRAPH = """{ assetNodes { id assetKey { path } groupName opNames jobNames isPartitioned isExecutable computeKind
    dependencyKeys { path } dependedByKeys { path } } }"""
LIVE = """query($keys: [AssetKeyInput!]!) { assetNodes(assetKeys: $keys) { id staleStatus
    partitionStats { numMaterialized numMaterializing numPartitions numFailed }
    assetMaterializations(limit: 1) { timestamp runId } }
    assetsLatestInfo(assetKeys: $keys) { id unstartedRunIds inProgressRunIds latestRun { id status } } }"""
STATS = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
    partitionStats { numMaterialized numMaterializing numPartitions numFailed } } } }"""
EVENTS = """query($key: AssetKeyInput!, $partitions: [String!]) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
    assetMaterializations(partitions: $partitions, limit: 100) { timestamp runId partition tags { key value }
        metadataEntries { label __typename } } } } }"""
HEAT = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
    partitionKeysByDimension { name type partitionKeys }
    assetPartitionStatuses { __typename ... on MultiPartitionStatuses { primaryDimensionName ranges {
        primaryDimStartKey primaryDimEndKey secondaryDim { __typename ... on DefaultPartitionStatuses {
            materializedPartitions materializingPartitions failedPartitions } } } } } } } }"""
STALE = """query($key: AssetKeyInput!, $partitions: [String!]!) { assetNodeOrError(assetKey: $key) {
    ... on AssetNode { staleStatusByPartition(partitions: $partitions) } } }"""
START = """
import time; began = time.time()
from vvb_assets.definitions import defs
from vvb_assets.panels.judgment import Judgment
from vvb_assets.running import open_instance
from vvb_assets.settings import Settings
from vvb_assets.wiring import job_name, op_safe
import sys
loaded = time.time()
op, named = sys.argv[1], sys.argv[2:]
with open_instance(Settings.resolve().open().home) as instance:
    result = defs.resolve_job_def(job_name(op)).execute_in_process(
        instance=instance, partition_key=named[0], run_config={"ops": {op_safe(op): {"config": {"partitions": named}}}})
print("figures", result.run_id, began, loaded)
"""


def seconds_of(action: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Median wall seconds of `action`."""
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        took.append(time.perf_counter() - began)
    return median(took)


def filled(where: Path, tasks: int) -> Settings:
    """Settings of the benchmark and store below `where`, both made if they are not there."""
    settings = Settings(where / "benchmark", None, where / "home")
    if not settings.benchmark.exists():
        write_benchmark(settings.benchmark, tasks)
    workspace = settings.open()
    if not workspace.home.artifacts.exists():
        fill_store(workspace)
    return settings


def run_start(settings: Settings, workspace: Workspace, partitions: list[str]) -> Iterator[tuple[str, float]]:
    """A run in a process of its own over `partitions`, all made: until it has loaded, starts the step, publishes."""
    fill_payloads(workspace, partitions)
    for partition in partitions:  # what describes a judgment looks into it
        manifest = workspace.store.load("J1/judgment", partition)
        assert manifest is not None
        Judgment("J1", True, ()).save(workspace.store.payload(manifest) / "judgment.json")
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", START, OP, *partitions],
        env={**os.environ, **settings.environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    ended = time.time()
    line = next((each for each in done.stdout.splitlines() if each.startswith("figures ")), None)
    if line is None:
        raise RuntimeError(f"the run failed: {done.stderr[-2000:]}")
    _, run_id, _, loaded = line.split()
    yield "run of 100: definitions loaded", float(loaded) - began
    kinds = {"step started": DagsterEventType.STEP_START, "first event": DagsterEventType.ASSET_MATERIALIZATION}
    with open_instance(workspace.home) as instance:
        for name, kind in kinds.items():
            record = instance.get_records_for_run(run_id, of_type=kind, limit=1, ascending=True).records[0]
            yield f"run of 100: {name}", record.timestamp - began
    yield "run of 100: ended", ended - began


def store_figures(workspace: Workspace, partitions: list[str]) -> Iterator[tuple[str, float]]:
    """What a partition's inputs and the SQL views cost."""
    fill_payloads(workspace)
    node = workspace.graph.nodes[ASKED]
    yield "inputs of 100 partitions", seconds_of(lambda: [current_inputs(workspace, node, p) for p in partitions])
    yield "SQL views: opening", seconds_of(lambda: connect(workspace.home).close(), 1)
    by_system = "SELECT panel, system, count(*) FROM {} WHERE panel IS NOT NULL GROUP BY ALL"
    one = f"SELECT * FROM verdicts WHERE panel = 'J1' AND system || '|' || task = '{partitions[0]}'"
    queries = (
        ("manifests by panel and system", by_system.format("artifacts")),
        ("verdicts by panel and system", by_system.format("verdicts")),
        ("verdicts of one run", one),
        ("program checks that failed", "SELECT system, count(*) FROM l1 WHERE verdict = 'fail' GROUP BY ALL"),
    )
    with connect(workspace.home) as connection:
        for name, sql in queries:
            yield f"SQL views: {name}", seconds_of(lambda sql=sql: connection.execute(sql).fetchall(), 1)


def ui_figures(settings: Settings, workspace: Workspace, where: Path) -> Iterator[tuple[str, float]]:
    """What the UI asks, by GraphQL of a webserver beside code location and daemon."""
    port = free_port()
    server = Webserver(port, LOCATION)
    runs = [str(p) for p in workspace.graph.partitions(workspace.graph.nodes[ASKED])]
    every = [{"path": key.split("/")} for key in workspace.graph.nodes]
    began = time.perf_counter()
    with serving("127.0.0.1", port, {**os.environ, **settings.environment()}, where):
        while not server.is_up():
            time.sleep(0.2)
        yield "UI: start, until it answers", time.perf_counter() - began
        questions: tuple[tuple[str, str, dict[str, Any]], ...] = (
            ("asset graph", GRAPH, {}),
            ("graph's live data, all assets", LIVE, {"keys": every}),
            ("partition stats of an asset", STATS, {"key": KEY}),
            ("events of a partition", EVENTS, {"key": KEY, "partitions": [runs[0]]}),
            ("last 100 events of an asset", EVENTS, {"key": KEY}),
            ("partitions heat map", HEAT, {"key": KEY}),
            ("stale status of 100 partitions", STALE, {"key": KEY, "partitions": runs[:BATCH]}),
        )
        for name, question, variables in questions:
            yield (
                f"UI: {name}",
                seconds_of(lambda question=question, variables=variables: server.ask(question, **variables)),
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=239)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this (may be repeated)")
    parser.add_argument("--keep", type=Path, help="a folder to fill and use again (SQLite)")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        name = stack.enter_context(storage(chosen.postgres))
        where = chosen.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vvb-bench-")))
        settings = filled(where, chosen.tasks)
        workspace = settings.open()
        os.environ.update(settings.environment())
        with open_instance(workspace.home) as instance:
            print(f"{name}, {chosen.tasks} tasks; load {os.getloadavg()[0]:.1f}", flush=True)
            if not instance.event_log_storage.get_materialized_partitions(_key()):
                began = time.perf_counter()
                count = insert_events(workspace, instance)
                print(f"inserted {count} events in {time.perf_counter() - began:.0f} s", flush=True)
        partitions = [str(p) for p in workspace.graph.partitions(workspace.graph.nodes[ASKED])][:BATCH]
        parts = {
            "store": lambda: store_figures(workspace, partitions),
            "run": lambda: run_start(settings, workspace, partitions),
            "ui": lambda: ui_figures(settings, workspace, where),
        }
        for part in chosen.part or PARTS:
            for what, seconds in parts[part]():
                print(f"| {what} | {seconds:.2f} |", flush=True)
        print(f"load {os.getloadavg()[0]:.1f}")


def _key() -> Any:
    from vvb_assets.provenance import asset_key

    return asset_key(ASKED)


if __name__ == "__main__":
    main()
