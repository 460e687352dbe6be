"""`vvb leaderboard`: the table as it was last made, in any format, with what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_assets.graph import Workspace
from vvb_assets.leaderboards.columns import STORED_TABLES
from vvb_assets.leaderboards.make import load_table
from vvb_resources.store.tables import cells, render

NARROW = (  # what fits a terminal; every column is in the other formats
    *("rank", "system", "delivered", "tasks", "spec_pct", "l2_pass_deliv_pct", "l2_pass_nv0_pct", "strict_pct"),
    *("overall_deliv", "overall_nv0", "human_elo", "usd_per_task", "reason"),
)
OPTIONAL = ("human_elo", "reason")  # not shown where every cell is empty
PIPE_WIDTH = 150
FORMATS = ("table", "csv", "markdown", "latex", "json")


@click.command("leaderboard")
@benchmark_options
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--table", "name", type=click.Choice(list(STORED_TABLES)), default="leaderboard", show_default=True)
@json_option
def command(benchmark: Path | None, panels: Path | None, form: str, name: str, as_json: bool) -> None:
    """Show the leaderboard (or another table) as it was last made by `vvb run`.

    Example:  vvb leaderboard --format markdown > board.md
    """
    _, workspace = open_workspace(benchmark, panels)
    table = load_table(workspace, name)
    if as_json or form == "json":
        key = "systems" if name == "leaderboard" else "rows"
        echo_json({key: table.to_dicts(), "missing": missing(workspace)})
    elif form == "table":
        show_table(workspace, name)
    else:
        click.echo(render(table, form, STORED_TABLES[name]), nl=False)


def missing(workspace: Workspace) -> dict[str, Any]:
    """What the tables were built without: runs not made, and runs a panel has not judged (run keys)."""
    graph, store = workspace.graph, workspace.store
    runs = graph.partitions(graph.nodes["rollout"])
    made = store.manifests("rollout", runs)
    unjudged = {
        panel: [p for p in made if store.load(f"{panel}/l2_verdicts", p) is None]
        for panel in workspace.benchmark.panels
    }
    return {
        "runs": [p for p in runs if p not in made],
        "panels": {panel: lacking for panel, lacking in unjudged.items() if lacking},
    }


def show_leaderboard(workspace: Workspace) -> None:
    """Print the leaderboard for a person, if there is one."""
    if workspace.store.load("leaderboard", None) is not None:
        show_table(workspace, "leaderboard")


def show_table(workspace: Workspace, name: str) -> None:
    """Print a table for a person, with what is missing under it."""
    frame, spec = load_table(workspace, name), STORED_TABLES[name]
    if name == "leaderboard":
        spec = replace(spec, shown=NARROW)
    headers, rows = cells(frame, spec)
    shown = [c for c in (spec.shown or frame.columns) if c in frame.columns]
    keep = [i for i, column in enumerate(shown) if column not in OPTIONAL or any(row[i] != "–" for row in rows)]
    table = Table(title=spec.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for i in keep:
        table.add_column(
            headers[i], justify="right" if frame.schema[shown[i]].is_numeric() else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*[row[i] for i in keep])
    Console(width=None if Console().is_terminal else PIPE_WIDTH).print(table)
    lacking = missing(workspace)
    if lacking["runs"]:
        click.echo(f"missing runs: {len(lacking['runs'])}")
    for panel, runs in lacking["panels"].items():
        click.echo(f"panel {panel} has not judged {len(runs)} runs")
