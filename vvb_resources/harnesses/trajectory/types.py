"""The interchange form of a trajectory.

Conventions of tokens, the same for every harness: `prompt` includes what was read from and written to a cache, `output`
includes reasoning. `complete` is false when the log shows that something is missing (a broken line, an unanswered call,
a turn that never ended); what is there is then a part, and `problems` says why. A log that cannot show it is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vvb_resources.benchmark.models import Price
from vvb_resources.judges.pricing import cost_usd

MAX_TEXT = 20_000
"""Characters of a text that are kept; the log itself lies beside the trajectory."""

Source = Literal["system", "user", "agent"]


class Form(BaseModel):
    """Strict and immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Tokens(Form):
    """Tokens by kind (see the module)."""

    prompt: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)
    cache_creation: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    reasoning: int = Field(default=0, ge=0)

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(**{kind: getattr(self, kind) + getattr(other, kind) for kind in Tokens.model_fields})

    def most(self, other: Tokens) -> Tokens:
        """The larger of each kind: a count that grows while a reply streams is reported more than once."""
        return Tokens(**{kind: max(getattr(self, kind), getattr(other, kind)) for kind in Tokens.model_fields})

    def by_price(self) -> dict[str, int]:
        """Disjoint kinds, as prices have them."""
        return {
            "input": max(0, self.prompt - self.cached - self.cache_creation),
            "cached": self.cached,
            "cache_write": self.cache_creation,
            "output": self.output,
        }


class ToolCall(Form):
    """A call that the agent made; `arguments` is JSON, or its text where it is none."""

    id: str
    name: str
    arguments: str


class ToolResult(Form):
    """What came back for the call `id`; `images` is the number of pictures that the model was shown with it."""

    id: str
    text: str
    error: bool
    images: int = Field(ge=0)


class Step(Form):
    """A message of one side. `at` is ISO 8601 as the log has it; `tokens` is None where the log tells none.

    `calls` counts requests to the model: 0 for a step that the harness made itself.
    """

    source: Source
    at: str | None
    message: str
    reasoning: str = ""
    model: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    tokens: Tokens | None = None
    requests: int = Field(default=0, ge=0)
    images: int = Field(default=0, ge=0, description="pictures in the message itself")


class Trajectory(Form):
    """A harness's log, read. `reported_usd` is what the harness itself says the run cost: shown, never used."""

    version: Literal[1] = 1
    harness: str
    harness_version: str | None
    session: str | None
    steps: tuple[Step, ...]
    complete: bool
    problems: tuple[str, ...]
    reported_usd: float | None = None

    @property
    def totals(self) -> Tokens:
        """Tokens over all steps."""
        return total(step.tokens for step in self.steps)

    @property
    def by_model(self) -> dict[str, Tokens]:
        """Tokens by model, in order of appearance; "unknown" where the log names none."""
        found: dict[str, Tokens] = {}
        for step in self.steps:
            if step.tokens is not None:
                name = step.model or "unknown"
                found[name] = found.get(name, Tokens()) + step.tokens
        return found

    @property
    def images_viewed(self) -> int:
        """Pictures that the model was shown: in results of tools, or in messages that the harness put in for them."""
        return sum(step.images + sum(result.images for result in step.results) for step in self.steps)

    @property
    def tool_calls(self) -> int:
        """Calls of tools."""
        return sum(len(step.tool_calls) for step in self.steps)

    def usd(self, prices: Mapping[str, Price]) -> float | None:
        """USD by the price of each step's model; None where one has no price, or the log tells no tokens at all.

        Each request is priced on its own, since a long one may cost more.
        """
        costs = [cost_usd(prices.get(step.model or ""), step.tokens.by_price()) for step in self.steps if step.tokens]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if costs and len(known) == len(costs) else None


def total(tokens: Iterable[Tokens | None]) -> Tokens:
    """The sum of those that are known."""
    return sum((one for one in tokens if one is not None), Tokens())
