"""`vvb judges`: what judging cost, whether a judge hears, how much it varies."""

from __future__ import annotations

import os
from pathlib import Path

import click
import polars as pl
from rich.console import Console
from rich.table import Table

from vvb_assets.commands.common import FAILED, benchmark_options, echo_json, json_option, known, open_workspace
from vvb_assets.graph import Workspace, run_key
from vvb_assets.panels.costs import judging_costs
from vvb_assets.panels.make import call_desk, reply_store
from vvb_assets.panels.repeats import noise, repeat_judgments
from vvb_resources.errors import VvbError
from vvb_resources.judges.calls import run_environment
from vvb_resources.judges.canary import canary
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.providers.base import Services, provider_module
from vvb_resources.store.tables import format_value

limit_option = click.option("--usd-run", type=click.FloatRange(min=0), help="Pause before this costs more than that.")
unpriced_option = click.option("--allow-unpriced", multiple=True, metavar="MODEL", help="Ask it without a known price.")


@click.group("judges")
def command() -> None:
    """What judging cost, whether a judge hears, how much it varies.

    Example:  vvb judges cost
    """


@command.command("cost")
@benchmark_options
@json_option
def cost(benchmark: Path | None, panels: Path | None, as_json: bool) -> None:
    """Cost of the judgments by panel, judge and system.

    Example:  vvb judges cost --json
    """
    _, workspace = open_workspace(benchmark, panels)
    table = judging_costs(workspace)
    _show(
        table if as_json else table.select("panel", "judge", "system", "runs", "replies", "usd", "usd_per_run"), as_json
    )


@command.command("canary")
@benchmark_options
@click.option("--panel", "panel_ids", multiple=True, help="Only this panel (may be repeated).")
@limit_option
@unpriced_option
@json_option
def canary_command(
    benchmark: Path | None,
    panels: Path | None,
    panel_ids: tuple[str, ...],
    usd_run: float | None,
    allow_unpriced: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ask each judge that hears for a codeword that is only spoken. One call a judge; exit 1 if one did not hear it.

    Example:  vvb judges canary --panels task_data/paper/panels --panel J3
    """
    os.environ.update(run_environment(usd_run, None, allow_unpriced))
    _, workspace = open_workspace(benchmark, panels)
    known(workspace, (), (), panel_ids)
    services = Services(ObservationCache(workspace.home.observations), call_desk(workspace).uploads)
    found = [
        {"panel": panel.id, **vars(canary(panel.id, judge, call_desk(workspace), reply_store(workspace), services))}
        for panel in workspace.benchmark.panels.values()
        for judge in panel.judges
        if (not panel_ids or panel.id in panel_ids) and judge.hears and provider_module(judge.provider).PAID
    ]
    columns = {"panel": pl.String, "judge": pl.String, "spoken": pl.String, "said": pl.String}
    _show(pl.DataFrame(found, schema={**columns, "heard": pl.Boolean, "usd": pl.Float64}), as_json)
    if not all(row["heard"] for row in found):
        raise click.exceptions.Exit(FAILED)


@command.command("noise")
@benchmark_options
@click.option("--panel", required=True, help="The panel to ask again.")
@click.option("--system", "systems", multiple=True, help="Only this system (may be repeated).")
@click.option("--task", "tasks", multiple=True, help="Only this task (may be repeated).")
@click.option("--samples", type=click.IntRange(min=2), default=3, show_default=True, help="Answers to each question.")
@limit_option
@unpriced_option
@json_option
def noise_command(
    benchmark: Path | None,
    panels: Path | None,
    panel: str,
    systems: tuple[str, ...],
    tasks: tuple[str, ...],
    samples: int,
    usd_run: float | None,
    allow_unpriced: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ask a panel the same again and say how often its judges agree with themselves. Scores are not touched.

    Example:  vvb judges noise --panel J2 --task ORBIT --samples 5 --usd-run 2
    """
    os.environ.update(run_environment(usd_run, None, allow_unpriced))
    _, workspace = open_workspace(benchmark, panels)
    known(workspace, systems, tasks, (panel,))
    runs = _delivered(workspace, systems, tasks)
    if not runs:
        raise VvbError("no video of these runs", where=str(workspace.home.base), remedy="make them first: vvb run")
    _show(noise(repeat_judgments(workspace, panel, runs, samples)), as_json)


def _delivered(workspace: Workspace, systems: tuple[str, ...], tasks: tuple[str, ...]) -> list[str]:
    """Runs with a blinded video among those named (all, where none are)."""
    keys = [run_key(s, t) for s in systems or workspace.graph.systems for t in tasks or workspace.graph.tasks]
    manifests = workspace.store.manifests("blinded_media", keys)
    return [key for key in keys if key in manifests and manifests[key].summary["delivered"]]


def _show(frame: pl.DataFrame, as_json: bool) -> None:
    if as_json:
        echo_json(frame.to_dicts())
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in frame.columns:
        table.add_column(column, justify="right" if frame.schema[column].is_numeric() else "left", overflow="fold")
    for row in frame.iter_rows(named=True):
        table.add_row(*(format_value(name, value) for name, value in row.items()))
    Console().print(table)
