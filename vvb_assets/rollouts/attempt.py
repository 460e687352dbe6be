"""One attempt at a rollout: the folders, the gateway, the agent's run, and whether its end counts."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vvb_assets.rollouts.account import check_parser, gateway_folder, gateway_summary
from vvb_assets.rollouts.faults import END_RULES, EndKind, end_kind
from vvb_assets.rollouts.history import write_attempt
from vvb_assets.rollouts.laying_out import lay_out
from vvb_assets.rollouts.model_access import gateway_settings
from vvb_assets.rollouts.takeover import Card, write_card
from vvb_resources.benchmark.digests import task_digest
from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import Price, SandboxPolicy, SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import Harness, Launch, LaunchContext, ModelAccess
from vvb_resources.sandbox.base import (
    GatewayPoint,
    Sandbox,
    SandboxOutcome,
    SandboxPlace,
    SandboxRequest,
    WallsError,
)
from vvb_resources.sandbox.environment import DEADLINE_VARIABLE, INSTRUCTION, brief_files
from vvb_resources.sandbox.tts import COMMAND_VARIABLE
from vvb_resources.store.digests import digest_file, digest_value


@dataclass(frozen=True)
class Job:
    """What stays the same over the attempts."""

    benchmark_root: Path
    policy: SandboxPolicy
    system: SystemConfig
    task: Task
    walls: Sandbox
    keys: dict[str, str]
    harness: Harness
    prices: Mapping[str, Price]


def given_digest(job: Job) -> str:
    """Digest of all that the agent is given: a run that was given other things must not stand for this one."""
    files = {}
    for entry in job.system.agent:
        source = job.benchmark_root / entry
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"{entry}:{path.relative_to(source)}"] = digest_file(path)
    return digest_value(
        {
            "system": job.system.model_dump(mode="json"),
            "policy": job.policy.model_dump(mode="json"),
            "task": task_digest(job.task),
            "agent": files,
        }
    )


class _Fault(WallsError):
    """An end that the fault table does not count, other than one of the walls."""

    def __init__(self, kind: EndKind, outcome: SandboxOutcome, where: str) -> None:
        super().__init__(f"{kind}: {END_RULES[kind].evidence}", where=where, remedy="run it again")
        self.kind, self.outcome = kind, outcome


def judge(job: Job, place: SandboxPlace, outcome: SandboxOutcome) -> None:
    """Let a run's end pass that counts.

    Raises WallsError for one that is to be run again, and SandboxError for one whose configuration has to be mended.
    """
    summary = gateway_summary(place)
    kind = end_kind(outcome, summary)
    rule = END_RULES[kind]
    if rule.retry:
        raise _Fault(kind, outcome, str(place.root))
    if not rule.counts:
        write_attempt(place, job.system.id, job.task.id, kind, rule.evidence, outcome, summary)
        raise SandboxError(
            rule.evidence, where=f"system {job.system.id}", remedy="correct the key in the environment of vvb"
        )


def not_counted(job: Job, place: SandboxPlace, error: WallsError) -> None:
    """Write an attempt down that an infrastructure fault ended."""
    kind: EndKind = error.kind if isinstance(error, _Fault) else "infrastructure"
    outcome = error.outcome if isinstance(error, _Fault) else None
    write_attempt(place, job.system.id, job.task.id, kind, error.what, outcome, gateway_summary(place))


def run_attempt(job: Job, place: SandboxPlace, attempt: int) -> tuple[Card, SandboxOutcome]:
    """Set up `place`, run the agent in it; returns the run's card and how it ended."""
    system, policy = job.system, job.policy
    view = job.walls.view(place)
    with contextlib.ExitStack() as stack:
        _prepared(lambda: lay_out(job.benchmark_root, system, job.task, place), place)
        job.walls.prepare(place)
        deadline = time.time() + policy.deadline_s
        point, access = _model(job, place, deadline, stack)
        told = policy.model_copy(update={"memory_mb": view.memory_mb or policy.memory_mb})
        launch = job.harness.launch(LaunchContext(system, INSTRUCTION, view, access, deadline))
        check_parser(launch.parser, system.id)
        brief = brief_files(job.task.spec, job.task.prompt, told, deadline, view.tools)
        card = Card(
            system.id,
            job.task.id,
            policy.kind,
            attempt,
            given_digest(job),
            launch.log,
            brief,
            launch.parser,
            launch.stdout_is_log,
        )
        _prepared(lambda: _write(place, card, launch), place)
        speech = {COMMAND_VARIABLE: json.dumps(policy.tts)} if policy.tts else {}
        own = {DEADLINE_VARIABLE: str(math.floor(deadline)), **speech}
        request = SandboxRequest(
            place=place,
            command=launch.argv,
            env={**view.environment, **own, **launch.env, **job.keys},
            policy=policy,
            deadline=deadline,
            keep=() if launch.log is None else (launch.log,),
            gateway=point,
        )
        outcome = job.walls.run(request)
    judge(job, place, outcome)
    return card, outcome


def _prepared(work: Callable[[], None], place: SandboxPlace) -> None:
    try:
        work()
    except OSError as error:
        raise SandboxError(f"the work folder cannot be prepared ({error})", where=str(place.root)) from error


def _write(place: SandboxPlace, card: Card, launch: Launch) -> None:
    """The brief and the harness's configuration, and the run's card last."""
    for name, text in {**card.brief, **launch.files}.items():
        target = place.work / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    write_card(place, card)


def _model(
    job: Job, place: SandboxPlace, deadline: float, stack: contextlib.ExitStack
) -> tuple[GatewayPoint | None, ModelAccess | None]:
    """Start the gateway of a harness that calls a model, until `stack` is left; nothing for one that does not."""
    wire = job.harness.wire(job.system)
    if wire is None:
        return None, None
    from vvb_resources.gateway.process import outliving_gateway  # an HTTP server takes 0.2 s to import
    from vvb_resources.gateway.running import gateway

    settings = gateway_settings(job.system, wire, job.policy, job.prices, deadline)
    point = stack.enter_context(job.walls.gateway(place, job.policy))
    gateway_folder(place).mkdir()
    if job.walls.outlives:
        url = stack.enter_context(outliving_gateway(settings, point, gateway_folder(place), place))
    else:
        url = stack.enter_context(gateway(settings, point, gateway_folder(place))).base_url
    return point, ModelAccess(url, settings.token)
