"""Two sensors for people who work in the UI: one notices edited files, one makes the tables when their inputs changed.

A backfill in which a partition failed never launches the unpartitioned tables behind it; they are built on what
exists, so a sensor starts them (docs/design/events.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from vvb_assets.describing import describe
from vvb_assets.graph import Graph, name_of
from vvb_assets.making import make_partition
from vvb_assets.plan import make_plan
from vvb_assets.provenance import Pointers, recorded_versions
from vvb_assets.publishing import materialization
from vvb_assets.settings import Settings
from vvb_resources.errors import VvbError
from vvb_resources.store.digests import digest_value

ACTIVE = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def build_sensors(settings: Settings, graph: Graph, table_jobs: Mapping[str, Any]) -> list[dg.SensorDefinition]:
    """The sensors of a benchmark; `table_jobs` gives for each stage of tables the job that makes them."""

    @dg.sensor(
        name="benchmark_files",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Publishes tasks, rubrics, systems and panels whose files changed; the UI then shows it.",
    )
    def benchmark_files(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        workspace = settings.open()
        pointers = Pointers(context.instance, workspace.graph)
        events = []
        for node in workspace.graph.nodes.values():
            if node.version_of is None or node.key not in graph.nodes:
                continue  # a new panel appears with the next reload
            recorded = recorded_versions(context.instance, node)
            for partition in workspace.graph.partitions(node):
                if partition not in graph.partitions(node):
                    continue
                if recorded.get(partition) != node.version_of(workspace.benchmark, partition):
                    try:
                        outcome = make_partition(workspace, node, partition)
                    except VvbError as error:  # one bad file (votes, say) must not hide the others
                        context.log.error(f"{name_of(node.key, partition)}: {error}")
                        continue
                    events.append(materialization(workspace, node, outcome.manifest, pointers, describe))
        if not events:
            return dg.SkipReason("every file is as it was last published")
        return dg.SensorResult(asset_events=events)

    return [benchmark_files, *(_tables_sensor(settings, graph, stage, job) for stage, job in table_jobs.items())]


def _tables_sensor(settings: Settings, graph: Graph, stage: str, job: Any) -> dg.SensorDefinition:
    """Starts `job` when a table of the stage is stale, all it is built on exists, and nothing runs."""
    tables = [node for node in graph.nodes.values() if node.stage == stage and node.version_of is None]

    @dg.sensor(
        name="tables" if stage == "leaderboards" else f"{stage}_tables",
        job=job,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Makes the tables of {stage} when what they are built on changed and nothing runs.",
    )
    def tables_sensor(context: dg.SensorEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        if context.instance.get_runs_count(dg.RunsFilter(statuses=ACTIVE)):
            yield dg.SkipReason("runs are active")
            return
        workspace = settings.open()
        stale = [item for item in make_plan(workspace).stale if graph.nodes.get(item.asset) in tables]
        ready = [item for item in stale if all(r.expected is not None or r.recorded for r in item.reasons)]
        if not ready:
            yield dg.SkipReason("the tables are built on what exists")
            return
        key = digest_value([item.to_json() for item in ready])
        yield dg.RunRequest(run_key=key)

    return tables_sensor
