"""`vvb ui`: the Dagster UI on the right home and workspace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import click

from vvb_assets.commands.common import benchmark_options, open_workspace
from vvb_resources.store.home import CHECKOUT


@click.command("ui")
@benchmark_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=3000, show_default=True, help="Port to listen on.")
def command(benchmark: Path | None, panels: Path | None, host: str, port: int) -> None:
    """Open the benchmark's graph in the Dagster UI (webserver and daemon). Stop it with Ctrl-C.

    Example:  vvb ui --port 3333
    """
    settings, workspace = open_workspace(benchmark, panels)
    from vvb_assets.running import open_instance

    with open_instance(workspace.home):
        pass  # the tables exist before webserver and daemon start together
    environment = {**os.environ, **settings.environment(), "DAGSTER_EVENT_BATCH_SIZE": "25"}
    click.echo(f"{workspace.benchmark.config.title}: http://{host}:{port}  (Ctrl-C stops it)")
    process = subprocess.Popen(
        [
            *(sys.executable, "-W", "ignore", "-m", "dagster", "dev"),
            *("-w", str(CHECKOUT / "workspace.yaml"), "-h", host, "-p", str(port)),
        ],
        env=environment,
        cwd=workspace.home.dagster,  # in the checkout Dagster would warn of the dagster.yaml it does not use
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # never leave webserver and daemon behind
    try:
        code = process.wait()
    except KeyboardInterrupt:
        process.terminate()
        code = process.wait()
    raise click.exceptions.Exit(0 if code in (0, -15) else 1)
