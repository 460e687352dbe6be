"""The rollout asset: one scored run of a system on a task, kept whole."""

from __future__ import annotations

from pathlib import Path

from vvb_assets.graph import Made, Node, Workspace, split_run
from vvb_assets.rollouts.record import RolloutRecord
from vvb_assets.rollouts.rollout import run_rollout
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
            checks=(("ended_by_itself", "The agent ended its turn before the deadline."),),
        )
    ]


def _make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    assert partition is not None
    system, task = split_run(partition)
    benchmark = workspace.benchmark
    record = run_rollout(
        benchmark.root, benchmark.config, benchmark.systems[system], benchmark.tasks[task], out, workspace.home.sandbox
    )
    return made_of(record)


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
            "network": record.isolation.network,
            "filesystem": record.isolation.filesystem,
        },
        checks={
            "ended_by_itself": {
                "passed": record.imported or record.ended == "self",
                "severity": "WARN",
                "description": (
                    "imported: how it ended is not known"
                    if record.seconds is None
                    else f"ended: {record.ended} after {record.seconds:.1f} s of {record.deadline_s:g} s"
                ),
            }
        },
    )


def load_record(workspace: Workspace, partition: str) -> tuple[RolloutRecord, Path]:
    """The record of a rollout and the folder that holds its `delivery/`."""
    _, folder = workspace.payload("rollout", partition)
    return RolloutRecord.model_validate_json((folder / "record.json").read_text()), folder
