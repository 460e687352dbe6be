"""L1: facts measured once (expensive), and verdicts on them (cheap; a changed tolerance measures nothing again)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from vvb_assets.graph import Made, Node, Workspace, split_run
from vvb_assets.l1.checks import check_l1
from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.engines import chosen_model
from vvb_resources.media.facts import VERSION as FACTS_VERSION
from vvb_resources.media.facts import MediaFacts
from vvb_resources.media.measure import measure
from vvb_resources.media.outputs import Outputs
from vvb_resources.store.atomic import write_json
from vvb_resources.store.digests import digest_value


def nodes(benchmark: Benchmark) -> list[Node]:
    """Nodes of the stage."""
    return [
        Node(
            key="l1_measurements",
            stage="l1",
            dims="run",
            inputs=("rollout", "speech_model"),
            code_version=f"2, facts {FACTS_VERSION}",
            make=_measure,
            description="Facts of the delivered file from one decode: frames, rate, levels, speech, still spans.",
            group="l1",
            kinds=("ffmpeg",),
            batch=12,
            workers=benchmark.config.budgets.workers,
        ),
        Node(
            key="l1_checks",
            stage="l1",
            dims="run",
            inputs=("l1_measurements", "task_spec", "l1_limits"),
            code_version="1",
            make=_check,
            description="Program checks of the delivery spec and audio policy; the one place that decides `delivered`.",
            group="l1",
            kinds=("python",),
            batch=100,
            checks=(
                ("delivered", "A playable video was delivered (container and decode pass)."),
                ("spec_passed", "Every applicable program check passes."),
                ("measured", "Every applicable program check could be measured."),
            ),
        ),
    ]


def _measure(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    _, rollout = workspace.payload("rollout", partition)
    delivery = find_delivery(rollout / "delivery")
    work = out / "work"
    work.mkdir()
    model = chosen_model(workspace.benchmark.config.speech.model, workspace.benchmark.root)
    facts = measure(delivery, work, language_model=model, outputs=Outputs(out, sheet=True))
    shutil.rmtree(work)
    record = facts.to_json()
    write_json(out / "facts.json", record)
    return Made(digest_value(record), summary=_facts_summary(facts))


def _facts_summary(facts: MediaFacts) -> dict[str, Any]:
    """The figures one looks for first."""
    summary: dict[str, Any] = {"container": facts.container.message, "decoded": facts.decode.ok}
    if facts.video and facts.timing:
        summary |= {
            "picture": f"{facts.video.width}x{facts.video.height} {facts.video.codec}",
            "frames": facts.timing.frames,
            "fps": facts.timing.fps_value,
            "duration_s": facts.duration_s,
        }
    if facts.sound:
        summary |= {"peak_dbfs": facts.sound.peak_dbfs, "loudness_lufs": facts.sound.loudness_lufs}
    if facts.speech:
        summary["speech share"] = facts.speech.share
    return summary


def load_facts(workspace: Workspace, partition: str | None) -> MediaFacts:
    """The facts of a run."""
    _, folder = workspace.payload("l1_measurements", partition)
    return MediaFacts.read(folder / "facts.json")


def _check(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
    assert partition is not None
    _, task = split_run(partition)
    result = check_l1(
        load_facts(workspace, partition), workspace.benchmark.tasks[task].spec, workspace.benchmark.config.limits
    )
    document = result.to_json()
    write_json(out / "checks.json", document)
    checks = document["checks"]
    applying = {name: check for name, check in checks.items() if check["applies"]}
    failed = [name for name, check in applying.items() if check["verdict"] in ("fail", "na")]
    unmeasured = [name for name, check in applying.items() if check["verdict"] == "unmeasured"]
    return Made(
        digest_value(document),
        summary={
            "delivered": result.delivered,
            "passed": result.passed,
            "failed checks": ", ".join(failed) or "none",
            "applicable checks": len(applying),
        },
        checks={
            "delivered": {
                "passed": result.delivered,
                "severity": "ERROR",
                "description": "a playable video"
                if result.delivered
                else checks["container"]["why"] or checks["decode"]["why"],
            },
            "spec_passed": {
                "passed": result.passed is True,
                "severity": "WARN",
                "description": "every applicable check passes"
                if result.passed
                else f"failed: {', '.join(failed) or 'none'}",
            },
            "measured": {
                "passed": not unmeasured,
                "severity": "ERROR",
                "description": f"unmeasured: {', '.join(unmeasured)}" if unmeasured else "everything was measured",
            },
        },
    )
