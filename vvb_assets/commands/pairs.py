"""`vvb pairs`: the pair design of the human study, to hand to annotators."""

from __future__ import annotations

from pathlib import Path

import click

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_assets.human.make import load_pairs
from vvb_resources.store.atomic import write_text


@click.command("pairs")
@click.option("--out", type=click.Path(path_type=Path), help="Write the CSV here instead of to the terminal.")
@benchmark_options
@json_option
def command(out: Path | None, benchmark: Path | None, panels: Path | None, as_json: bool) -> None:
    """Print whom to compare on what, as `vvb run` last designed it; with a column `choice` it is a votes file.

    Example:  vvb pairs --out pairs.csv
    """
    _, workspace = open_workspace(benchmark, panels)
    table = load_pairs(workspace)
    if out is not None:
        write_text(out, table.write_csv())
    if as_json:
        echo_json({"pairs": table.to_dicts()})
    elif out is None:
        click.echo(table.write_csv(), nl=False)
    if out is not None or not table.height:
        click.echo(f"{table.height} pairs{f' in {out}' if out else ''}", err=True)
