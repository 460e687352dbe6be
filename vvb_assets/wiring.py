"""From nodes to Dagster: one generator multi-asset an op, whose body logs each partition the moment it is done.

The body makes exactly a set of partitions: those its run was launched for, or the list in its configuration (a run's
tags can only name a rectangle; docs/design/events.md). It goes past a failed partition, and names those that failed
in the run's failure; they are the only ones made again.

(Dagster reads the type of `config` from the signature itself, so this module keeps its annotations evaluated.)
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import dagster as dg
from dagster._core.storage.tags import MAX_RETRIES_TAG, RETRY_ON_ASSET_OR_OP_FAILURE_TAG
from pydantic import Field

from vvb_assets.graph import Node, Workspace, name_of
from vvb_assets.making import Outcome, make_partition
from vvb_assets.partitions import Partitions
from vvb_assets.processes import process_of, process_tags
from vvb_assets.progress import current_progress
from vvb_assets.provenance import asset_key
from vvb_assets.publishing import Collector, Describe, Publisher, check_evaluation
from vvb_resources.errors import PausedError, VvbError

Load = Callable[[], Workspace]

NO_RETRIES = {MAX_RETRIES_TAG: "0"}
"""Tag of runs whose failed partitions are asked for again by the sweep or the next `vvb run`, not by Dagster."""

FINAL = {RETRY_ON_ASSET_OR_OP_FAILURE_TAG: "false"}
"""Tag of a run that failed by what it was to make: Dagster starts any other failed run again (a killed process, a lost
database), which makes nothing twice that is stored."""


class Batch(dg.Config):
    """What a step makes. Leave `partitions` empty to make what the run was launched for."""

    partitions: list[str] = Field(default_factory=list)
    versions: list[str] = Field(default_factory=list)  # what automation expects each to become, for its own records
    force: bool = False  # make it again even when it is fresh (a held rollout as well)


def op_safe(name: str) -> str:
    """A name as Dagster allows it for ops, jobs and groups."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def job_name(op: str) -> str:
    """Name of the job that makes one op's assets."""
    return f"make_{op_safe(op)}"


def wire_op(
    nodes: Sequence[Node],
    partitions: Partitions,
    load: Load,
    describe: Describe,
    columns: Callable[[Node], dg.TableSchema | None],
) -> dg.AssetsDefinition:
    """A multi-asset for the nodes of one op (they share dimensions and batch size)."""
    first = nodes[0]
    definition = partitions.of(first.dims)

    @dg.multi_asset(
        name=op_safe(first.op_name),
        specs=[_spec(node, definition, columns(node)) for node in nodes],
        can_subset=len(nodes) > 1,
        partitions_def=definition,
        backfill_policy=dg.BackfillPolicy.multi_run(first.batch) if definition else None,
        op_tags={"vvb/stage": first.stage},
        description=first.description if len(nodes) == 1 else f"{first.group}: {', '.join(n.key for n in nodes)}",
    )
    def body(context: dg.AssetExecutionContext, config: Batch) -> Iterator[Any]:
        if process_of(context.run) is None:
            context.instance.add_run_tags(context.run.run_id, process_tags(context.run.run_id))
        try:
            workspace = load()
        except VvbError:  # files that cannot be read
            context.instance.add_run_tags(context.run.run_id, FINAL)
            raise
        selected = context.selected_asset_keys
        wanted = [workspace.graph.nodes[node.key] for node in nodes if asset_key(node.key) in selected]
        keys: list[str | None] = list(config.partitions)
        if not keys:
            keys = list(context.partition_keys) if _partitioned(context) else [None]
        publisher: Publisher | Collector
        if len(keys) == 1 and not config.partitions:
            publisher = Collector(context, workspace, describe)
        else:
            publisher = Publisher(context, workspace, describe)
            for node in wanted if config.partitions else []:
                publisher.log_planned(node, config.partitions)
        failures = _make_all(context, workspace, wanted, keys, config.force, publisher)
        yield from publisher.flush()
        if failures:
            context.instance.add_run_tags(context.run.run_id, FINAL)
            raise dg.Failure(
                f"{len(failures)} of {len(keys)} partitions failed: " + "; ".join(sorted(failures)),
                metadata={"failed": dg.MetadataValue.json(failures)},
                allow_retries=False,
            )

    return body


def _partitioned(context: dg.AssetExecutionContext) -> bool:
    return bool(context.has_partition_key or context.has_partition_key_range)


def _spec(node: Node, definition: Any, columns: dg.TableSchema | None) -> dg.AssetSpec:
    return dg.AssetSpec(
        asset_key(node.key),
        deps=[asset_key(key) for key in node.inputs],
        description=node.description,
        metadata={"dagster/column_schema": columns} if columns else {},
        group_name=op_safe(node.group),
        code_version=node.code_version,
        skippable=True,
        owners=["team:benchmark"],
        kinds=set(node.kinds),
        tags={"vvb/stage": node.stage},
        partitions_def=definition,
    )


def _make_all(
    context: dg.AssetExecutionContext,
    workspace: Workspace,
    nodes: Sequence[Node],
    keys: Sequence[str | None],
    force: bool,
    publisher: Publisher | Collector,
) -> dict[str, str]:
    """Make every key, `workers` at once; publish from this thread as they finish. Returns what failed, and why."""
    failures: dict[str, str] = {}
    progress = current_progress()
    for node in nodes:
        if node.prepare is not None:
            try:
                node.prepare(workspace, [key for key in keys if key is not None])
            except VvbError as error:  # going on without it could do, and pay for, the same thing twice
                context.log.error(f"{node.key}: {_one_line(error)}", exc_info=error)
                for key in keys:
                    failures[str(key or nodes[0].key)] = _one_line(error)
                    progress.failed(nodes[0], key, _one_line(error))
                return failures
    pool = ThreadPoolExecutor(max_workers=nodes[0].workers, thread_name_prefix="vvb")
    running: dict[Future[list[tuple[Node, Outcome]]], str | None] = {}
    todo = iter(keys)

    def submit(upcoming: Iterable[str | None]) -> None:
        for key in upcoming:
            running[pool.submit(_make_nodes, workspace, nodes, key, force)] = key
            return

    try:
        for _ in range(nodes[0].workers):
            submit(todo)
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                key = running.pop(future)
                submit(todo)
                try:
                    outcomes = future.result()
                except PausedError as pause:
                    # A limit of money is no fault: the partition stays as it is, and the next run goes on with it.
                    context.log.warning(f"paused: {name_of(nodes[0].key, key)}: {_one_line(pause)}")
                    progress.paused(nodes[0], key, _one_line(pause))
                    continue
                except Exception as error:
                    failures[str(key or nodes[0].key)] = _one_line(error)
                    context.log.error(f"{name_of(nodes[0].key, key)}: {_one_line(error)}", exc_info=error)
                    progress.failed(nodes[0], key, _one_line(error))
                    continue
                for node, outcome in outcomes:
                    publisher.add(node, outcome.manifest)
                progress.done(nodes[0], key, any(outcome.made for _, outcome in outcomes))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return failures


def _make_nodes(
    workspace: Workspace, nodes: Sequence[Node], key: str | None, force: bool
) -> list[tuple[Node, Outcome]]:
    return [(node, make_partition(workspace, node, key, force=force)) for node in nodes]


def _one_line(error: BaseException) -> str:
    text = str(error) if isinstance(error, VvbError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def wire_checks(node: Node, partitions: Partitions, load: Load) -> list[dg.AssetChecksDefinition]:
    """Asset checks of a node, runnable by themselves from the UI: each reads the verdict kept with the artifact."""
    with warnings.catch_warnings():
        # Partitioned checks are a preview in the pinned release; what is used of them is tested (tests/e2e).
        warnings.simplefilter("ignore", category=dg.PreviewWarning)
        return [_wire_check(node, name, description, partitions, load) for name, description in node.checks]


def _wire_check(
    node: Node, name: str, description: str, partitions: Partitions, load: Load
) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset_key(node.key),
        name=name,
        description=description,
        partitions_def=partitions.of(node.dims),
    )
    def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        workspace = load()
        partition = context.partition_key if context.has_partition_key else None
        manifest = workspace.store.load(node.key, partition)
        if manifest is None or name not in manifest.checks:
            return dg.AssetCheckResult(passed=False, description="nothing was made yet: materialise the asset first")
        evaluation = check_evaluation(node, manifest, name, manifest.checks[name], None, context.run.run_id)
        return dg.AssetCheckResult(
            passed=evaluation.passed, severity=evaluation.severity, description=evaluation.description
        )

    return check
