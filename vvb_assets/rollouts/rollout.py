"""One rollout: a fresh sandbox, the agent's run, and the collection of what it delivered."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from vvb_assets.rollouts.record import END_RULES, RolloutRecord, file_records, video_record
from vvb_assets.rollouts.takeover import Card, abandon, drop, left_runs, read_card, release, write_card
from vvb_resources.benchmark.digests import task_digest
from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import BenchmarkConfig, SandboxPolicy, SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import LaunchContext, get_harness
from vvb_resources.sandbox.base import DISK_FACTOR, Sandbox, SandboxOutcome, SandboxPlace, SandboxRequest, WallsError
from vvb_resources.sandbox.collect import collect
from vvb_resources.sandbox.environment import INSTRUCTION, brief_files
from vvb_resources.sandbox.local import LocalSandbox
from vvb_resources.sandbox.tts import COMMAND_VARIABLE
from vvb_resources.store.atomic import write_json, write_text
from vvb_resources.store.digests import digest_file, digest_value
from vvb_resources.store.trees import remove_tree

ATTEMPTS = 2
MAX_LOG_BYTES = 256 << 20


def run_rollout(
    benchmark_root: Path,
    config: BenchmarkConfig,
    system: SystemConfig,
    task: Task,
    out: Path,
    state_dir: Path,
    sandbox: Sandbox | None = None,
) -> RolloutRecord:
    """Run `system` on `task` and fill the existing empty folder `out`: delivery/, logs/, brief/, record.json.

    Of the task, only its spec, prompt and assets are used, never its rubric. The agent works in a fresh folder below
    `state_dir`, which stays until `release_rollout` is called for the record: then the rollout is safe elsewhere. A run
    of the same pair whose platform was killed is taken up instead, if it was given the same things. The folder of an
    attempt that an infrastructure fault ended is kept. `sandbox` is the policy's by default. Whatever the agent does is
    a result. Raises SandboxError when the configuration is at fault, and WallsError when the sandbox fails twice.
    """
    policy = policy_of(config, system)
    walls = sandbox or make_sandbox(policy)
    job = _Job(benchmark_root, policy, system, task, walls, _passed_keys(system))
    lost, taken = _take_up(job, state_dir)
    place, card, outcome = taken or _run(job, state_dir, lost)
    _keep_log(card.log, place)
    record = _collected(job, outcome, card.attempt, place, out)
    for name, text in card.brief.items():
        write_text(out / "brief" / name, text)
    write_text(out / "brief" / "instruction.txt", INSTRUCTION + "\n")
    shutil.copytree(place.logs, out / "logs")
    write_json(out / "record.json", record.model_dump(mode="json"))
    return record


def release_rollout(record: RolloutRecord, state_dir: Path) -> None:
    """Remove the folder that the agent of `record` worked in: its rollout is committed."""
    if record.run is not None:
        place = SandboxPlace(state_dir.resolve() / record.run)
        card = read_card(place)
        release(place, card.kind if card else "local")


def policy_of(config: BenchmarkConfig, system: SystemConfig) -> SandboxPolicy:
    """The benchmark's policy, in the kind of sandbox that the system names, if it names one."""
    if system.sandbox in (None, config.sandbox.kind):
        return config.sandbox
    return SandboxPolicy.model_validate({**config.sandbox.model_dump(exclude_unset=True), "kind": system.sandbox})


def make_sandbox(policy: SandboxPolicy) -> Sandbox:
    """The sandbox that a benchmark's policy asks for. Raises SandboxError when there is none of that kind here."""
    if policy.kind == "docker":
        from vvb_resources.sandbox.docker.sandbox import DockerSandbox  # an optional dependency

        return DockerSandbox(policy)
    return LocalSandbox()


@dataclass(frozen=True)
class _Job:
    """What stays the same over the attempts."""

    benchmark_root: Path
    policy: SandboxPolicy
    system: SystemConfig
    task: Task
    walls: Sandbox
    keys: dict[str, str]


_Over = tuple[SandboxPlace, Card, SandboxOutcome]


def _take_up(job: _Job, state_dir: Path) -> tuple[int, _Over | None]:
    """(runs of this pair that were lost with their platform, the one that could be brought to its end or None)."""
    given, lost = _given(job), 0
    for place, card in left_runs(state_dir):
        if (card.system, card.task) != (job.system.id, job.task.id):
            continue
        if card.given == given and card.kind == job.policy.kind:
            try:
                outcome = job.walls.resume(place)
            except WallsError:  # an infrastructure fault: the folder stays as evidence
                outcome, lost = None, card.attempt
            if outcome is not None:
                return lost, (place, card, outcome)
            drop(place)
        else:
            abandon(place, card.kind)
    return lost, None


def _run(job: _Job, state_dir: Path, lost: int) -> _Over:
    """Fresh attempts until one is no infrastructure fault, at most ATTEMPTS; the folders of the others stay."""
    for attempt in range(1, ATTEMPTS + 1):
        place = SandboxPlace(state_dir.resolve() / f"{job.system.id}--{job.task.id}--{secrets.token_hex(4)}")
        try:
            return place, *_attempt(job, place, lost + attempt)
        except WallsError:
            drop(place)
            if attempt == ATTEMPTS or not END_RULES["infrastructure"].retry:
                raise
        except BaseException:
            drop(place)
            raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _given(job: _Job) -> str:
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


def _attempt(job: _Job, place: SandboxPlace, attempt: int) -> tuple[Card, SandboxOutcome]:
    """Set up `place`, run the agent in it; returns the run's card and how it ended."""
    system, task, policy = job.system, job.task, job.policy
    view = job.walls.view(place)
    deadline = time.time() + policy.deadline_s
    launch = get_harness(system.harness).launch(LaunchContext(system, INSTRUCTION, view, None, deadline))
    try:
        _lay_out(job.benchmark_root, system, task, place)
        job.walls.prepare(place)
        brief = brief_files(task.spec, task.prompt, policy, deadline, view.tools)
        for name, text in {**brief, **launch.files}.items():
            target = place.work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        card = Card(system.id, task.id, policy.kind, attempt, _given(job), launch.log, brief)
        write_card(place, card)
    except OSError as error:
        raise SandboxError(f"the work folder cannot be prepared ({error})", where=str(place.root)) from error
    speech = {COMMAND_VARIABLE: json.dumps(policy.tts)} if policy.tts else {}
    request = SandboxRequest(
        place=place,
        command=launch.argv,
        env={**view.environment, **speech, **launch.env, **job.keys},
        policy=policy,
        deadline=deadline,
        keep=() if launch.log is None else (launch.log,),
    )
    return card, job.walls.run(request)


def _lay_out(benchmark_root: Path, system: SystemConfig, task: Task, place: SandboxPlace) -> None:
    """Make the folders, the tools, and read-only copies of the task's inputs and the agent's files."""
    for folder in (place.work, place.delivery, place.work / "home", place.work / "tmp", place.bin, place.agent):
        folder.mkdir(parents=True)
    place.inputs.mkdir()
    for asset in task.assets:
        target = place.inputs / asset.relative_to(task.assets_root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(asset, target)
    for entry in system.agent:
        source = benchmark_root / entry
        target = place.agent / source.name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    for folder in (place.inputs, place.agent):
        _read_only(folder)


def _read_only(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def _passed_keys(system: SystemConfig) -> dict[str, str]:
    """The variables that a system names in `keys`. Raises SandboxError for one that is not set."""
    missing = [name for name in system.keys if name not in os.environ]
    if missing:
        raise SandboxError(
            f"needs {', '.join(missing)}", where=f"system {system.id}", remedy="set it in the environment of vvb"
        )
    return {name: os.environ[name] for name in system.keys}


def _keep_log(log: str | None, place: SandboxPlace) -> None:
    """Bring the harness's own log, a file or a folder, beside the others.

    A path that leads out of the work folder (by a link that the agent made) is not followed: nothing is kept then.
    """
    if log is None:
        return
    target, source = place.logs / "harness", place.work / log
    remove_tree(target)
    target.mkdir()
    if not source.resolve().is_relative_to(place.work.resolve()):
        return
    if source.is_file() and not source.is_symlink():
        folder = place.root / "log"
        remove_tree(folder)
        folder.mkdir()
        shutil.copyfile(source, folder / source.name)
        source = folder
    collect(source, target, max_bytes=MAX_LOG_BYTES, unlock=True)


def _collected(job: _Job, outcome: SandboxOutcome, attempt: int, place: SandboxPlace, out: Path) -> RolloutRecord:
    """Copy the delivery to `out` and describe it."""
    system, policy = job.system, job.policy
    delivery = out / "delivery"
    delivery.mkdir()
    taken = collect(place.delivery, delivery, max_bytes=DISK_FACTOR * policy.file_mb << 20, unlock=True)
    files, left, digest = file_records(taken)
    return RolloutRecord(
        system=system.id,
        task=job.task.id,
        ended=outcome.ended,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        limit=outcome.limit,
        started_at=outcome.started_at,
        seconds=outcome.seconds,
        deadline_s=policy.deadline_s,
        cpu_s=outcome.cpu_s,
        peak_rss_mb=outcome.peak_rss_mb,
        attempts=attempt,
        isolation=outcome.isolation,
        video=video_record(delivery),
        files=files,
        left_out=left,
        delivery_digest=digest,
        usage=None,
        usd=0.0 if system.model is None else None,
        imported=False,
        run=place.root.name,
        resources=outcome.resources,
        post_mortem=outcome.post_mortem,
        kept=outcome.kept,
    )
