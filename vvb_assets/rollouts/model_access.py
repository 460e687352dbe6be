"""What the gateway of a run is given: where to, with which key, for which models, up to which limits."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping

from vvb_resources.benchmark.models import Price, SandboxPolicy, SystemConfig, Wire
from vvb_resources.errors import SandboxError
from vvb_resources.gateway.settings import GatewaySettings

KEYS: dict[Wire, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai_chat": "OPENAI_API_KEY",
    "openai_responses": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
"""Where a system names no `key`."""


def key_name(system: SystemConfig, wire: Wire) -> str:
    """The environment variable of this machine that holds the service's key."""
    return system.key or KEYS[wire]


def gateway_settings(
    system: SystemConfig, wire: Wire, policy: SandboxPolicy, prices: Mapping[str, Price], deadline: float
) -> GatewaySettings:
    """Settings with a fresh token. Raises SandboxError without a model, a key, or a price that a limit needs."""
    where = f"system {system.id}"
    if system.model is None:
        raise SandboxError("names no model", where=where, remedy="set `model` in the system's file")
    key = os.environ.get(key_name(system, wire))
    if not key:
        raise SandboxError(
            f"the model gateway needs {key_name(system, wire)}", where=where, remedy="set it in the environment of vvb"
        )
    models = frozenset({system.model, *system.models})
    unpriced = sorted(m for m in models if m not in prices or prices[m].input is None or prices[m].output is None)
    if policy.usd is not None and unpriced:
        raise SandboxError(
            f"a spend limit needs prices, and {', '.join(unpriced)} has none",
            where=where,
            remedy="add it to prices/<date>.yaml, or remove sandbox.usd from benchmark.yaml",
        )
    return GatewaySettings(
        wire=wire,
        key=key,
        token=f"vvb-{secrets.token_urlsafe(24)}",
        models=models,
        deadline=deadline,
        endpoint=system.endpoint,
        usd=policy.usd,
        hosted_tools=frozenset(system.hosted_tools),
        prices=prices,
    )
