"""`vvb l1`: measure and check one file or delivery outside the graph."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from vvb_assets.commands.common import FAILED, echo_json, json_option
from vvb_assets.l1.report import l1_report
from vvb_resources.benchmark.loader import load_task_facts
from vvb_resources.benchmark.models import L1Limits


@click.command("l1")
@click.argument("video", type=click.Path(path_type=Path))
@click.option(
    "--spec", required=True, type=click.Path(path_type=Path), help="A task.yaml (id, kind, language, delivery, audio)."
)
@json_option
def command(video: Path, spec: Path, as_json: bool) -> None:
    """Measure VIDEO (an MP4 or a delivery folder) and check it against a task's spec, with the default limits.

    Exit code 0: every applicable check passes; 1: one fails. A missing or broken delivery is a result, not an error.

    Example:  vvb l1 out/video.mp4 --spec task_data/starter/tasks/ORBIT/task.yaml
    """
    facts = load_task_facts(spec)
    with tempfile.TemporaryDirectory(prefix="vvb-l1-") as work:
        report = l1_report(video, facts, L1Limits(), Path(work))
    if as_json:
        echo_json(report)
    else:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("check", "counts", "verdict", "measured", "required", "why"):
            table.add_column(column, overflow="fold")
        for name, check in report["checks"].items():
            table.add_row(
                name,
                "yes" if check["applies"] else "no",
                check["verdict"],
                _text(check["measured"]),
                _text(check["required"]),
                check["why"],
            )
        Console().print(table)
        word = {True: "passed", False: "failed", None: "not fully measured"}[report["passed"]]
        click.echo(f"delivered: {'yes' if report['delivered'] else 'no'}; spec: {word}")
    if report["passed"] is not True:
        raise click.exceptions.Exit(FAILED)


def _text(value: object) -> str:
    return "" if value is None else str(value)
