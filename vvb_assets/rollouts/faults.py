"""The one table that says what each kind of end means: whose fault, made again or not, scored or not, on what evidence.

The paper re-runs what an infrastructure fault lost and nothing else. What ended a run is read from events: the
supervisor's outcome, the exit code, and the gateway's log of what the model's service answered. No text that a model or
an agent wrote is looked at. Blame falls on the agent only with the evidence of its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vvb_resources.gateway.calls import GatewaySummary
from vvb_resources.sandbox.base import SandboxOutcome

EndKind = Literal[
    "self", "timed_out", "error", "limit", "spend", "infrastructure", "interrupted", "model_service", "model_key"
]
Whose = Literal["agent", "infrastructure", "configuration"]


@dataclass(frozen=True)
class EndRule:
    """Whose fault it is, is the run made again, does it count as the scored run, and on what evidence."""

    whose: Whose
    retry: bool
    counts: bool
    evidence: str


END_RULES: dict[EndKind, EndRule] = {
    "self": EndRule("agent", False, True, "the command's exit code is 0"),
    "timed_out": EndRule("agent", False, True, "the supervisor killed the agent at the deadline"),
    "error": EndRule("agent", False, True, "the command's exit code is not 0, or a signal ended it"),
    "limit": EndRule("agent", False, True, "the supervisor measured memory, processes or disk above the policy"),
    "spend": EndRule("agent", False, True, "the gateway refused a call for the spend limit, and the agent then ended"),
    "infrastructure": EndRule(
        "infrastructure", True, False, "WallsError: the walls or the supervisor failed, or the machine did"
    ),
    "interrupted": EndRule(
        "infrastructure", True, False, "the platform was killed while the agent worked: its gateway's log has no end"
    ),
    "model_service": EndRule(
        "infrastructure",
        True,
        False,
        "every call failed on the service's side, or the last one did and the agent then ended with an error",
    ),
    "model_key": EndRule(
        "configuration", False, False, "the service answered every call with 401 or 403: the gateway's key is refused"
    ),
}


def end_kind(outcome: SandboxOutcome, gateway: GatewaySummary | None) -> EndKind:
    """The kind of a run's end. `gateway` is None for an agent that called no model through one."""
    if outcome.limit is not None:
        return "limit"
    if gateway is not None:
        if gateway.key_refused:
            return "model_key"
        if gateway.interrupted and outcome.ended != "self":
            return "interrupted"
        if gateway.service_failed and (gateway.done == 0 or outcome.ended == "error"):
            return "model_service"
        if gateway.spend_refused and outcome.ended != "timed_out":
            return "spend"
    return outcome.ended
