"""`vvb fit`: the Bradley-Terry fit of a votes file."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from vvb_assets.commands.common import echo_json, json_option
from vvb_assets.human.columns import HUMAN_TABLES
from vvb_assets.human.rating import PRIOR, Ties, rate
from vvb_assets.human.tables import fit_document, rating_tables
from vvb_resources.benchmark.votes import read_votes
from vvb_resources.store.tables import render


@click.command("fit")
@click.argument("votes", type=click.Path(path_type=Path))
@click.option("--prior", type=float, default=PRIOR, show_default=True, help="Virtual votes for each pair of systems.")
@click.option(
    "--ties",
    type=click.Choice(["drop", "half"]),
    default="drop",
    show_default=True,
    help="Leave ties out, or count each as half a win for both.",
)
@json_option
def command(votes: Path, prior: float, ties: str, as_json: bool) -> None:
    """Fit Bradley-Terry strengths to a votes file (.csv or .parquet: system_a, system_b, choice A|B|tie|both_bad).

    Example:  vvb fit votes.csv --json
    """
    rating = rate(read_votes(votes, need_task=False), prior=prior, ties=cast(Ties, ties))
    document = fit_document(rating)
    if as_json:
        echo_json(document)
        return
    table = rating_tables(rating)["bradley_terry"]
    click.echo(render(table, "markdown", HUMAN_TABLES["bradley_terry"]), nl=False)
    counts = f"{document['decisive']} decisive votes, {document['ties']} ties, {document['both_bad']} both bad"
    click.echo(counts, err=True)
