"""`vvb lint`: a benchmark folder against its format and the authoring rules."""

from __future__ import annotations

from pathlib import Path

import click

from vvb_assets.commands.common import FAILED, echo_json, json_option
from vvb_resources.benchmark.linter import lint
from vvb_resources.errors import VvbError
from vvb_resources.store.home import default_benchmark


@click.command("lint")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@json_option
def command(folder: Path | None, as_json: bool) -> None:
    """Check a benchmark folder; every problem is one line: file, line, what, remedy.

    Example:  vvb lint task_data/starter
    """
    root = (folder or default_benchmark()).resolve()
    if not root.is_dir():
        raise VvbError("is not a folder", where=str(root), remedy="name a benchmark folder (it holds benchmark.yaml)")
    problems = lint(root)
    if as_json:
        echo_json(
            [{"file": p.file, "line": p.line, "what": p.what, "remedy": p.remedy} for p in problems],
        )
    else:
        for problem in problems:
            click.echo(str(problem))
        click.echo(f"{root.name}: {len(problems)} problems" if problems else f"{root.name}: clean", err=bool(problems))
    if problems:
        raise click.exceptions.Exit(FAILED)
