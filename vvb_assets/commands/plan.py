"""`vvb plan`: what is missing or stale, why, and what it would cost. Makes nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_assets.graph import Workspace
from vvb_assets.panels.estimates import with_estimates
from vvb_assets.plan import Plan, Reason, Stale, make_plan

EXAMPLES = 3


@click.command("plan")
@benchmark_options
@click.option("--rerun-rollouts", is_flag=True, help="Count stale rollouts as to be made (they are held otherwise).")
@json_option
def command(benchmark: Path | None, panels: Path | None, rerun_rollouts: bool, as_json: bool) -> None:
    """Show what is missing or stale, and why; make nothing.

    Example:  vvb plan --json | jq .totals
    """
    _, workspace = open_workspace(benchmark, panels)
    plan = with_estimates(workspace, make_plan(workspace, rerun_held=rerun_rollouts))
    if as_json:
        echo_json(plan.to_json())
    else:
        show_plan(workspace, plan)


def show_plan(workspace: Workspace, plan: Plan) -> None:
    """Print a plan for a person: a line an asset and cause, with counts and examples."""
    console = Console()
    if plan.stale:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("asset", "partitions", "why", "for example"):
            table.add_column(column, overflow="fold")
        for asset, items in _by_asset(plan.stale).items():
            for why, group in _by_cause(items).items():
                names = [item.partition for item in group if item.partition]
                more = f" +{len(names) - EXAMPLES}" if len(names) > EXAMPLES else ""
                table.add_row(asset, str(len(group)), why, ", ".join(names[:EXAMPLES]) + more)
        console.print(table)
    if plan.held:
        shown = ", ".join(str(item.partition) for item in plan.held[:EXAMPLES])
        causes = ", ".join(sorted({r.input for item in plan.held for r in item.reasons}))
        console.print(
            f"held: {len(plan.held)} rollouts are stale ({causes}): {shown}"
            f"{' ...' if len(plan.held) > EXAMPLES else ''}; make them again with vvb run --rerun-rollouts"
        )
    if any(row["input_tokens"] for row in plan.judging):
        console.print(_judging_table(plan))
    totals = plan.to_json()["totals"]
    if not plan.stale:
        console.print(f"nothing is missing or stale: {plan.fresh} artifacts are fresh")
        return
    usd = "cost unknown: a price is missing" if totals["usd"] is None else f"${totals['usd']:.2f}"
    console.print(
        f"{totals['partitions']} partitions to make at most, {totals['calls']} judge calls ({usd}); "
        f"{plan.fresh} are fresh. An input that turns out unchanged makes nothing downstream."
    )


def _judging_table(plan: Plan) -> Table:
    """Calls, tokens and USD of judging by panel, judge and system."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("panel", "judge", "model", "system"):
        table.add_column(column)
    for column in ("calls", "tokens in", "tokens out", "USD", "USD at most"):
        table.add_column(column, justify="right")
    for row in plan.judging:
        amounts = ["unpriced" if row[name] is None else f"{row[name]:.2f}" for name in ("usd", "usd_most")]
        counts = [f"{row[name]:,}" for name in ("calls", "input_tokens", "output_tokens")]
        table.add_row(row["panel"], row["judge"], row["model"], row["system"], *counts, *amounts)
    return table


def _by_asset(items: list[Stale]) -> dict[str, list[Stale]]:
    grouped: dict[str, list[Stale]] = {}
    for item in items:
        grouped.setdefault(item.asset, []).append(item)
    return grouped


def _by_cause(items: list[Stale]) -> dict[str, list[Stale]]:
    grouped: dict[str, list[Stale]] = {}
    for item in items:
        grouped.setdefault(_cause(item), []).append(item)
    return grouped


def _cause(item: Stale) -> str:
    if item.missing:
        return "missing"
    words = Counter(_word(reason) for reason in item.reasons)
    return ", ".join(words)


def _word(reason: Reason) -> str:
    if reason.expected is None and reason.recorded is not None:
        return f"{reason.input} is being made again"
    if reason.recorded is None:
        return f"{reason.input} is new"
    return f"{reason.input} changed"
