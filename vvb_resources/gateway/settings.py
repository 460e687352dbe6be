"""What the gateway of a run has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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

    def as_json(self) -> dict[str, Any]:
        """All of it, with the key: for the standard input of a process that serves the run, never for a file."""
        simple = {**vars(self), "models": sorted(self.models), "hosted_tools": sorted(self.hosted_tools)}
        return {**simple, "prices": {name: price.model_dump(mode="json") for name, price in self.prices.items()}}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> GatewaySettings:
        """What `as_json` gave."""
        prices = {name: Price.model_validate(price) for name, price in content["prices"].items()}
        sets = {name: frozenset(content[name]) for name in ("models", "hosted_tools")}
        return cls(**{**content, **sets, "prices": prices})
