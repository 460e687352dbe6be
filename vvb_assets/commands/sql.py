"""`vvb sql`: one SELECT over the store's views."""

from __future__ import annotations

import json
from pathlib import Path

import click
import polars as pl

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_resources.store.tables import render
from vvb_resources.store.views import query

SHOWN_ROWS, SHOWN_WIDTH = 100, 60


@click.command("sql")
@click.argument("select")
@benchmark_options
@click.option("--format", "form", type=click.Choice(["table", "csv", "markdown"]), default="table", show_default=True)
@json_option
def command(select: str, benchmark: Path | None, panels: Path | None, form: str, as_json: bool) -> None:
    """Answer one SELECT over verdicts, scores, runs, l1, statistics and every table (docs/views.md); read-only.

    Example:  vvb sql "SELECT panel, verdict, count(*) AS n FROM verdicts GROUP BY ALL ORDER BY ALL"
    """
    _, workspace = open_workspace(benchmark, panels)
    rows = query(workspace.home, select)
    if as_json:
        echo_json({"rows": json.loads(rows.write_json())})
    elif form == "table":
        with pl.Config(tbl_rows=SHOWN_ROWS, tbl_cols=-1, fmt_str_lengths=SHOWN_WIDTH, tbl_hide_dataframe_shape=True):
            click.echo(rows)
        if rows.height > SHOWN_ROWS:
            click.echo(f"{rows.height} rows; --format csv prints them all", err=True)
    else:
        click.echo(render(rows, form), nl=False)
