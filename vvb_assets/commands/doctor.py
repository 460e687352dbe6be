"""`vvb doctor`: what is installed, which keys are set (never their values), what would work."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vvb_assets.commands.common import FAILED, benchmark_options, echo_json, json_option
from vvb_assets.rollouts.model_access import key_name
from vvb_assets.settings import Settings
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.errors import VvbError
from vvb_resources.harnesses.base import get_harness, harness_ids
from vvb_resources.media.tools import ffmpeg_program
from vvb_resources.sandbox.bubblewrap import find_bubblewrap
from vvb_resources.sandbox.docker.engine import engine_version

PACKAGES = ("dagster", "polars", "duckdb", "av", "imageio-ffmpeg", "faster-whisper", "rapidocr", "espeakng-loader")
OPTIONAL = {
    "anthropic": "judges",
    "google-genai": "judges",
    "openai": "judges",
    "openai-whisper": "whisper",
    "dagster-postgres": "postgres",
    "dagster-docker": "docker",
}
KEYS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "DASHSCOPE_API_KEY")


@click.command("doctor")
@benchmark_options
@json_option
def command(benchmark: Path | None, panels: Path | None, as_json: bool) -> None:
    """Say what is installed, which keys are set, and what would work.

    Example:  vvb doctor
    """
    rows = [*_packages(), *_tools(), *_keys(), *_places(Settings.resolve(benchmark, panels))]
    if as_json:
        echo_json(rows)
    else:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("what", "state", "detail"):
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(row["what"], row["state"], escape(row["detail"]))
        Console().print(table)
    if any(row["state"] == "missing" for row in rows):
        raise click.exceptions.Exit(FAILED)


def _row(what: str, state: str, detail: str) -> dict[str, Any]:
    return {"what": what, "state": state, "detail": detail}


def _packages() -> list[dict[str, Any]]:
    rows = []
    for name in PACKAGES:
        try:
            rows.append(_row(name, "ok", importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            rows.append(_row(name, "missing", "pip install vibevideobench"))
    for name, extra in OPTIONAL.items():
        try:
            rows.append(_row(name, "ok", importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            rows.append(_row(name, "not installed", f"optional: pip install 'vibevideobench[{extra}]'"))
    return rows


def _tools() -> list[dict[str, Any]]:
    rows = []
    try:
        rows.append(_row("ffmpeg", "ok", ffmpeg_program()))
    except VvbError as error:
        rows.append(_row("ffmpeg", "missing", str(error)))
    bubblewrap, statement = find_bubblewrap()
    rows.append(
        _row("bubblewrap", "ok", f"{bubblewrap.program} {bubblewrap.version}")
        if bubblewrap
        else _row("bubblewrap", "not usable", f"{statement}: rollouts run without walls, and say so")
    )
    try:
        version = engine_version()
        rows.append(_row("docker engine", "ok", f"{version['Version']}: sandboxes in containers"))
    except VvbError as error:
        rows.append(_row("docker engine", "not usable", f"optional, sandboxes in containers: {error.what}"))
    return rows


def _keys() -> list[dict[str, Any]]:
    return [_row(name, "set" if os.environ.get(name) else "not set", "needed by panels that name it") for name in KEYS]


def _gateways(benchmark: Benchmark) -> list[dict[str, Any]]:
    """For each system whose agent calls a model: has the gateway its key."""
    rows = []
    for system in benchmark.systems.values():
        wire = get_harness(system.harness).wire(system) if system.harness in harness_ids() else None
        if wire is not None:
            name = key_name(system, wire)
            state = "set" if os.environ.get(name) else "not set"
            rows.append(_row(f"{name} of system {system.id}", state, f"needed by its model gateway ({wire})"))
    return rows


def _places(settings: Settings) -> list[dict[str, Any]]:
    rows = [_row("data home", "ok", str(settings.home))]
    try:
        workspace = settings.open()
    except VvbError as error:
        return [*rows, _row("benchmark", "missing", str(error))]
    b = workspace.benchmark
    sizes = f"{len(b.systems)} systems x {len(b.tasks)} tasks x {len(b.panels)} panels"
    return [*rows, _row("benchmark", "ok", f"{b.root} ({sizes})"), *_gateways(b)]
