"""`vvb trajectory`: a harness's own log as steps, tokens and cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_resources.benchmark.models import Price
from vvb_resources.harnesses.trajectory.atif import to_atif
from vvb_resources.harnesses.trajectory.reading import read_trajectory
from vvb_resources.harnesses.trajectory.types import Step, Tokens, Trajectory
from vvb_resources.judges.pricing import cost_usd


@click.command("trajectory")
@click.argument("harness")
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--atif", is_flag=True, help="One ATIF document (Harbor's interchange format) on stdout.")
@benchmark_options
@json_option
def command(harness: str, log: Path, atif: bool, benchmark: Path | None, panels: Path | None, as_json: bool) -> None:
    """Read LOG, a file or a folder that HARNESS wrote. Prices are those of the benchmark's newest list.

    A log that is cut, mixed or damaged gives what can be read, with `complete: false` and the reasons.

    Example:  vvb trajectory claude_code ~/.claude/projects/my-project --json
    """
    trajectory = read_trajectory(harness, log)
    prices = open_workspace(benchmark, panels)[1].benchmark.model_prices
    if atif:
        echo_json(to_atif(trajectory, prices))
    elif as_json:
        echo_json(document(trajectory, prices))
    else:
        _show(trajectory, trajectory.usd(prices))


def document(trajectory: Trajectory, prices: dict[str, Price]) -> dict[str, Any]:
    """What `--json` prints: totals, models, complete, steps, and why it is not complete."""
    models = {
        name: {**_tokens(tokens), "usd": _model_usd(trajectory, name, prices)}
        for name, tokens in trajectory.by_model.items()
    }
    return {
        "totals": {**_tokens(trajectory.totals), "usd": trajectory.usd(prices)},
        "models": models,
        "complete": trajectory.complete,
        "problems": list(trajectory.problems),
        "harness": trajectory.harness,
        "harness_version": trajectory.harness_version,
        "session": trajectory.session,
        "reported_usd": trajectory.reported_usd,
        "images_viewed": trajectory.images_viewed,
        "tool_calls": trajectory.tool_calls,
        "steps": [_step(step, prices) for step in trajectory.steps],
    }


def _tokens(tokens: Tokens) -> dict[str, int]:
    return {f"{kind}_tokens": getattr(tokens, kind) for kind in Tokens.model_fields}


def _model_usd(trajectory: Trajectory, name: str, prices: dict[str, Price]) -> float | None:
    steps = tuple(step for step in trajectory.steps if step.tokens and (step.model or "unknown") == name)
    return trajectory.model_copy(update={"steps": steps}).usd(prices)


def _step(step: Step, prices: dict[str, Price]) -> dict[str, Any]:
    content = step.model_dump(mode="json", exclude={"tokens"})
    tokens = step.tokens
    metrics = {**_tokens(tokens), "usd": cost_usd(prices.get(step.model or ""), tokens.by_price())} if tokens else None
    return {**content, "tokens": metrics}


def _show(trajectory: Trajectory, usd: float | None) -> None:
    agent = sum(step.source == "agent" for step in trajectory.steps)
    click.echo(
        f"{trajectory.harness} {trajectory.harness_version or '(version unknown)'}: {agent} answers, "
        f"{trajectory.tool_calls} tool calls, {trajectory.images_viewed} pictures viewed"
    )
    for name, tokens in {**trajectory.by_model, "all": trajectory.totals}.items():
        click.echo(f"{name}: " + ", ".join(f"{kind} {count:,}" for kind, count in tokens.model_dump().items()))
    click.echo(f"cost: {'not known (a model without a price)' if usd is None else f'${usd:.4f}'}")
    if not trajectory.complete:
        click.echo("not complete: " + "; ".join(trajectory.problems), err=True)
