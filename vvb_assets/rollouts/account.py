"""What a run used: the gateway's account and the harness's own, and whether they agree."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vvb_resources.benchmark.models import Price, SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.gateway.calls import GatewaySummary, summarise
from vvb_resources.gateway.journal import LOG
from vvb_resources.harnesses.trajectory.reading import parser_ids, read_trajectory
from vvb_resources.harnesses.trajectory.types import Tokens, Trajectory
from vvb_resources.sandbox.base import SandboxPlace
from vvb_resources.store.atomic import write_json

GATEWAY = "gateway"
COMPARED = ("prompt", "cached", "cache_creation", "output")
"""Kinds that every harness and every service tells. Reasoning is a part of output that not all tell apart."""


class TrajectorySummary(BaseModel):
    """What a harness's own log says, in figures; trajectory.json has the steps."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    harness: str
    harness_version: str | None
    complete: bool
    problems: tuple[str, ...]
    answers: int
    tool_calls: int
    images_viewed: int
    tokens: Tokens
    reported_usd: float | None


@dataclass(frozen=True)
class Account:
    """Tokens and USD of a run, as well as they are known. `tokens` None: nobody told; `usd` None: not known."""

    trajectory: TrajectorySummary | None
    gateway: GatewaySummary | None
    tokens: Tokens | None
    usd: float | None


def gateway_folder(place: SandboxPlace) -> Path:
    """Where a run's gateway logs: in the run's folder, out of the agent's sight."""
    return place.root / GATEWAY


def gateway_summary(place: SandboxPlace) -> GatewaySummary | None:
    """What the gateway's log of a run says; None for a run without one."""
    folder = gateway_folder(place)
    return summarise(folder) if (folder / LOG).exists() else None


def take_account(
    place: SandboxPlace,
    out: Path,
    system: SystemConfig,
    parser: str | None,
    stdout_is_log: bool,
    prices: Mapping[str, Price],
) -> Account:
    """Bring the accounts of a run that is over into `out`: logs/gateway/ and trajectory.json.

    `out/logs/harness` holds the harness's log, if it was kept. Money is the gateway's where there is one, since the
    harness's log is the agent's to write; else the log's, if it is whole.
    """
    gateway = gateway_summary(place)
    if gateway is not None:
        shutil.copytree(gateway_folder(place), out / "logs" / GATEWAY)
    read = _trajectory(out, parser, stdout_is_log)
    summary = None
    if read is not None:
        write_json(out / "trajectory.json", read.model_dump(mode="json"))
        summary = _summary(read)
    if gateway is not None:
        return Account(summary, gateway, gateway.tokens + gateway.cut_tokens, gateway.usd)
    if read is not None and any(step.tokens for step in read.steps):
        return Account(summary, None, read.totals, read.usd(prices) if read.complete else None)
    return Account(summary, None, None, 0.0 if system.model is None else None)


def check_parser(parser: str | None, system_id: str) -> None:
    """Before an hour is spent: can the log that a system promises be read. Raises SandboxError."""
    if parser is not None and parser not in parser_ids():
        raise SandboxError(
            f"no harness {parser!r} whose log can be read",
            where=f"system {system_id}",
            remedy=f"set `parser` to one of: {', '.join(parser_ids())}",
        )


def _trajectory(out: Path, parser: str | None, stdout_is_log: bool) -> Trajectory | None:
    log = out / "logs" / "harness"
    if parser is None:
        return None
    log.mkdir(exist_ok=True)
    if stdout_is_log:
        shutil.copyfile(out / "logs" / "stdout.txt", log / "stdout.txt")
    return read_trajectory(parser, log)


def _summary(trajectory: Trajectory) -> TrajectorySummary:
    return TrajectorySummary(
        harness=trajectory.harness,
        harness_version=trajectory.harness_version,
        complete=trajectory.complete,
        problems=trajectory.problems,
        answers=sum(step.source == "agent" for step in trajectory.steps),
        tool_calls=trajectory.tool_calls,
        images_viewed=trajectory.images_viewed,
        tokens=trajectory.totals,
        reported_usd=trajectory.reported_usd,
    )


def agreement(trajectory: TrajectorySummary | None, gateway: GatewaySummary | None) -> tuple[bool, str]:
    """Do the two accounts agree, and the figures in a sentence.

    The harness's must lie between the tokens of whole replies and those with what cut replies had reported: whether it
    logs a reply that broke off differs. Where one of the two does not exist there is nothing to compare.
    """
    if gateway is None:
        return True, "no model gateway: nothing to compare"
    if trajectory is None:
        return True, "this harness's log cannot be read: nothing to compare"
    parts, agrees = [], True
    for kind in COMPARED:
        least = getattr(gateway.tokens, kind)
        most, told = least + getattr(gateway.cut_tokens, kind), getattr(trajectory.tokens, kind)
        agrees = agrees and least <= told <= most
        parts.append(f"{kind}: gateway {least if least == most else f'{least} to {most}'}, log {told}")
    return agrees, "; ".join(parts)
