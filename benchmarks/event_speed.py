"""What publishing costs: a run of one panel's three assets over every partition, all of which are made already.

`python -m benchmarks.event_speed [--postgres]`: our path (versions compared, events in batches, metadata, tags, check
results) and, in a run of its own on the same instance, Dagster's one-by-one `log_event` of the same materialisations
without checks for a share of the partitions. SYNTHETIC store; nothing is judged. (Dagster reads annotations itself, so
this module keeps them evaluated.)
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.events import DagsterEventType

from benchmarks.synthetic_store import fill_store, write_benchmark
from tests.deploy.server import PostgresServer, find_programs
from vvb_assets import publishing
from vvb_assets.event_storage import EVENTS_AT_ONCE
from vvb_assets.graph import Node, Workspace
from vvb_assets.panels.assets import REPLY_CHARACTERS, VERDICT_COLUMNS
from vvb_assets.partitions import Partitions
from vvb_assets.running import open_instance
from vvb_assets.settings import Settings
from vvb_assets.showing import markdown_table
from vvb_assets.wiring import wire_op
from vvb_resources.store.home import CHECKOUT

OP = "panel_J1"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}  # as `vvb run` has it
VERDICT = dict.fromkeys(VERDICT_COLUMNS, "a reason of eight words, as judges write") | {"check": "V01", "start_s": 3.2}
REPLY = dg.MetadataValue.md("x" * REPLY_CHARACTERS)


def describe(workspace: Workspace, node: Node, manifest: Any) -> Mapping[str, dg.MetadataValue]:
    """Metadata as large as that of vvb_assets/panels/assets.py: table, raw reply, judges, versions, links."""
    rows = {"J1/l2_verdicts": 54, "J1/l3_scores": 5}.get(node.key, 0)
    table = {"table": markdown_table([VERDICT] * rows, list(VERDICT))} if rows else {}
    return {
        **table,
        "raw reply of judge": REPLY,
        "judges": markdown_table([VERDICT], list(VERDICT)),
        "sources": dg.MetadataValue.json(dict.fromkeys(("task_spec", "rubric", "blinded_media"), "d" * 64)),
        "video": dg.MetadataValue.path("blinded_media/video.mp4"),
        "explain": dg.MetadataValue.text("vvb explain system task"),
    }


def definitions_of(workspace: Workspace, asset: dg.AssetsDefinition) -> dg.JobDefinition:
    """The job of one multi-asset."""
    job = dg.define_asset_job("measured", selection=dg.AssetSelection.assets(*asset.keys))
    return dg.Definitions(assets=[asset], jobs=[job], executor=dg.in_process_executor).resolve_job_def("measured")


def ours(settings: Settings, instance: dg.DagsterInstance, partitions: list[str]) -> tuple[float, float]:
    """Seconds of a run over `partitions` until its end, and until its first materialisation was stored."""
    workspace = settings.open()
    nodes = next(nodes for nodes in workspace.graph.ops() if nodes[0].op_name == OP)
    asset = wire_op(nodes, Partitions(workspace.graph), settings.open, describe, lambda _: None)
    job = definitions_of(workspace, asset)
    started = time.perf_counter()
    result = job.execute_in_process(
        instance=instance,
        partition_key=partitions[0],
        run_config={"ops": {OP: {"config": {"partitions": partitions}}}, **QUIET},
    )
    took = time.perf_counter() - started
    kinds = {DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.PIPELINE_START}
    logs = instance.get_records_for_run(result.run_id, of_type=kinds, limit=2, ascending=True).records
    first, start = (next(r.timestamp for r in logs if r.event_log_entry.dagster_event_type is k) for k in kinds)
    counted = len(instance.event_log_storage.get_materialized_partitions(dg.AssetKey(["J1", "judgment"])))
    if not result.success or counted != len(partitions):
        raise RuntimeError(f"{counted} of {len(partitions)} partitions were published")
    return took, abs(first - start)


def one_by_one(settings: Settings, instance: dg.DagsterInstance, partitions: list[str]) -> float:
    """Seconds of a run that logs the same materialisations with Dagster's own `log_event`."""
    workspace = settings.open()
    nodes = next(nodes for nodes in workspace.graph.ops() if nodes[0].op_name == OP)
    runs = Partitions(workspace.graph).of("run")

    @dg.multi_asset(
        specs=[dg.AssetSpec(publishing.asset_key(node.key), skippable=True, partitions_def=runs) for node in nodes],
        partitions_def=runs,
        backfill_policy=dg.BackfillPolicy.multi_run(len(partitions)),
    )
    def plain(context: dg.AssetExecutionContext) -> Iterator[Any]:
        for node in nodes:
            pointers = publishing.Pointers(context.instance, workspace.graph)
            for partition, manifest in workspace.store.manifests(node.key, list(partitions)).items():
                assert partition is not None
                context.log_event(publishing.materialization(workspace, node, manifest, pointers, describe))
        yield from ()

    job = definitions_of(workspace, plain)
    started = time.perf_counter()
    job.execute_in_process(instance=instance, partition_key=partitions[0], run_config=QUIET)
    return time.perf_counter() - started


@contextmanager
def storage(postgres: bool) -> Iterator[str]:
    """SQLite, or a PostgreSQL of this benchmark's own. Raises RuntimeError when its programs are missing."""
    if not postgres:
        yield "SQLite"
        return
    programs = find_programs()
    if programs is None:
        raise RuntimeError("PostgreSQL's programs are missing: deploy/install-postgresql")
    server = PostgresServer(programs)
    try:
        os.environ.update(server.environment)
        os.environ["VVB_DAGSTER_YAML"] = str(CHECKOUT / "deploy" / "dagster-postgres.yaml")
        yield "PostgreSQL"
    finally:
        server.close()


def main() -> None:
    """Measure and print one row of the table in docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=239)
    parser.add_argument("--share", type=int, default=20, help="every so many-th partition is logged one by one")
    parser.add_argument("--postgres", action="store_true")
    chosen = parser.parse_args()
    os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(EVENTS_AT_ONCE))
    with ExitStack() as stack:
        name = stack.enter_context(storage(chosen.postgres))
        where = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vvb-bench-")))
        settings = Settings(write_benchmark(where / "benchmark", chosen.tasks), None, where / "home")
        workspace = settings.open()
        fill_store(workspace)
        os.environ.update(settings.environment())
        instance = stack.enter_context(open_instance(workspace.home))
        partitions = [str(p) for p in workspace.graph.partitions(workspace.graph.nodes["J1/judgment"])]
        took, first = ours(settings, instance, partitions)
        some = partitions[:: chosen.share]
        plain = one_by_one(settings, instance, some)
        each, peer = 1000 * took / len(partitions), 1000 * plain / len(some)
        print(
            f"| {name} | {len(partitions)} | {each:.1f} | {first:.1f} | {peer:.1f} | {peer / each:.1f} |\n"
            "(storage, partitions, ours ms a partition, s to the first, one by one ms a partition, ratio)"
        )


if __name__ == "__main__":
    main()
