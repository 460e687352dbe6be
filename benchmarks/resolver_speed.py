"""The plan beside Dagster's own resolver, in one process on one synthetic store (SQLite).

`python -m benchmarks.resolver_speed --tasks 239`. The plan covers every partition of every asset; the resolver is asked
about one asset of one panel, whose events and those of its inputs are inserted in bulk.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.events import DagsterEvent, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.loader import LoadingContextForTest

from benchmarks.synthetic_store import fill_store, write_benchmark
from vvb_assets.assembly import build_definitions
from vvb_assets.graph import Workspace
from vvb_assets.plan import make_plan
from vvb_assets.provenance import Pointers, asset_key, version_tags
from vvb_assets.running import open_instance
from vvb_assets.settings import Settings

ASKED = "J1/l2_verdicts"
INSERTED = ("rubric", "task_spec", "J1/panel_config", "blinded_media", "J1/judgment", ASKED)
RUN = "8f3c4c52-0000-4000-8000-000000000009"


def insert(workspace: Workspace, instance: dg.DagsterInstance, key: str) -> None:
    """Materialisation events of an asset's manifests, 500 a batch."""
    node, pointers = workspace.graph.nodes[key], Pointers(instance, workspace.graph)
    entries = []
    for partition, manifest in workspace.store.manifests(key, workspace.graph.partitions(node)).items():
        tags = version_tags(node, manifest, pointers)
        data = StepMaterializationData(dg.AssetMaterialization(asset_key(key), partition=partition, tags=tags))
        kind = dg.DagsterEventType.ASSET_MATERIALIZATION.value
        event = DagsterEvent(event_type_value=kind, job_name="j", step_key="s", event_specific_data=data)
        entries.append(EventLogEntry(None, 10, "", RUN, time.time(), step_key="s", job_name="j", dagster_event=event))
    for first in range(0, len(entries), 500):
        instance.event_log_storage.store_event_batch(entries[first : first + 500])


def main() -> None:
    """Measure and print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=239)
    tasks = parser.parse_args().tasks
    with tempfile.TemporaryDirectory(prefix="vvb-bench-") as where:
        settings = Settings(write_benchmark(Path(where) / "benchmark", tasks), None, Path(where) / "home")
        workspace = settings.open()
        written = fill_store(workspace)
        os.environ.update(settings.environment())
        with open_instance(workspace.home) as instance:
            for key in INSERTED:
                insert(workspace, instance, key)
            began = time.perf_counter()
            assert make_plan(workspace).fresh == written
            print(f"plan: {written} partitions in {time.perf_counter() - began:.2f} s")
            graph = build_definitions(settings).resolve_asset_graph()
            resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
            partitions = workspace.graph.partitions(workspace.graph.nodes[ASKED])
            began = time.perf_counter()
            found = Counter(resolver.get_status(asset_key(ASKED), p).value for p in partitions)
            print(f"resolver: {len(partitions)} partitions in {time.perf_counter() - began:.2f} s: {dict(found)}")


if __name__ == "__main__":
    main()
