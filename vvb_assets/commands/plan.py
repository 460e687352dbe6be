"""`vvb plan`: what is missing or stale, why, and what it would cost. Makes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vvb_assets.breakdown import KINDS, breakdown, document
from vvb_assets.commands.common import benchmark_options, echo_json, json_option, open_workspace
from vvb_assets.graph import Workspace
from vvb_assets.orphans import Left, by_reason, left_behind
from vvb_assets.panels.estimates import with_estimates
from vvb_assets.plan import Plan, Reason, Stale, make_plan

EXAMPLES = 3


@click.command("plan")
@benchmark_options
@click.option("--rerun-rollouts", is_flag=True, help="Count stale rollouts as to be made (they are held otherwise).")
@click.option("--by", "kinds", multiple=True, type=click.Choice(KINDS), help="Sums by this as well (may be repeated).")
@click.option("--orphans", is_flag=True, help="List every artifact that the benchmark no longer names.")
@json_option
def command(
    benchmark: Path | None,
    panels: Path | None,
    rerun_rollouts: bool,
    kinds: tuple[str, ...],
    orphans: bool,
    as_json: bool,
) -> None:
    """Show what is missing or stale, why, and what making it takes; make nothing.

    Example:  vvb plan --by panel --by system
    """
    _, workspace = open_workspace(benchmark, panels)
    print_plan(workspace, rerun_rollouts, kinds or ("stage",), orphans, as_json)


def print_plan(
    workspace: Workspace, rerun_rollouts: bool, kinds: tuple[str, ...], orphans: bool, as_json: bool
) -> None:
    """The plan of `workspace`, for a script or for a person; what `vvb run --dry-run` prints as well."""
    plan = with_estimates(workspace, make_plan(workspace, rerun_held=rerun_rollouts))
    left = left_behind(workspace)
    if as_json:
        echo_json(document(workspace.graph, plan) | {"orphans": [item.to_json() for item in left]})
        return
    show_plan(workspace, plan, kinds)
    _show_orphans(Console(), left, orphans)


def show_plan(workspace: Workspace, plan: Plan, kinds: tuple[str, ...]) -> None:
    """Print a plan for a person: a line an asset and cause, with counts and examples; then the sums by `kinds`."""
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
        for kind, rows in breakdown(workspace.graph, plan).items():
            if kind in kinds and rows:
                console.print(_sums_table(kind, rows))
    if plan.held:
        shown = ", ".join(str(item.partition) for item in plan.held[:EXAMPLES])
        causes = ", ".join(sorted({r.input for item in plan.held for r in item.reasons}))
        console.print(
            f"held: {len(plan.held)} rollouts are stale ({causes}): {shown}"
            f"{' ...' if len(plan.held) > EXAMPLES else ''}; make them again with vvb run --rerun-rollouts"
        )
    if any(row["input_tokens"] for row in plan.judging):
        console.print(_judging_table(plan))
    if not plan.stale:
        console.print(f"nothing is missing or stale: {plan.fresh} artifacts are fresh")
        return
    totals = document(workspace.graph, plan)["totals"]
    usd = "cost unknown: a price is missing" if totals["usd"] is None else f"${totals['usd']:.2f}"
    console.print(
        f"{totals['partitions']} partitions to make at most, {totals['calls']} judge calls ({usd}), "
        f"{_time(totals)}; {plan.fresh} are fresh. An input that turns out unchanged makes nothing downstream."
    )


def _sums_table(kind: str, rows: list[dict[str, Any]]) -> Table:
    """Partitions, calls, tokens, USD and time by stage, panel, system or task."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(kind)
    for column in ("partitions", "calls", "tokens in", "tokens out", "USD", "time"):
        table.add_column(column, justify="right")
    for row in rows:
        counts = [f"{row[name]:,}" for name in ("partitions", "calls", "input_tokens", "output_tokens")]
        table.add_row(row[kind], *counts, "unpriced" if row["usd"] is None else f"{row['usd']:.2f}", _time(row))
    return table


def _time(sums: Mapping[str, Any]) -> str:
    """Wall time in words; what was never made before cannot be timed."""
    if sums["untimed"] == sums["partitions"]:
        return "time unknown"
    seconds = sums["wall_seconds"]
    words = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min" if seconds < 7200 else ""
    words = words or f"{seconds / 3600:.1f} h"
    return f"about {words}" + (f" and {sums['untimed']} never timed" if sums["untimed"] else "")


def _show_orphans(console: Console, left: list[Left], each: bool) -> None:
    """What the benchmark no longer names: sums by reason, or every artifact."""
    if not left:
        return
    if each:
        for item in left:
            console.print(f"orphan: {escape(item.name)} ({item.why}), {_size(item.orphan.bytes)}", highlight=False)
    for why, (count, size) in by_reason(left).items():
        console.print(f"orphans: {count} artifacts, {_size(size)} ({why}); they count for nothing", highlight=False)
    console.print("nothing of them is removed unless you ask: vvb clean")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


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
    if reason.gone:
        return f"{reason.input} is gone"
    if reason.expected is None and reason.recorded is not None:
        return f"{reason.input} is being made again"
    if reason.recorded is None:
        return f"{reason.input} is new"
    return f"{reason.input} changed"
