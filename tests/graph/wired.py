"""The world's graph on a real Dagster instance: its definitions, and what the daemon does with a tick's requests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from dagster._core.storage.tags import RUN_KEY_TAG

from tests.graph.conftest import World
from vvb_assets.automation import Memory, Tick, tick
from vvb_assets.graph import Node, Workspace
from vvb_assets.partitions import Partitions
from vvb_assets.provenance import asset_key
from vvb_assets.sensors import run_request
from vvb_assets.wiring import job_name, wire_op


def definitions_of(world: World) -> dg.Definitions:
    """The world's graph as Dagster definitions, wired as the platform's own graph is."""
    graph = world.workspace().graph
    partitions = Partitions(graph)
    assets, jobs = [], []
    for nodes in graph.ops():
        assets.append(wire_op(nodes, partitions, world.workspace, _describe, lambda _: None))
        selection = dg.AssetSelection.assets(*assets[-1].keys)
        jobs.append(dg.define_asset_job(job_name(nodes[0].op_name), selection=selection))
    return dg.Definitions(assets=assets, jobs=jobs, executor=dg.in_process_executor)


def _describe(workspace: Workspace, node: Node, manifest: Any) -> Mapping[str, dg.MetadataValue]:
    return {"n": dg.MetadataValue.int(1)}


NOON = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)


@dataclass
class Automated:
    """Automation of a world by hand: `look` is a tick of the sensor, `work` executes what it asked for."""

    world: World
    instance: dg.DagsterInstance
    memory: Memory = field(default_factory=Memory)
    now: dt.datetime = NOON
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def look(self) -> Tick:
        """A tick; what it asks for is noted and kept for `work`."""
        workspace = self.world.workspace()
        ops = frozenset(n.op_name for n in workspace.graph.nodes.values() if n.version_of is None)
        memory = Memory.of(self.memory.to_cursor())
        found = tick(workspace, self.instance, workspace.graph, memory, self.now, ops)
        self.memory = Memory.of(found.memory.to_cursor())
        self.asked += [(asset, p) for r in found.sweep.requests for asset in r.assets for p in r.partitions]
        return found

    def work(self, found: Tick) -> None:
        """Execute the requests of a tick, as the runs that the daemon starts."""
        definitions = definitions_of(self.world)
        for request, key in zip(found.sweep.requests, found.keys, strict=True):
            wanted = run_request(request, key)
            assert wanted.job_name is not None
            definitions.resolve_job_def(wanted.job_name).execute_in_process(
                instance=self.instance,
                partition_key=wanted.partition_key,
                asset_selection=[asset_key(asset) for asset in request.assets],
                run_config=wanted.run_config,
                tags={**wanted.tags, RUN_KEY_TAG: key},
                raise_on_error=False,
            )

    def until_quiet(self, ticks: int = 12) -> Tick:
        """Tick and work until a tick asks for nothing; returns that tick."""
        for _ in range(ticks):
            found = self.look()
            if not found.keys:
                return found
            self.work(found)
        raise AssertionError(f"still asking after {ticks} ticks: {found.sweep}")
