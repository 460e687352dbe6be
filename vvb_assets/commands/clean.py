"""`vvb clean`: remove what the benchmark no longer names, after asking. Nothing else is ever removed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_assets.orphans import Left, by_reason, left_behind
from vvb_resources.errors import VvbError
from vvb_resources.store.orphans import remove


@click.command("clean")
@benchmark_options
@click.option("--rollouts", is_flag=True, help="Rollouts as well: videos that took hours and money to make.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(benchmark: Path | None, panels: Path | None, rollouts: bool, yes: bool, as_json: bool) -> None:
    """Remove artifacts of systems, tasks and panels that have left the benchmark.

    Lists them by reason and asks first. Rollouts stay unless --rollouts; replies of judges, snapshots of old files and
    Dagster's log always stay. A system or task that comes back finds what was not removed as it was.

    Example:  vvb clean --yes
    """
    _, workspace = open_workspace(benchmark, panels)
    held = {node.key for node in workspace.graph.nodes.values() if node.held}
    left = left_behind(workspace)
    chosen = [item for item in left if rollouts or item.orphan.manifest.asset not in held]
    kept = len(left) - len(chosen)
    if chosen and not yes:
        _ask(chosen)
    for item in chosen:
        remove(workspace.store, item.orphan)
    if as_json:
        echo_json({"removed": [item.to_json() for item in chosen], "kept_rollouts": kept})
        return
    size = sum(item.orphan.bytes for item in chosen)
    click.echo(f"removed {len(chosen)} artifacts, {size / 1e6:.1f} MB" if chosen else "nothing to remove")
    if kept:
        click.echo(f"kept {kept} rollouts that no system and task names; remove them with --rollouts")


def _ask(chosen: list[Left]) -> None:
    for why, (count, size) in by_reason(chosen).items():
        click.echo(f"{count} artifacts, {size / 1e6:.1f} MB: {why}", err=True)
    if not sys.stdin.isatty():
        raise VvbError("nobody is there to ask", where="vvb clean", remedy="say so beforehand: vvb clean --yes")
    click.confirm("Remove them for good?", abort=True, err=True)
