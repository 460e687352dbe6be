"""Options and output that the commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vvb_assets.graph import Workspace
from vvb_assets.settings import Settings
from vvb_resources.errors import VvbError

F = TypeVar("F", bound=Callable[..., Any])

FAILED = 1  # exit code: done, and something failed its check


def benchmark_options(function: F) -> F:
    """`--benchmark DIR` and `--panels DIR`."""
    folder = click.Path(path_type=Path, file_okay=False)
    function = click.option("--panels", type=folder, help="Panels of another folder instead of the benchmark's own.")(
        function
    )
    return click.option(
        "--benchmark", type=folder, help="Benchmark folder (default: $VVB_BENCHMARK, else the starter benchmark)."
    )(function)


def json_option(function: F) -> F:
    """`--json`: one JSON document on stdout, for scripts."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for scripts.")(function)


def open_workspace(benchmark: Path | None, panels: Path | None) -> tuple[Settings, Workspace]:
    """Settings and the workspace they name."""
    settings = Settings.resolve(benchmark, panels)
    return settings, settings.open()


def known(workspace: Workspace, systems: tuple[str, ...], tasks: tuple[str, ...], panels: tuple[str, ...]) -> None:
    """Refuse a name that the benchmark does not have, and say which it has."""
    for what, asked, there in (
        ("system", systems, workspace.benchmark.systems),
        ("task", tasks, workspace.benchmark.tasks),
        ("panel", panels, workspace.benchmark.panels),
    ):
        for name in asked:
            if name not in there:
                raise VvbError(
                    f"no {what} named {name!r}",
                    where=str(workspace.benchmark.root),
                    remedy=f"it has: {', '.join(there) or 'none'}",
                )


def echo_json(value: Any) -> None:
    """Print a JSON document; NaN and infinity are refused."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))
