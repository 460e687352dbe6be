"""One rollout: a fresh sandbox, the agent's run, and the collection of what it delivered."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from vvb_assets.rollouts.record import END_RULES, RolloutRecord, file_records, video_record
from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import BenchmarkConfig, SandboxPolicy, SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import Launch, LaunchContext, get_harness
from vvb_resources.sandbox.base import DISK_FACTOR, Sandbox, SandboxOutcome, SandboxPlace, SandboxRequest, WallsError
from vvb_resources.sandbox.collect import collect, remove_tree
from vvb_resources.sandbox.environment import INSTRUCTION, brief_files
from vvb_resources.sandbox.local import LocalSandbox
from vvb_resources.store.atomic import write_json, write_text

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
    `state_dir`, which is removed once the delivery is safe; the folder of an attempt that an infrastructure fault ended
    is kept. `sandbox` is the policy's by default. Whatever the agent does is a result.
    Raises SandboxError when the configuration is at fault, and WallsError when the sandbox fails twice.
    """
    walls = sandbox or make_sandbox(config.sandbox)
    job = _Job(benchmark_root, config.sandbox, system, task, walls, _passed_keys(system))
    for attempt in range(1, ATTEMPTS + 1):
        place = SandboxPlace(state_dir.resolve() / f"{system.id}--{task.id}--{secrets.token_hex(4)}")
        try:
            brief, outcome = _attempt(job, place)
            break
        except WallsError:
            if attempt == ATTEMPTS or not END_RULES["infrastructure"].retry:
                raise
    record = _collected(job, outcome, attempt, place, out)
    for name, text in brief.items():
        write_text(out / "brief" / name, text)
    write_text(out / "brief" / "instruction.txt", INSTRUCTION + "\n")
    shutil.copytree(place.logs, out / "logs")
    write_json(out / "record.json", record.model_dump(mode="json"))
    remove_tree(place.root)
    return record


def make_sandbox(policy: SandboxPolicy) -> Sandbox:
    """The sandbox that a benchmark's policy asks for. Raises SandboxError when there is none of that kind here."""
    if policy.kind != "local":
        raise SandboxError(
            f"sandbox kind {policy.kind!r} is not available in this version",
            where="benchmark.yaml: sandbox.kind",
            remedy="use kind: local",
        )
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


def _attempt(job: _Job, place: SandboxPlace) -> tuple[dict[str, str], SandboxOutcome]:
    """Set up `place`, run the agent in it; returns what it was told and how it ended."""
    system, task, policy = job.system, job.task, job.policy
    view = job.walls.view(place)
    deadline = time.time() + policy.deadline_s
    launch = get_harness(system.harness).launch(LaunchContext(system, INSTRUCTION, view, None, deadline))
    try:
        _lay_out(job.benchmark_root, system, task, place)
        job.walls.prepare(place)
        brief = brief_files(task.spec, task.prompt, policy, deadline, view.tools)
        for name, text in brief.items():
            (place.work / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SandboxError(f"the work folder cannot be prepared ({error})", where=str(place.root)) from error
    env = {**view.environment, **launch.env, **job.keys}
    outcome = job.walls.run(SandboxRequest(place=place, command=launch.argv, env=env, policy=policy, deadline=deadline))
    _keep_log(launch, place)
    return brief, outcome


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


def _keep_log(launch: Launch, place: SandboxPlace) -> None:
    """Bring the harness's own log, a file or a folder, beside the others.

    A path that leads out of the work folder (by a link that the agent made) is not followed: nothing is kept then.
    """
    if launch.log is None:
        return
    target, source = place.logs / "harness", place.work / launch.log
    target.mkdir()
    if not source.resolve().is_relative_to(place.work.resolve()):
        return
    if source.is_file() and not source.is_symlink():
        folder = place.root / "log"
        folder.mkdir()
        os.replace(source, folder / source.name)
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
    )
