"""One rollout: a fresh sandbox, the agent's run, and the collection of what it delivered."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from vvb_assets.rollouts.account import take_account
from vvb_assets.rollouts.attempt import Job, given_digest, judge, not_counted, run_attempt
from vvb_assets.rollouts.faults import end_kind
from vvb_assets.rollouts.history import past_attempts
from vvb_assets.rollouts.laying_out import passed_keys
from vvb_assets.rollouts.record import RolloutRecord, Usage, file_records, video_record
from vvb_assets.rollouts.takeover import Card, abandon, drop, left_runs, read_card, release
from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import BenchmarkConfig, Price, SandboxPolicy, SystemConfig
from vvb_resources.harnesses.base import get_harness
from vvb_resources.sandbox.base import DISK_FACTOR, Sandbox, SandboxOutcome, SandboxPlace, WallsError
from vvb_resources.sandbox.collect import collect
from vvb_resources.sandbox.environment import INSTRUCTION
from vvb_resources.sandbox.local import LocalSandbox
from vvb_resources.store.atomic import write_json, write_text
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
    prices: Mapping[str, Price] | None = None,
) -> RolloutRecord:
    """Run `system` on `task` and fill the existing empty folder `out`: delivery/, logs/, brief/, record.json,
    and trajectory.json where the harness keeps a log that can be read.

    Of the task, only its spec, prompt and assets are used, never its rubric. The agent works in a fresh folder below
    `state_dir`, which stays until `release_rollout` is called for the record: then the rollout is safe elsewhere. A run
    of the same pair whose platform was killed is taken up instead, if it was given the same things. The folder of an
    attempt that an infrastructure fault ended is kept. `sandbox` is the policy's by default. Whatever the agent does is
    a result. A harness that calls a model does so through a gateway of its own. `prices` are by model name.
    Raises SandboxError when the configuration is at fault, and WallsError when the sandbox or the model's service fails
    twice.
    """
    policy = policy_of(config, system)
    walls = sandbox or make_sandbox(policy)
    job = Job(
        benchmark_root, policy, system, task, walls, passed_keys(system), get_harness(system.harness), prices or {}
    )
    lost, taken = _take_up(job, state_dir)
    place, card, outcome = taken or _run(job, state_dir, lost)
    _keep_log(card.log, place)
    shutil.copytree(place.logs, out / "logs")
    record = _collected(job, outcome, card, place, out)
    for name, text in card.brief.items():
        write_text(out / "brief" / name, text)
    write_text(out / "brief" / "instruction.txt", INSTRUCTION + "\n")
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


_Over = tuple[SandboxPlace, Card, SandboxOutcome]


def _take_up(job: Job, state_dir: Path) -> tuple[int, _Over | None]:
    """(runs of this pair that were lost with their platform, the one that could be brought to its end or None)."""
    given, lost = given_digest(job), 0
    for place, card in left_runs(state_dir):
        if (card.system, card.task) != (job.system.id, job.task.id):
            continue
        if card.given == given and card.kind == job.policy.kind:
            try:
                outcome = job.walls.resume(place)
                if outcome is not None:
                    judge(job, place, outcome)
                    return lost, (place, card, outcome)
            except WallsError as error:  # an infrastructure fault: the folder stays as evidence
                not_counted(job, place, error)
                lost = card.attempt
            drop(place)
        else:
            abandon(place, card.kind)
    return lost, None


def _run(job: Job, state_dir: Path, lost: int) -> _Over:
    """Fresh attempts until one is no infrastructure fault, at most ATTEMPTS; the folders of the others stay."""
    for attempt in range(1, ATTEMPTS + 1):
        place = SandboxPlace(state_dir.resolve() / f"{job.system.id}--{job.task.id}--{secrets.token_hex(4)}")
        try:
            return place, *run_attempt(job, place, lost + attempt)
        except WallsError as error:
            not_counted(job, place, error)
            drop(place)
            if attempt == ATTEMPTS:
                raise
        except BaseException:
            drop(place)
            raise
    raise AssertionError("unreachable: the last attempt returns or raises")


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


def _collected(job: Job, outcome: SandboxOutcome, card: Card, place: SandboxPlace, out: Path) -> RolloutRecord:
    """Copy the delivery to `out`, and describe it and what the run used."""
    system, policy = job.system, job.policy
    account = take_account(place, out, system, card.parser, card.stdout_is_log, job.prices)
    delivery = out / "delivery"
    delivery.mkdir()
    room = DISK_FACTOR * policy.file_mb << 20
    taken = collect(place.delivery, delivery, max_bytes=room, max_files=policy.files, unlock=True)
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
        attempts=card.attempt,
        isolation=outcome.isolation,
        video=video_record(delivery),
        files=files,
        left_out=left,
        delivery_digest=digest,
        usage=Usage.of(account.tokens),
        usd=account.usd,
        imported=False,
        run=place.root.name,
        resources=outcome.resources,
        post_mortem=outcome.post_mortem,
        kept=outcome.kept,
        kind=end_kind(outcome, account.gateway),
        history=past_attempts(place.root.parent, system.id, job.task.id),
        trajectory=account.trajectory,
        gateway=account.gateway,
        harness_version=system.harness_version,
    )
