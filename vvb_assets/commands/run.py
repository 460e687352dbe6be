"""`vvb run`: make what is missing or stale, stage by stage, to a leaderboard."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from vvb_assets.build import STAGES
from vvb_assets.commands.common import FAILED, benchmark_options, echo_json, json_option, known, open_workspace
from vvb_assets.commands.leaderboard import show_leaderboard
from vvb_assets.commands.plan import print_plan
from vvb_assets.graph import Node, name_of
from vvb_assets.panels.desk import call_desk
from vvb_assets.panels.estimates import refuse_unpriced
from vvb_resources.judges.calls import run_environment
from vvb_resources.judges.providers.base import delete_orphans
from vvb_resources.judges.uploads import UploadList

USD = click.FloatRange(min=0)


class Printer:
    """A line for each finished partition, with the time since the start; on stderr, since stdout is for results.

    `spent` tells what judges have cost in this run so far, in USD.
    """

    def __init__(self, spent: Callable[[], float] = lambda: 0.0) -> None:
        self.spent = spent
        self.console = Console(stderr=True, highlight=False)
        self.started = time.monotonic()
        self.counts: dict[str, int] = {}
        self.totals: dict[str, int] = {}

    def begin(self, node: Node, total: int) -> None:
        self.totals[node.op_name] = self.counts.get(node.op_name, 0) + total

    def done(self, node: Node, partition: str | None, made: bool) -> None:
        self.counts[node.op_name] = self.counts.get(node.op_name, 0) + 1
        what = "made" if made else "kept"
        usd = self.spent() if node.stage == "panels" else 0.0
        self.console.print(
            f"{time.monotonic() - self.started:7.1f} s  {what}  {escape(name_of(node.op_name, partition))}"
            f"  [dim]{self.counts[node.op_name]}/{self.totals.get(node.op_name, '?')}"
            f"{f'  ${usd:.2f} so far' if usd else ''}[/dim]",
        )

    def failed(self, node: Node, partition: str | None, why: str) -> None:
        self.console.print(f"[red]failed[/red]  {escape(name_of(node.op_name, partition))}: {escape(why)}")

    def paused(self, node: Node, partition: str | None, why: str) -> None:
        self.console.print(f"[yellow]paused[/yellow]  {escape(name_of(node.op_name, partition))}: {escape(why)}")


@click.command("run")
@benchmark_options
@click.option("--only", "stages", multiple=True, type=click.Choice(STAGES), help="Only this stage (may be repeated).")
@click.option("--system", "systems", multiple=True, help="Only this system (may be repeated).")
@click.option("--task", "tasks", multiple=True, help="Only this task (may be repeated).")
@click.option("--panel", "panel_ids", multiple=True, help="Only this panel (may be repeated).")
@click.option("--limit", type=click.IntRange(min=0), help="At most this many rollouts.")
@click.option("--rerun-rollouts", is_flag=True, help="Make stale rollouts again as well.")
@click.option("--usd-run", type=USD, help="Pause before judges cost more than this in this run.")
@click.option("--usd-benchmark", type=USD, help="Pause before judges have cost more than this for the benchmark.")
@click.option("--allow-unpriced", multiple=True, metavar="MODEL", help="Ask this judge model though no price is known.")
@click.option("--batch", is_flag=True, help="Ask judges through batch interfaces: cheaper, and up to a day.")
@click.option("--dry-run", is_flag=True, help="Show the plan and what its judging would cost, and stop.")
@json_option
def command(
    benchmark: Path | None,
    panels: Path | None,
    stages: tuple[str, ...],
    systems: tuple[str, ...],
    tasks: tuple[str, ...],
    panel_ids: tuple[str, ...],
    limit: int | None,
    rerun_rollouts: bool,
    usd_run: float | None,
    usd_benchmark: float | None,
    allow_unpriced: tuple[str, ...],
    batch: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make what is missing or stale, stage by stage, and show the leaderboard.

    A run that was stopped, even by kill -9, or paused by a limit of money, goes on where it was: finished work is never
    made twice, and no stored reply is paid for again.

    Example:  vvb run --system vector --task ORBIT
    """
    started = time.monotonic()
    settings, workspace = open_workspace(benchmark, panels)
    known(workspace, systems, tasks, panel_ids)
    os.environ.update(run_environment(usd_run, usd_benchmark, allow_unpriced, batch=batch))
    if dry_run:
        print_plan(workspace, rerun_rollouts, ("stage",), orphans=False, as_json=as_json)
        return
    os.environ.update(settings.environment())
    if not stages or "panels" in stages:
        refuse_unpriced(workspace, panel_ids, rerun_held=rerun_rollouts)
        for line in delete_orphans(UploadList(workspace.home.uploads)):
            click.echo(line, err=True)
    _quiet()
    from vvb_assets.assembly import build_definitions  # Dagster takes two seconds to import
    from vvb_assets.running import Selection, open_instance, recover, run_plan

    with open_instance(workspace.home) as instance:
        for line in recover(workspace, instance):
            click.echo(line, err=True)
        report = run_plan(
            workspace,
            build_definitions(settings),
            instance,
            Selection(stages, systems, tasks, panel_ids, limit),
            rerun_held=rerun_rollouts,
            listener=Printer(lambda: call_desk(workspace).spent_in_run()),
        )
    seconds = time.monotonic() - started
    if as_json:
        echo_json(
            {
                "made": report.made,
                "published_again": report.republished,
                "failed": report.failed,
                "paused": report.paused,
                "held": report.held,
                "seconds": round(seconds, 1),
            }
        )
    else:
        show_leaderboard(workspace)
        if report.total == 0 and not report.failed:
            click.echo(f"nothing to make: everything is fresh ({seconds:.1f} s)")
        else:
            click.echo(f"made {report.total} partitions in {seconds:.0f} s")
        if report.held:
            click.echo(f"{report.held} stale rollouts were left as they are; make them again with --rerun-rollouts")
    if report.paused:
        where, why = next(iter(report.paused.items()))
        click.echo(f"paused: {len(report.paused)} partitions, {where} for one: {why}", err=True)
    if report.failed:
        for where, why in report.failed.items():
            click.echo(f"failed: {where}: {why}", err=True)
    if report.failed or report.paused:
        raise click.exceptions.Exit(FAILED)


def _quiet() -> None:
    """Dagster's own log stays in its files and in the UI; the terminal shows ours."""
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="dagster")
