"""`vvb score`: the tables from results made elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from vvb_assets.commands.common import echo_json, json_option
from vvb_assets.leaderboards.columns import ALL_TABLES
from vvb_assets.leaderboards.pictures import draw
from vvb_assets.leaderboards.score import score_everything
from vvb_assets.leaderboards.uncertainty import RESAMPLES, SEED
from vvb_assets.scores.results import read_results
from vvb_resources.store.atomic import write_bytes
from vvb_resources.store.tables import render, write_table


@click.command("score")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write every table here, as CSV and Parquet.")
@click.option("--resamples", type=click.IntRange(1), default=RESAMPLES, show_default=True, help="Bootstrap over tasks.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Seed of the bootstrap over tasks.")
@click.option("--study-seed", type=int, default=0, show_default=True, help="Seed of the bootstrap over votes.")
@json_option
def command(folder: Path, out: Path | None, resamples: int, seed: int, study_seed: int, as_json: bool) -> None:
    """Score a folder in the results format (docs/scores.md): checks, runs, verdicts, scores as Parquet or CSV.

    Example:  vvb score results/ --out tables/
    """
    results = read_results(folder, keep_verdicts=False)
    tables = score_everything(results, resamples=resamples, seed=seed, study_seed=study_seed)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            write_table(table, out, name, spec=ALL_TABLES[name])
            for stem, png in draw(name, tables).items():
                write_bytes(out / f"{stem}.png", png)
    if as_json:
        echo_json({name: table.to_dicts() for name, table in tables.items()})
        return
    click.echo(render(tables["leaderboard"], "markdown", ALL_TABLES["leaderboard"]), nl=False)
    if out is not None:
        click.echo(f"{len(tables)} tables in {out}", err=True)
