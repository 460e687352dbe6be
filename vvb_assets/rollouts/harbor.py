"""Job folders of the Harbor runner: trials -> deliveries with what is known of their runs.

A job folder holds a folder a trial: `result.json` (task, agent, model, times, exception, tokens, cost), `agent/` (logs)
and `artifacts/` (what was collected, mirrored by its path in the container). Written to Harbor 0.26, document
version 1; a later one is refused rather than guessed at.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vvb_assets.rollouts.record import Origin
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.trajectory.lines import as_dict, as_text, moment
from vvb_resources.sandbox.base import Ended

RESULT = "result.json"
MAX_RESULT = 64 << 20
AGENTS_OWN: dict[str | None, Ended] = {
    None: "self",
    "AgentTimeoutError": "timed_out",
    **dict.fromkeys(
        (
            "NonZeroAgentExitCodeError",
            "ContextWindowExceededError",
            "ContextLengthExceededError",
            "OutputTokenExceededError",
            "OutputLengthExceededError",
            "AgentSafetyRefusalError",
        ),
        "error",
    ),
    # Of the job's own verifier, after the agent had ended: it has no say here.
    **dict.fromkeys(
        ("VerifierTimeoutError", "RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError"), "self"
    ),
}
"""What Harbor's exceptions mean in the fault table. Any other is not known to be the agent's fault: no scored run."""


@dataclass(frozen=True)
class Trial:
    """A trial of a task of this benchmark. `why_not` says why it is no scored run, None if it is one."""

    task: str
    folder: Path
    delivery: Path
    origin: Origin
    ended: Ended | None
    started_at: float | None
    seconds: float | None
    why_not: str | None


def is_job(folder: Path) -> bool:
    """Does a folder hold trials."""
    return any(_is_trial(path) for path in folder.glob(f"*/{RESULT}"))


def find_trials(folder: Path, tasks: Collection[str]) -> tuple[list[Trial], dict[str, str]]:
    """(trials of the benchmark's tasks by task and time, other entries of the job folder and why they are left out).

    Of several trials of a task the first that is a scored run counts: choosing among them would be choosing a result.
    """
    found: list[Trial] = []
    left: dict[str, str] = {}
    for path in sorted(p for p in folder.iterdir() if p.is_dir()):
        try:
            trial = _read(path, tasks)
        except SandboxError as error:
            left[path.name] = error.what
            continue
        found.append(trial)
    found.sort(key=lambda trial: (trial.task, trial.started_at or 0.0, trial.folder.name))
    taken: dict[str, Trial] = {}
    for trial in found:
        if trial.why_not is not None:
            left[trial.folder.name] = trial.why_not
        elif trial.task in taken:
            left[trial.folder.name] = (
                f"a later trial of {trial.task}: {taken[trial.task].folder.name} is the scored run"
            )
        else:
            taken[trial.task] = trial
    return list(taken.values()), left


def _is_trial(result: Path) -> bool:
    try:
        return "trial_name" in _document(result)
    except SandboxError:
        return False


def _document(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_RESULT:
            raise SandboxError(f"{path.name} is too large")
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SandboxError(f"{path.name} cannot be read") from error
    if not isinstance(value, dict):
        raise SandboxError(f"{path.name} is not an object")
    return value


def _read(folder: Path, tasks: Collection[str]) -> Trial:
    """One trial. Raises SandboxError for a folder that is none of this benchmark, with the reason."""
    if folder.is_symlink():
        raise SandboxError("is a link")
    if not (folder / RESULT).is_file():
        raise SandboxError("no trial: it has no result.json")
    result = _document(folder / RESULT)
    if result.get("schema_version", 1) != 1:
        raise SandboxError(f"result.json has version {result['schema_version']!r}; version 1 is known")
    name = as_text(result.get("task_name")) or ""
    task = name.rsplit("/", 1)[-1]
    if task not in tasks:
        raise SandboxError(f"no task of this benchmark: {name[:80]!r}")
    exception = as_text(as_dict(result.get("exception_info")).get("exception_type"))
    started, seconds = _times(as_dict(result.get("agent_execution")))
    return Trial(
        task=task,
        folder=folder,
        delivery=_delivery(folder),
        origin=_origin(folder, result, exception),
        ended=AGENTS_OWN.get(exception),
        started_at=started,
        seconds=seconds,
        why_not=None
        if exception in AGENTS_OWN
        else f"ended by {exception}, which is not known to be the agent's fault",
    )


def _origin(folder: Path, result: dict[str, Any], exception: str | None) -> Origin:
    agent, used = as_dict(result.get("agent_info")), as_dict(result.get("agent_result"))
    return Origin(
        kind="harbor",
        path=str(folder.resolve()),
        run=as_text(result.get("trial_name")),
        agent=as_text(agent.get("name")),
        agent_version=as_text(agent.get("version")),
        model=as_text(as_dict(agent.get("model_info")).get("name")),
        exception=exception,
        prompt_tokens=_number(used.get("n_input_tokens")),
        cached_tokens=_number(used.get("n_cache_tokens")),
        output_tokens=_number(used.get("n_output_tokens")),
        reported_usd=_money(used.get("cost_usd")),
    )


def _delivery(folder: Path) -> Path:
    """The folder of a trial's artifacts that is the delivery.

    The one that is named so; else what Harbor collects by convention; else all artifacts. Which of several folders of
    that name is meant cannot be known.
    """
    artifacts = folder / "artifacts"
    named = sorted(path for path in artifacts.rglob("delivery") if path.is_dir() and not path.is_symlink())
    if len(named) > 1:
        raise SandboxError(f"several folders named delivery: {', '.join(str(p.relative_to(folder)) for p in named)}")
    if named:
        return named[0]
    convention = artifacts / "logs" / "artifacts"
    if convention.is_dir():
        return convention
    if not artifacts.is_dir():
        raise SandboxError("no artifacts: Harbor collected nothing")
    return artifacts


def _times(timing: dict[str, Any]) -> tuple[float | None, float | None]:
    """(Unix start, seconds) of the agent's execution; a time without a zone is UTC."""
    begin, end = (_moment(timing.get(key)) for key in ("started_at", "finished_at"))
    return begin, end - begin if begin is not None and end is not None and end >= begin else None


def _moment(value: object) -> float | None:
    at = moment(value)
    if at is None and isinstance(value, str):
        try:
            at = dt.datetime.fromisoformat(value).replace(tzinfo=dt.UTC).timestamp()
        except ValueError:
            return None
    return at


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _money(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
