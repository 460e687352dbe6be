"""`vvb import`: deliveries made elsewhere become rollouts."""

from __future__ import annotations

from pathlib import Path

import click

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, known, open_workspace
from vvb_assets.graph import Made, Node, Workspace, run_key
from vvb_assets.making import current_inputs
from vvb_assets.rollouts.importing import import_delivery
from vvb_assets.rollouts.make import made_of
from vvb_resources.errors import VvbError


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--system", required=True, help="The system (a file of systems/) that made the deliveries.")
@click.option("--replace", is_flag=True, help="Replace rollouts that exist (the old ones are kept on disk).")
@benchmark_options
@json_option
def command(
    folder: Path, system: str, replace: bool, benchmark: Path | None, panels: Path | None, as_json: bool
) -> None:
    """Take FOLDER/<task id>/ (a delivery each) as rollouts of SYSTEM; `vvb run` goes on from there.

    Example:  vvb import ~/videos --system my_agent
    """
    _, workspace = open_workspace(benchmark, panels)
    known(workspace, (system,), (), ())
    if not folder.is_dir():
        raise VvbError("is not a folder", where=str(folder), remedy="name a folder that holds <task id>/ folders")
    found = sorted(p for p in folder.iterdir() if p.is_dir() and p.name in workspace.benchmark.tasks)
    ignored = sorted(p.name for p in folder.iterdir() if p.name not in workspace.benchmark.tasks)
    if not found:
        raise VvbError(
            "holds no delivery of this benchmark",
            where=str(folder),
            remedy=f"name its folders after tasks: {', '.join(workspace.benchmark.tasks)}",
        )
    states = {path.name: _import_one(workspace, path, system, replace) for path in found}
    if as_json:
        echo_json({"imported": states, "ignored": ignored})
        return
    for task, state in states.items():
        click.echo(f"{task}: {state}")
    if ignored:
        click.echo(f"ignored (no such task): {', '.join(ignored)}", err=True)


def _import_one(workspace: Workspace, source: Path, system: str, replace: bool) -> str:
    """Store one delivery as the rollout of (system, task); returns the state of its video."""
    node: Node = workspace.graph.nodes["rollout"]
    partition, store = run_key(system, source.name), workspace.store
    with store.locked("rollout", partition):
        if store.load("rollout", partition) is not None and not replace:
            return "kept the rollout that is there (--replace imports over it)"
        inputs = current_inputs(workspace, node, partition)
        with store.staging("rollout", partition) as out:
            record = import_delivery(source, system, source.name, out)
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
