"""Sensors for people who work in the UI: edited files are published, tables are kept up, and automation makes the rest.

`benchmark_files` and `tables` are on at first, since they cost nothing worth asking about; `automation` is off until
somebody switches it on (docs/automation.md). `tables` and `automation` are the same sweep over different ops.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.scheduler.instigation import InstigatorStatus, InstigatorType

from vvb_assets.automation import Memory, tick
from vvb_assets.describing import describe
from vvb_assets.graph import Graph, Workspace, name_of
from vvb_assets.making import make_partition
from vvb_assets.processes import end_dead_runs
from vvb_assets.provenance import Pointers, asset_key, recorded_versions
from vvb_assets.publishing import materialization
from vvb_assets.settings import Settings
from vvb_assets.sweep import Request
from vvb_assets.wiring import NO_RETRIES, job_name, op_safe
from vvb_resources.errors import VvbError

AUTOMATION = "automation"
TABLE_STAGES = ("leaderboards", "human")


def build_sensors(settings: Settings, workspace: Workspace, jobs: Mapping[str, Any]) -> list[dg.SensorDefinition]:
    """The sensors of a benchmark; `workspace` is as it was loaded, `jobs` gives the job of each op."""
    graph, interval = workspace.graph, workspace.benchmark.config.automation.interval_s
    made = [nodes[0] for nodes in graph.ops() if nodes[0].version_of is None]
    every = frozenset(node.op_name for node in made)
    tables = frozenset(node.op_name for node in made if node.stage in TABLE_STAGES and node.dims == "none")

    @dg.sensor(
        name="benchmark_files",
        minimum_interval_seconds=interval,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Publishes tasks, rubrics, systems and panels whose files changed; the UI then shows it.",
    )
    def benchmark_files(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        try:
            events = _file_events(context, settings.open(), graph)
        except VvbError as error:
            return dg.SkipReason(str(error))
        if not events:
            return dg.SkipReason("every file is as it was last published")
        told = dg.SkipReason(f"published {len(events)} files")  # else the UI says: returned an empty result
        return dg.SensorResult(skip_reason=told, asset_events=events)

    @dg.sensor(
        name="tables",
        jobs=[jobs[op] for op in sorted(tables)],
        minimum_interval_seconds=interval,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Makes the tables when what they are built on changed and nobody is at work on it.",
    )
    def tables_sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        if _is_on(context.instance, AUTOMATION):
            return dg.SkipReason("automation is on, and makes the tables with the rest")
        return _sweep(context, settings, graph, tables, publish=False)

    @dg.sensor(
        name=AUTOMATION,
        jobs=[jobs[op] for op in sorted(every)],
        minimum_interval_seconds=interval,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Makes exactly what is missing or stale, stage by stage, within the limits of benchmark.yaml.",
    )
    def automation(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        return _sweep(context, settings, graph, every, publish=True)

    return [benchmark_files, tables_sensor, automation]


def _sweep(
    context: dg.SensorEvaluationContext, settings: Settings, graph: Graph, ops: frozenset[str], *, publish: bool
) -> dg.SensorResult | dg.SkipReason:
    """One tick: events of edited files first (what is made from them points at them), then the runs."""
    instance = context.instance
    try:
        workspace = settings.open()
        for line in end_dead_runs(instance):
            context.log.warning(line)
        events = _file_events(context, workspace, graph) if publish else []
        done = tick(workspace, instance, graph, Memory.of(context.cursor), dt.datetime.now(dt.UTC), ops)
    except VvbError as error:
        return dg.SkipReason(str(error))
    requests = [run_request(request, key) for request, key in zip(done.sweep.requests, done.keys, strict=True)]
    context.log.info(done.sweep.summary)
    cursor = done.memory.to_cursor()
    if requests:
        return dg.SensorResult(run_requests=requests, asset_events=events, cursor=cursor)
    return dg.SensorResult(skip_reason=dg.SkipReason(done.sweep.summary), asset_events=events, cursor=cursor)


def run_request(request: Request, key: str) -> dg.RunRequest:
    """The run of a request, under `key`: its tags name the first partition, its configuration all of them."""
    named = [partition for partition in request.partitions if partition is not None]
    config = {"partitions": named, "versions": list(request.versions)}
    return dg.RunRequest(
        run_key=key,
        job_name=job_name(request.op),
        partition_key=named[0] if named else None,
        asset_selection=[asset_key(asset) for asset in request.assets],
        run_config={"ops": {op_safe(request.op): {"config": config}}},
        tags={**NO_RETRIES, "vvb/partitions": str(len(request.partitions))},
    )


def _is_on(instance: dg.DagsterInstance, sensor: str) -> bool:
    """Did somebody switch a sensor on that is off at first."""
    states = instance.all_instigator_state(instigator_type=InstigatorType.SENSOR)
    return any(state.instigator_name == sensor and state.status == InstigatorStatus.RUNNING for state in states)


def _file_events(
    context: dg.SensorEvaluationContext, workspace: Workspace, graph: Graph
) -> Sequence[dg.AssetMaterialization]:
    """Events of configuration whose file is not as last published; made here, since that is reading a file."""
    pointers = Pointers(context.instance, workspace.graph)
    events = []
    for node in workspace.graph.nodes.values():
        if node.version_of is None or node.key not in graph.nodes:
            continue  # a new panel appears with the next reload
        recorded, known = recorded_versions(context.instance, node), set(graph.partitions(node))
        for partition in workspace.graph.partitions(node):
            if partition not in known or recorded.get(partition) == node.version_of(workspace.benchmark, partition):
                continue
            try:
                outcome = make_partition(workspace, node, partition)
            except VvbError as error:  # one bad file (votes, say) must not hide the others
                context.log.error(f"{name_of(node.key, partition)}: {error}")
                continue
            events.append(materialization(workspace, node, outcome.manifest, pointers, describe))
    return events
