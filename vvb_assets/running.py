"""`vvb run`: make what is missing or stale, op by op in topological order, each as one Dagster run of exactly that set.

The plan is computed again before each op, so that an input that turned out unchanged makes nothing downstream. An
artifact whose event was lost in a crash is published again without being made.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from vvb_assets.graph import Node, Workspace, name_of, split_run
from vvb_assets.plan import Plan, make_plan
from vvb_assets.processes import end_dead_runs, process_tags
from vvb_assets.progress import Progress, current_progress, listening
from vvb_assets.provenance import asset_key, recorded_versions
from vvb_assets.rollouts.make import settle_rollouts
from vvb_assets.wiring import NO_RETRIES, job_name, op_safe
from vvb_resources.errors import StoreError
from vvb_resources.sandbox.local import reap_stale
from vvb_resources.store.home import CHECKOUT, Home


@dataclass(frozen=True)
class Selection:
    """What a run is limited to; an empty tuple means all."""

    stages: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    limit: int | None = None

    def covers(self, node: Node) -> bool:
        """Is the node in the selected stages and panels."""
        if self.stages and node.stage not in self.stages and not (node.version_of and "tasks" in self.stages):
            return False
        panel = node.key.split("/")[0] if "/" in node.key else None
        return not (self.panels and panel and node.stage == "panels" and panel not in self.panels)

    def takes(self, node: Node, partition: str | None) -> bool:
        """Is the partition in the selected systems and tasks."""
        if partition is None:
            return True
        if node.dims == "system":
            return not self.systems or partition in self.systems
        if node.dims == "task":
            return not self.tasks or partition in self.tasks
        system, task = split_run(partition)
        return (not self.systems or system in self.systems) and (not self.tasks or task in self.tasks)


@dataclass
class Report:
    """What a run did. `failed` and `paused` (a limit of money was reached) map an asset's partition to the reason."""

    made: dict[str, int] = field(default_factory=dict)
    republished: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)
    held: int = 0

    @property
    def total(self) -> int:
        return sum(self.made.values())


class Teller:
    """Counts what happens in each op and hands it on to a listener."""

    def __init__(self, report: Report, listener: Progress) -> None:
        self.report, self.listener = report, listener

    def begin(self, node: Node, total: int) -> None:
        self.listener.begin(node, total)

    def done(self, node: Node, partition: str | None, made: bool) -> None:
        into = self.report.made if made else self.report.republished
        into[node.op_name] = into.get(node.op_name, 0) + 1
        self.listener.done(node, partition, made)

    def failed(self, node: Node, partition: str | None, why: str) -> None:
        self.report.failed[name_of(node.op_name, partition)] = why
        self.listener.failed(node, partition, why)

    def paused(self, node: Node, partition: str | None, why: str) -> None:
        self.report.paused[name_of(node.op_name, partition)] = why
        self.listener.paused(node, partition, why)


def prepare_home(home: Home) -> None:
    """Make Dagster's home and keep its dagster.yaml the one of $VVB_DAGSTER_YAML, else the checkout's (SQLite).

    Raises StoreError when that file is missing.
    """
    home.dagster.mkdir(parents=True, exist_ok=True)
    chosen = os.environ.get("VVB_DAGSTER_YAML")
    source = Path(chosen).expanduser().resolve() if chosen else CHECKOUT / "dagster.yaml"
    target = home.dagster / "dagster.yaml"
    if not source.is_file():
        remedy = "mend VVB_DAGSTER_YAML" if chosen else "restore dagster.yaml from the repository"
        raise StoreError("is missing", where=str(source), remedy=remedy)
    if not target.exists() or target.read_bytes() != source.read_bytes():
        shutil.copyfile(source, target)
    os.environ["DAGSTER_HOME"] = str(home.dagster)


def open_instance(home: Home) -> dg.DagsterInstance:
    """The Dagster instance of a benchmark; initialised here so that no two processes race to create its tables."""
    prepare_home(home)
    return dg.DagsterInstance.get()


def recover(workspace: Workspace, instance: dg.DagsterInstance) -> list[str]:
    """Clear up after a process that was killed: its agents, its staging folders, its Dagster runs."""
    told = [f"ended a left-over agent: {item}" for item in reap_stale(workspace.home.sandbox)]
    told += settle_rollouts(workspace)
    held = tuple(node.key for node in workspace.graph.nodes.values() if node.held)
    told += [f"cleared unfinished work: {name}" for name in workspace.store.sweep(held)]
    return told + end_dead_runs(instance)


def run_plan(
    workspace: Workspace,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    selection: Selection,
    *,
    rerun_held: bool,
    listener: Progress,
) -> Report:
    """Make everything selected that is missing or stale; go past failures, and say which there were."""
    report = Report()
    teller = Teller(report, listener)
    left = selection.limit
    with listening(teller):
        for nodes in workspace.graph.ops():
            chosen = [node for node in nodes if selection.covers(node)]
            if not chosen:
                continue
            plan = make_plan(workspace, rerun_held=rerun_held)
            todo = _selected(plan, chosen, selection)
            if left is not None and nodes[0].held:
                todo, left = todo[:left], max(0, left - len(todo[:left]))
            unpublished = _unpublished(workspace, instance, chosen, selection, set(todo))
            report.held = len(plan.held)
            for partitions, force in ((todo, rerun_held and nodes[0].held), (unpublished, False)):
                if partitions:
                    _execute(definitions, instance, chosen, partitions, force, report)
    return report


def _selected(plan: Plan, nodes: Sequence[Node], selection: Selection) -> list[str | None]:
    """Partitions of an op to make, in graph order, each once."""
    found = [p for node in nodes for p in plan.of(node.key) if selection.takes(node, p)]
    return list(dict.fromkeys(found))


def _unpublished(
    workspace: Workspace,
    instance: dg.DagsterInstance,
    nodes: Sequence[Node],
    selection: Selection,
    making: set[str | None],
) -> list[str | None]:
    """Partitions whose artifact is on disk but whose newest event does not carry its version."""
    found: list[str | None] = []
    for node in nodes:
        recorded = recorded_versions(instance, node)
        manifests = workspace.store.manifests(node.key, workspace.graph.partitions(node))
        found += [p for p, m in manifests.items() if recorded.get(p) != m.data_version and selection.takes(node, p)]
    return [p for p in dict.fromkeys(found) if p not in making]


def _execute(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    nodes: Sequence[Node],
    partitions: list[str | None],
    force: bool,
    report: Report,
) -> None:
    """One Dagster run: its tags name the first partition, its configuration the whole list."""
    op = nodes[0].op_name
    named = [p for p in partitions if p is not None]
    current_progress().begin(nodes[0], len(partitions))
    job = definitions.resolve_job_def(job_name(op))
    before, run_id = len(report.failed), str(uuid.uuid4())
    result = job.execute_in_process(
        instance=instance,
        partition_key=named[0] if named else None,
        asset_selection=[asset_key(node.key) for node in nodes],
        run_config={
            "ops": {op_safe(op): {"config": {"partitions": named, "force": force}}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        tags={**process_tags(run_id), **NO_RETRIES},
        run_id=run_id,
        raise_on_error=False,
    )
    if not result.success and len(report.failed) == before:
        events = [e for e in result.all_events if e.is_failure]
        report.failed[op] = " ".join(str(events[0].message if events else "the Dagster run failed").split())
