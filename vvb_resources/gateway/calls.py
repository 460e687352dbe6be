"""A gateway's log as calls, and what they come to: tokens, money, and what became of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from vvb_resources.gateway.journal import read_events
from vvb_resources.harnesses.trajectory.types import Tokens, total

Outcome = Literal["done", "error", "unreachable", "cut_by_service", "cut_by_agent", "cut_by_end"]
"""done: a reply of status 2xx, whole; error: another status, or an error inside a stream; unreachable: no reply;
cut_by_*: the reply broke off, and who ended it (the service, the agent, or the end of the run)."""
WhyRefused = Literal["token", "path", "model", "tool", "deadline", "spend", "size", "body"]


class Call(BaseModel):
    """One forwarded call. `usd` is None where the price or the usage is not known, `most_usd` its worst case."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    call: int
    model: str | None
    billed: bool
    most_usd: float | None = None
    status: int | None = None
    outcome: Outcome = "cut_by_end"
    tokens: Tokens | None = None
    usd: float | None = None


class GatewaySummary(BaseModel):
    """What a run's calls come to.

    `tokens` are those of whole replies, `cut_tokens` what replies that were cut had reported. `usd` is the sum of both,
    None where a whole reply could not be priced; `most_usd` adds the worst case of the cut ones.
    `service_failed`: the last billed call that was forwarded failed on the service's side (unreachable, cut, 429, 5xx).
    `key_refused`: the service did not accept the key (401, 403). `interrupted`: the log has no end, since its platform
    was killed. `spend_refused`: the limit of the run refused a call.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: int
    done: int
    cut: int
    failed: int
    refused: dict[str, int]
    tokens: Tokens
    cut_tokens: Tokens
    models: dict[str, Tokens]
    usd: float | None
    most_usd: float | None
    service_failed: bool
    key_refused: bool
    interrupted: bool

    @property
    def spend_refused(self) -> bool:
        """Did the spend limit end the agent's work."""
        return self.refused.get("spend", 0) > 0


def read_calls(folder: Path) -> tuple[list[Call], dict[str, int]]:
    """(calls in order, refusals by reason) of a log, whole or cut by a crash."""
    return _calls(read_events(folder))


def _calls(events: list[dict[str, Any]]) -> tuple[list[Call], dict[str, int]]:
    found: dict[int, dict[str, Any]] = {}
    refused: dict[str, int] = {}
    for event in events:
        if event["event"] in ("request", "reply", "end"):
            found.setdefault(event["call"], {}).update(event)
        elif event["event"] == "refused":
            refused[event["why"]] = refused.get(event["why"], 0) + 1
    return [Call.model_validate(fields) for fields in found.values()], refused


def summarise(folder: Path) -> GatewaySummary:
    """The summary of the log in `folder`. Raises StoreError when there is none."""
    events = read_events(folder)
    calls, refused = _calls(events)
    billed = [call for call in calls if call.billed]
    done = [call for call in billed if call.outcome == "done"]
    cut = [call for call in billed if call.outcome.startswith("cut")]
    failed = [call for call in billed if call.outcome in ("error", "unreachable")]
    models: dict[str, Tokens] = {}
    for call in done:
        name = call.model or "unknown"
        models[name] = models.get(name, Tokens()) + (call.tokens or Tokens())
    priced = all(call.usd is not None for call in done)
    usd = sum(call.usd or 0.0 for call in (*done, *cut)) if priced else None
    most = None
    if usd is not None and all(call.most_usd is not None for call in cut):
        most = usd + sum((call.most_usd or 0.0) - (call.usd or 0.0) for call in cut)
    last = billed[-1] if billed else None
    return GatewaySummary(
        calls=len(billed),
        done=len(done),
        cut=len(cut),
        failed=len(failed),
        refused=refused,
        tokens=total(call.tokens for call in done),
        cut_tokens=total(call.tokens for call in cut),
        models=models,
        usd=usd,
        most_usd=most,
        service_failed=last is not None and service_fault(last),
        interrupted=not any(event["event"] == "close" for event in events),
        key_refused=bool(billed) and not done and all(call.status in (401, 403) for call in billed),
    )


def service_fault(call: Call) -> bool:
    """Did the call fail on the service's side: not by what the agent asked, nor by who ended the run."""
    if call.outcome in ("unreachable", "cut_by_service"):
        return True
    return call.outcome == "error" and (call.status in (408, 429) or (call.status or 0) >= 500 or call.status == 200)
