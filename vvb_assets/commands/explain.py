"""`vvb explain`: a score down to check, verdict, interval, frame, raw reply, prompt and rubric version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vvb_assets.commands.common import benchmark_options, echo_json, json_option, known, open_workspace
from vvb_assets.explaining import explain_check, explain_run
from vvb_assets.history import run_history

COLOURS = {"pass": "green", "fail": "red", "unknown": "yellow", "judge_error": "magenta"}


@click.command("explain")
@click.argument("system")
@click.argument("task")
@click.argument("check", required=False)
@benchmark_options
@click.option("--history", is_flag=True, help="What the scores were before, and which change moved them.")
@json_option
def command(
    system: str,
    task: str,
    check: str | None,
    benchmark: Path | None,
    panels: Path | None,
    history: bool,
    as_json: bool,
) -> None:
    """Trace a run's scores to their evidence; with CHECK, one check down to frame and raw reply.

    Example:  vvb explain raster GEARS V03
    """
    _, workspace = open_workspace(benchmark, panels)
    known(workspace, (system,), (task,), ())
    if history:
        past = run_history(workspace, system, task, check)
        echo_json(past) if as_json else _show_history(Console(highlight=False), past)
        return
    found = explain_check(workspace, system, task, check) if check else explain_run(workspace, system, task)
    if as_json:
        echo_json(found)
    elif check:
        _show_check(Console(highlight=False), found)
    else:
        _show_run(Console(highlight=False), found)


def _show_history(console: Console, past: dict[str, Any]) -> None:
    """A paragraph a change: when, which figures moved, and the files or code at the bottom of it."""
    changes = past["changes"] + [{**row, "asset": "leaderboard"} for row in past["leaderboard"]]
    if not changes:
        console.print("nothing was made again: the scores are the first ones")
    for change in changes:
        console.print(f"[bold]{change['at']}[/bold]  {change['asset']}  {change['before']} -> {change['after']}")
        for name, (before, after) in change["figures"].items():
            console.print(f"  {escape(name)}: {escape(str(before))} -> {escape(str(after))}")
        for cause in change["causes"]:
            console.print(f"  because {escape(cause['input'])}: {cause['before']} -> {cause['after']}")
            for what in cause["what"]:
                console.print(f"          {escape(what)}")


def _show_run(console: Console, found: dict[str, Any]) -> None:
    console.print(f"[bold]{found['system']}[/bold] on [bold]{found['task']}[/bold]")
    if found["rollout"] is None:
        console.print("no rollout yet: vvb run")
        return
    facts = found["rollout"]
    console.print(
        f"rollout   ended: {facts.get('ended')}; video: {facts.get('video')} {facts.get('video_fault') or ''}"
    )
    console.print(f"          {found['delivery']}")
    for lost in facts.get("history") or ():
        console.print(f"          before it, not counted: {escape(lost)}")
    if facts.get("model calls") is not None:
        usd = facts.get("usd")
        cost = "cost not known" if usd is None else f"${usd:.4f}"
        console.print(f"          {facts['model calls']} model calls, {facts.get('tool calls')} tool calls, {cost}")
    if found["l1"]:
        failed = [
            f"{n} ({c['why']})" for n, c in found["l1"]["checks"].items() if c["applies"] and c["verdict"] != "pass"
        ]
        console.print(
            f"L1        delivered: {found['l1']['delivered']}; not passed: {escape('; '.join(failed)) or 'none'}"
        )
    judged = {name: panel for name, panel in found["panels"].items() if panel}
    if judged:
        _show_verdicts(console, judged)
    console.print(f"one check down to its frame and raw reply: vvb explain {found['system']} {found['task']} CHECK")


def _show_verdicts(console: Console, judged: dict[str, dict[str, Any]]) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("check", "modality", *judged):
        table.add_column(column)
    rows = {name: {row["check"]: row for row in panel["verdicts"]} for name, panel in judged.items()}
    for check, row in next(iter(rows.values())).items():
        verdicts = [rows[name].get(check, {}).get("verdict", "–") for name in judged]
        label = check if row["core"] else f"{check} (detail)"
        table.add_row(label, row["modality"], *[_coloured(v) for v in verdicts])
    for dim in ("VQ", "VA", "CL", "TM", "AQ"):
        marks = [next((s["score"] for s in p["scores"] if s["dim"] == dim), None) for p in judged.values()]
        table.add_row(dim, "quality", *["–" if mark is None else str(mark) for mark in marks])
    console.print(table)


def _coloured(verdict: str) -> str:
    colour = COLOURS.get(verdict)
    return f"[{colour}]{verdict}[/{colour}]" if colour else verdict


def _show_check(console: Console, found: dict[str, Any]) -> None:
    check = found["check"]
    console.print(f"[bold]{check['id']}[/bold] {escape(check['title'])}  ({check['criticality']}, {check['modality']})")
    for name in ("pass", "fail", "scope", "basis"):
        console.print(f"  {name:6} {escape(check[name])}")
    for panel, answer in found["panels"].items():
        if answer is None:
            console.print(f"[bold]{panel}[/bold]: not judged")
            continue
        interval = "" if answer["start_s"] is None else f" at {answer['start_s']:g}–{answer['end_s']:g} s"
        console.print(f"[bold]{panel}[/bold] ({answer['judge']}): {_coloured(answer['verdict'])}{interval}")
        console.print(f"  reason {escape(str(answer['reason'] or ''))}")
        if answer["frame"]:
            console.print(f"  frame  {answer['frame']}")
        if answer["reply"]:
            console.print(f"  reply  {answer['reply']['file']}")
    versions = found["versions"]
    for name in ("task_spec", "rubric", "blinded_media"):
        if name in versions:
            console.print(f"{name} version {versions[name]}")
