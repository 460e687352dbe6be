"""The rollout asset: one scored run of a system on a task, kept whole."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from vvb_assets.graph import Made, Node, Workspace, run_key, split_run
from vvb_assets.rollouts.account import agreement
from vvb_assets.rollouts.record import RolloutRecord
from vvb_assets.rollouts.rollout import policy_of, release_rollout, run_rollout
from vvb_assets.rollouts.takeover import settle
from vvb_resources.benchmark.loader import Benchmark


def nodes(benchmark: Benchmark) -> list[Node]:
    """Nodes of the stage. A rollout costs an hour and dollars: a stale one is held until it is asked for."""
    return [
        Node(
            key="rollout",
            stage="rollouts",
            dims="run",
            inputs=("task_spec", "system_config", "sandbox_policy"),
            code_version="1",
            make=_make,
            description="What the agent left behind: delivery, logs, outcome, and a light container check.",
            group="rollouts",
            kinds=("video",),
            held=True,
            batch=1,
            workers=benchmark.config.budgets.workers,
            checks=(
                ("ended_by_itself", "The agent ended its turn before the deadline."),
                ("usage_agrees", "The gateway's token totals and those of the harness's own log are the same."),
                ("harness_version", "The harness that ran is the version that the system's file names."),
                ("comparable", "The run had the CPUs and the memory that the benchmark asks for."),
            ),
        )
    ]


def _make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    assert partition is not None
    system, task = split_run(partition)
    benchmark = workspace.benchmark
    state_dir, prices = workspace.home.sandbox, benchmark.model_prices
    record = run_rollout(
        benchmark.root,
        benchmark.config,
        benchmark.systems[system],
        benchmark.tasks[task],
        out,
        state_dir,
        prices=prices,
    )
    return replace(made_of(record), committed=partial(release_rollout, record, state_dir))


def settle_rollouts(workspace: Workspace) -> list[str]:
    """Clear up what platforms that were killed left of their runs; returns what was done, for a person."""
    benchmark = workspace.benchmark
    kinds = {policy_of(benchmark.config, system).kind for system in benchmark.systems.values()}

    def committed(system: str, task: str) -> str | None:
        manifest = workspace.store.load("rollout", run_key(system, task))
        return None if manifest is None else load_record(workspace, run_key(system, task))[0].run

    return settle(workspace.home.sandbox, committed, engine="docker" in kinds)


def made_of(record: RolloutRecord) -> Made:
    """The artifact's version and figures; the version is the delivery's content, whatever the clock said."""
    return Made(
        data_version=record.delivery_digest,
        summary={
            "ended": record.ended,
            "seconds of agent": record.seconds,
            "video": record.video.state,
            "video_fault": record.video.fault,
            "bytes": record.video.bytes,
            "files": len(record.files),
            "usd": record.usd,
            "kind": record.kind,
            "origin": f"{record.origin.kind}: {record.origin.path}" if record.origin else None,
            "attempts": record.attempts,
            "history": [f"{a.kind}: {a.why} ({a.run})" for a in record.history],
            "tokens": record.usage.model_dump() if record.usage else None,
            "model calls": record.gateway.calls if record.gateway else None,
            "tool calls": record.trajectory.tool_calls if record.trajectory else None,
            "pictures viewed": record.trajectory.images_viewed if record.trajectory else None,
            "trajectory complete": record.trajectory.complete if record.trajectory else None,
            "network": record.isolation.network,
            "filesystem": record.isolation.filesystem,
            "comparable": record.resources.comparable if record.resources else None,
            "kept video": record.kept.name if record.kept else None,
        },
        checks={
            "ended_by_itself": {
                "passed": record.ended == "self" or (record.imported and record.ended is None),
                "severity": "WARN",
                "description": _ending(record),
            },
            "usage_agrees": _usage_agrees(record),
            "harness_version": _harness_version(record),
            "comparable": _comparable(record),
        },
    )


def _ending(record: RolloutRecord) -> str:
    """How the run ended, as far as it is known, in words."""
    if record.ended is None:
        return "imported: how it ended is not known"
    took = "" if record.seconds is None else f" after {record.seconds:.1f} s"
    of = "" if record.deadline_s is None else f" of {record.deadline_s:g} s"
    return f"{'imported; ' if record.imported else ''}ended: {record.ended}{took}{of}"


def _usage_agrees(record: RolloutRecord) -> dict[str, Any]:
    """The check that compares the two accounts of a run's tokens."""
    agrees, figures = agreement(record.trajectory, record.gateway)
    return {"passed": agrees, "severity": "ERROR", "description": figures}


def _harness_version(record: RolloutRecord) -> dict[str, Any]:
    """The check that notices another version of the harness than the file's (`2.1` stands for each `2.1.x`)."""
    asked, ran = record.harness_version, record.trajectory.harness_version if record.trajectory else None
    known = asked is not None and ran is not None
    passed = not known or ran == asked or str(ran).startswith(f"{asked}.")
    what = f"asked for {asked}, ran {ran}" if known else "not compared: the file or the log names no version"
    return {"passed": passed, "severity": "WARN", "description": what}


def _comparable(record: RolloutRecord) -> dict[str, Any]:
    """The check that tells a run on a smaller machine from the others."""
    given = record.resources
    if given is None or given.comparable:
        what = "nothing was measured against the benchmark" if given is None else f"{given.cpus} CPUs, as asked for"
        return {"passed": True, "severity": "WARN", "description": what}
    return {
        "passed": False,
        "severity": "WARN",
        "description": f"not comparable: {given.cpus} of {given.cpus_asked} CPUs, "
        f"{given.memory_mb} of {given.memory_mb_asked} MiB",
    }


def load_record(workspace: Workspace, partition: str) -> tuple[RolloutRecord, Path]:
    """The record of a rollout and the folder that holds its `delivery/`."""
    _, folder = workspace.payload("rollout", partition)
    return RolloutRecord.model_validate_json((folder / "record.json").read_text()), folder
