"""Steps while a log is being read: grown piece by piece, results put to their calls, then made immutable."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field

from vvb_resources.harnesses.trajectory.lines import JsonDict, Notes, as_text, clean, cut, moment
from vvb_resources.harnesses.trajectory.types import Source, Step, Tokens, ToolCall, ToolResult


@dataclass
class Draft:
    """A step that may still grow."""

    source: Source
    at: str | None = None
    model: str | None = None
    message: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: dict[str, ToolResult] = field(default_factory=dict)
    tokens: Tokens | None = None
    requests: int = 0
    images: int = 0
    unheard: set[str] = field(default_factory=set)

    def say(self, text: object) -> None:
        """Add a text to the message, unless it is empty or no text."""
        if isinstance(text, str) and text:
            self.message.append(text)

    def think(self, text: object) -> None:
        """Add a text to the reasoning."""
        if isinstance(text, str) and text:
            self.reasoning.append(text)

    def call(self, call_id: object, name: object, arguments: str) -> None:
        """Add a tool call; a second with the same id replaces the first."""
        key = clean(str(call_id))
        self.calls[key] = ToolCall(id=key, name=as_text(name) or "unknown", arguments=arguments)

    def answered_elsewhere(self, call_id: str) -> None:
        """A call of a log that tells no results by their calls: that it has none is no problem of the log."""
        self.unheard.add(call_id)

    def usage(self, tokens: Tokens) -> None:
        """Set the tokens of this step's request, or raise them to what a later report says."""
        self.tokens = tokens if self.tokens is None else self.tokens.most(tokens)
        self.requests = max(1, self.requests)

    @property
    def silent(self) -> bool:
        """Has an answer of the model neither said nor called anything: its end is missing."""
        return self.source == "agent" and self.requests > 0 and not self.message and not self.calls

    @property
    def open(self) -> list[str]:
        """Ids of calls without a result."""
        return [key for key in self.calls if key not in self.results and key not in self.unheard]

    def step(self) -> Step:
        """The step as it stands."""
        return Step(
            source=self.source,
            at=self.at,
            message=cut("\n".join(self.message)),
            reasoning=cut("\n".join(self.reasoning)),
            model=self.model,
            tool_calls=tuple(self.calls.values()),
            results=tuple(self.results.values()),
            tokens=self.tokens,
            requests=self.requests,
            images=self.images,
        )


@dataclass
class Reading:
    """What a parser returns: drafts in the order of the log, and what the log says of itself."""

    drafts: list[Draft] = field(default_factory=list)
    session: str | None = None
    version: str | None = None
    reported_usd: float | None = None

    def new(self, source: Source, at: object = None, model: object = None) -> Draft:
        """Begin a step."""
        draft = Draft(source, at=iso(at), model=as_text(model))
        self.drafts.append(draft)
        return draft

    def answer(self, call_id: object, text: str, notes: Notes, *, error: bool = False, images: int = 0) -> None:
        """Put a result to the latest call of that id. A result without its call is a problem of the log."""
        key = clean(str(call_id))
        for draft in reversed(self.drafts):
            if key in draft.calls:
                draft.results[key] = ToolResult(id=key, text=cut(text), error=error, images=images)
                return
        notes.add(f"a result without its call ({key[:40]})")

    def unanswered(self, notes: Notes) -> None:
        """Note calls that no result came for: the log, or the run, ends inside them."""
        count = sum(len(draft.open) for draft in self.drafts)
        if count:
            notes.add(f"{count} tool calls have no result")

    def unmetered(self, notes: Notes) -> None:
        """Note a log in which the agent speaks and no tokens are told: its zero is not a measurement."""
        agent = [draft for draft in self.drafts if draft.source == "agent"]
        if not agent:
            notes.add("no step of the agent")
        elif all(draft.tokens is None for draft in agent):
            notes.add("the log tells no tokens")


def iso(at: object) -> str | None:
    """A time of a log as ISO 8601; None where it is none."""
    if isinstance(at, str):
        return at if moment(at) is not None else None
    seconds = moment(at)
    return None if seconds is None else dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat()


def texts(parts: Iterable[JsonDict], key: str = "text") -> str:
    """The texts of message parts, joined by line ends."""
    return "\n".join(part[key] for part in parts if isinstance(part.get(key), str))
