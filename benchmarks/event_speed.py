"""What publishing costs: a run of one panel's three assets over every partition, all of which are made already.

`python -m benchmarks.event_speed [--postgres]`: our path (versions compared, metadata, tags, check results, events in
batches) and, on Dagster's own storage, its one-by-one `log_event` of the same events for a share of the partitions.
SYNTHETIC store; nothing is judged. PostgreSQL runs with fsync. (Dagster reads annotations itself, so this module keeps
them evaluated.)
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.events import DagsterEventType
from ruamel.yaml import YAML

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
from vvb_resources.store.home import CHECKOUT, Home

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
    """Seconds of a run over `partitions` until its end, and until its first materialisation was sent."""
    workspace = settings.open()
    nodes = next(nodes for nodes in workspace.graph.ops() if nodes[0].op_name == OP)
    asset = wire_op(nodes, Partitions(workspace.graph), settings.open, describe, lambda _: None)
    job = definitions_of(workspace, asset)
    started = time.time()
    result = job.execute_in_process(
        instance=instance,
        partition_key=partitions[0],
        run_config={"ops": {OP: {"config": {"partitions": partitions}}}, **QUIET},
    )
    took = time.time() - started
    kind = DagsterEventType.ASSET_MATERIALIZATION
    first = instance.get_records_for_run(result.run_id, of_type=kind, limit=1, ascending=True).records[0]
    counted = len(instance.event_log_storage.get_materialized_partitions(dg.AssetKey(["J1", "judgment"])))
    if not result.success or counted != len(partitions):
        raise RuntimeError(f"{counted} of {len(partitions)} partitions were published")
    return took, first.event_log_entry.timestamp - started


def one_by_one(settings: Settings, instance: dg.DagsterInstance, partitions: list[str]) -> float:
    """Seconds of a run that logs the same events with Dagster's own `log_event`."""
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
                for name, check in manifest.checks.items():
                    context.log_event(publishing.check_evaluation(node, manifest, name, check, 1, context.run.run_id))
        yield from ()

    job = definitions_of(workspace, plain)
    started = time.time()
    job.execute_in_process(instance=instance, partition_key=partitions[0], run_config=QUIET)
    return time.time() - started


def stock_settings(source: Path, target: Path) -> Path:
    """Write the Dagster settings of `source` to `target`, with Dagster's own storage in place of ours."""
    yaml = YAML(typ="safe")
    settings = yaml.load(source)
    ours = settings.pop("storage")["custom"]["config"]
    if "postgres_db" in ours:
        settings["storage"] = {"postgres": ours}
    yaml.dump(settings, target)
    return target


def postgres() -> PostgresServer:
    """A PostgreSQL of this benchmark's own. Raises RuntimeError when its programs are missing."""
    programs = find_programs()
    if programs is None:
        raise RuntimeError("PostgreSQL's programs are missing: deploy/install-postgresql")
    server = PostgresServer(programs, fsync=True)
    os.environ.update(server.environment)
    return server


def main() -> None:
    """Measure and print one row of the table in docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=239)
    parser.add_argument("--share", type=int, default=20, help="every so many-th partition is logged one by one")
    parser.add_argument("--postgres", action="store_true")
    chosen = parser.parse_args()
    os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(EVENTS_AT_ONCE))
    with ExitStack() as stack:
        dagster_yaml = CHECKOUT / "dagster.yaml"
        if chosen.postgres:
            server = postgres()
            stack.callback(server.close)
            dagster_yaml = CHECKOUT / "deploy" / "dagster-postgres.yaml"
        where = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vvb-bench-")))
        settings = Settings(write_benchmark(where / "benchmark", chosen.tasks), None, where / "home")
        workspace = settings.open()
        fill_store(workspace)
        os.environ.update(settings.environment())
        partitions = [str(p) for p in workspace.graph.partitions(workspace.graph.nodes["J1/judgment"])]
        os.environ["VVB_DAGSTER_YAML"] = str(dagster_yaml)
        with open_instance(workspace.home) as instance:
            took, first = ours(settings, instance, partitions)
        if chosen.postgres:
            server.empty()
        some = partitions[:: chosen.share]
        os.environ["VVB_DAGSTER_YAML"] = str(stock_settings(dagster_yaml, where / "stock.yaml"))
        with open_instance(Home(where / "stock", "stock")) as instance:
            plain = one_by_one(settings, instance, some)
        each, peer = 1000 * took / len(partitions), 1000 * plain / len(some)
        name = "PostgreSQL" if chosen.postgres else "SQLite"
        print(
            f"| {name} | {len(partitions)} | {each:.1f} | {first:.1f} | {peer:.1f} | {peer / each:.1f} |\n"
            "(storage, partitions, ours ms a partition, s to the first, one by one ms a partition, ratio)"
        )


if __name__ == "__main__":
    main()
