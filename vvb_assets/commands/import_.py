"""`vvb import`: deliveries made elsewhere become rollouts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, known, open_workspace
from vvb_assets.graph import Made, Node, Workspace, run_key
from vvb_assets.making import current_inputs
from vvb_assets.rollouts.harbor import find_trials, is_job
from vvb_assets.rollouts.importing import import_delivery, import_trial
from vvb_assets.rollouts.make import made_of
from vvb_assets.rollouts.record import RolloutRecord
from vvb_resources.errors import VvbError

Maker = Callable[[Path], RolloutRecord]


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--system", required=True, help="The system (a file of systems/) that made the deliveries.")
@click.option("--replace", is_flag=True, help="Replace rollouts that exist (the old ones are kept on disk).")
@benchmark_options
@json_option
def command(
    folder: Path, system: str, replace: bool, benchmark: Path | None, panels: Path | None, as_json: bool
) -> None:
    """Take FOLDER/<task id>/ (a delivery each), or the trials of a Harbor job, as rollouts of SYSTEM.

    `vvb run` goes on from there.

    Example:  vvb import ~/videos --system my_agent
    """
    _, workspace = open_workspace(benchmark, panels)
    known(workspace, (system,), (), ())
    if not folder.is_dir():
        raise VvbError("is not a folder", where=str(folder), remedy="name a folder that holds <task id>/ folders")
    makers, ignored = _sources(folder, system, tuple(workspace.benchmark.tasks))
    if not makers:
        reasons = "; ".join(f"{name}: {why}" for name, why in list(ignored.items())[:3])
        raise VvbError(
            f"holds no delivery of this benchmark{f' ({reasons})' if reasons else ''}",
            where=str(folder),
            remedy=f"name its folders after tasks: {', '.join(workspace.benchmark.tasks)}",
        )
    states = {task: _import_one(workspace, task, system, make, replace) for task, make in makers.items()}
    if as_json:
        echo_json({"imported": states, "ignored": ignored})
        return
    for task, state in states.items():
        click.echo(f"{task}: {state}")
    for name, why in ignored.items():
        click.echo(f"ignored: {name} ({why})", err=True)


def _sources(folder: Path, system: str, tasks: tuple[str, ...]) -> tuple[dict[str, Maker], dict[str, str]]:
    """(what imports each task found in `folder`, the other entries and why they are ignored)."""
    if is_job(folder):
        trials, ignored = find_trials(folder, tasks)
        return {trial.task: partial(import_trial, trial, system) for trial in trials}, ignored
    entries = sorted(folder.iterdir())
    found = [path for path in entries if path.is_dir() and path.name in tasks]
    ignored = {path.name: "no such task" for path in entries if path not in found}
    return {path.name: partial(import_delivery, path, system, path.name) for path in found}, ignored


def _import_one(workspace: Workspace, task: str, system: str, make: Maker, replace: bool) -> str:
    """Store one delivery as the rollout of (system, task); returns the state of its video."""
    node: Node = workspace.graph.nodes["rollout"]
    partition, store = run_key(system, task), workspace.store
    with store.locked("rollout", partition):
        if store.load("rollout", partition) is not None and not replace:
            return "kept the rollout that is there (--replace imports over it)"
        inputs = current_inputs(workspace, node, partition)
        with store.staging("rollout", partition) as out:
            record = make(out)
            made: Made = made_of(record)
            store.commit(
                out,
                asset="rollout",
                partition=partition,
                data_version=made.data_version,
                code_version=node.code_version,
                inputs=inputs.versions,
                facets=inputs.facets,
                seconds=0.0,
                summary=made.summary,
                checks=made.checks,
                keep_old=True,
            )
    return f"video {record.video.state}"
