"""What the gateway of a run has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vvb_resources.benchmark.models import Price, Wire


@dataclass(frozen=True)
class GatewaySettings:
    """What a run's gateway has to know. `deadline` is Unix time; `usd` None for no limit; prices by model name.

    `endpoint` is the service's base URL, None for the maker's own; `models` are those that may be called,
    `hosted_tools` the tools run by the service that may be offered to them (hosted.py).
    """

    wire: Wire
    key: str = field(repr=False)
    token: str = field(repr=False)
    models: frozenset[str]
    deadline: float
    endpoint: str | None = None
    usd: float | None = None
    hosted_tools: frozenset[str] = frozenset()
    prices: Mapping[str, Price] = field(default_factory=dict)
