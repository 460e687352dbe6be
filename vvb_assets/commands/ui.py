"""`vvb ui`: the Dagster UI on the right home and workspace."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click

from vvb_assets.commands.common import benchmark_options, open_workspace
from vvb_assets.event_storage import EVENTS_AT_ONCE


@click.command("ui")
@benchmark_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=3000, show_default=True, help="Port to listen on.")
def command(benchmark: Path | None, panels: Path | None, host: str, port: int) -> None:
    """Open the benchmark's graph in the Dagster UI (webserver and daemon). Stop it with Ctrl-C.

    Example:  vvb ui --port 3333
    """
    settings, workspace = open_workspace(benchmark, panels)
    from vvb_assets.processes import end_dead_runs
    from vvb_assets.running import open_instance
    from vvb_assets.serving import serving, wait_for_end

    with open_instance(workspace.home) as instance:  # the tables exist before webserver and daemon start together
        for line in end_dead_runs(instance):
            click.echo(line, err=True)
    environment = {**os.environ, **settings.environment(), "DAGSTER_EVENT_BATCH_SIZE": str(EVENTS_AT_ONCE)}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # never leave webserver and daemon behind
    click.echo(f"{workspace.benchmark.config.title}: http://{host}:{port}  (Ctrl-C stops it)")
    try:
        with serving(host, port, environment, workspace.home.dagster) as running:
            ended = wait_for_end(running)
            click.echo(f"the {ended} has ended by itself: see the messages above", err=True)
            raise click.exceptions.Exit(1)
    except KeyboardInterrupt:
        raise click.exceptions.Exit(0) from None
