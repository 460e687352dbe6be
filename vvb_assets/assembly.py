"""The graph of a benchmark as Dagster definitions: assets, checks, jobs and sensors."""

from __future__ import annotations

import os

import dagster as dg

from vvb_assets.describing import columns, describe
from vvb_assets.event_storage import EVENTS_AT_ONCE
from vvb_assets.partitions import Partitions
from vvb_assets.plan_asset import plan_asset
from vvb_assets.sensors import build_sensors
from vvb_assets.settings import Settings
from vvb_assets.wiring import job_name, wire_checks, wire_op

# Dagster buffers batches only when this is set, and reads it from the environment alone.
os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(EVENTS_AT_ONCE))


def build_definitions(settings: Settings) -> dg.Definitions:
    """Assets, checks, jobs and sensors of a benchmark. Bodies read its files anew each time they run."""
    workspace = settings.open()
    graph = workspace.graph
    partitions = Partitions(graph)
    assets, checks, jobs = [], [], {}
    for nodes in graph.ops():
        assets.append(wire_op(nodes, partitions, settings.open, describe, columns))
        jobs[nodes[0].op_name] = dg.define_asset_job(
            job_name(nodes[0].op_name),
            selection=dg.AssetSelection.assets(*assets[-1].keys),
            description=f"Makes {', '.join(node.key for node in nodes)}.",
        )
        for node in nodes:
            checks += wire_checks(node, partitions, settings.open)
    return dg.Definitions(
        assets=[*assets, plan_asset(settings)],
        asset_checks=checks,
        jobs=list(jobs.values()),
        sensors=build_sensors(settings, workspace, jobs),
        executor=dg.in_process_executor,
    )
