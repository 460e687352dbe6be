"""Gemini CLI, headless, and its session log.

A message is written again whenever it changes (when its tools have answered, for one): the latest of an id is the
message. `tokens.output` is without thoughts and tool tokens, which are added. A session can use several models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from vvb_resources.benchmark.models import SystemConfig, Wire
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import Launch, LaunchContext, Options, needed_access, needed_model, read_options
from vvb_resources.harnesses.trajectory.draft import Reading, texts
from vvb_resources.harnesses.trajectory.lines import (
    JsonDict,
    LogFile,
    Notes,
    as_dict,
    as_json,
    as_text,
    count,
    dicts,
    in_order,
    moment,
    own_lines,
)
from vvb_resources.harnesses.trajectory.types import Tokens

LOG_FILES = ("**/chats/**/*.jsonl", "**/chats/**/*.json", "**/session-*.jsonl", "**/session-*.json")
ENVELOPE = frozenset({"$set", "$rewindTo", "id", "sessionId"})
DONE = ("success", "error", "cancelled")


class GeminiCliOptions(Options):
    """`max_turns`: most turns of a session, as its settings have it; by default without a bound."""

    max_turns: int | None = Field(default=None, gt=0)


@dataclass(frozen=True)
class GeminiCli:
    """See `base.Harness`."""

    id: str = "gemini_cli"
    options: type[Options] = GeminiCliOptions

    def wire(self, system: SystemConfig) -> Wire:
        """Gemini's generateContent."""
        return "gemini"

    def launch(self, context: LaunchContext) -> Launch:
        """`gemini --yolo --prompt`, with its settings below HOME. It has no setting of effort on its command line."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(GeminiCliOptions, system)
        if system.effort is not None:
            raise SandboxError(
                "harness gemini_cli has no effort", where=f"system {system.id}", remedy="remove `effort` from its file"
            )
        settings = {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            **({"model": {"maxSessionTurns": options.max_turns}} if options.max_turns else {}),
        }
        return Launch(
            argv=("gemini", "--yolo", f"--model={model}", "--output-format=json", f"--prompt={context.instruction}"),
            env={
                "GEMINI_API_KEY": access.token,
                "GOOGLE_GEMINI_BASE_URL": access.url("gemini"),
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                **system.env,
            },
            log="home/.gemini/tmp",
            parser=self.id,
            files={"home/.gemini/settings.json": json.dumps(settings, indent=1) + "\n"},
        )


HARNESS = GeminiCli()


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """Session logs -> steps: messages by id, in the order in which they first came."""
    reading = Reading()
    for file in files:
        messages: dict[str, JsonDict] = {}
        first: list[float | None] = []
        heads = 0
        records = own_lines(file, ENVELOPE, notes)
        for number, record in enumerate(records):
            if "sessionId" in record and "type" not in record:
                heads += 1
                reading.session = reading.session or as_text(record.get("sessionId"))
            for message in (record, *dicts(as_dict(record.get("$set")).get("messages"))):
                if message.get("type") in ("user", "gemini"):
                    key = as_text(message.get("id")) or f"line {number}"
                    if key not in messages:
                        first.append(moment(message.get("timestamp")))
                    messages[key] = message
        if heads > 1:
            notes.add(f"{file.name}: several sessions in one log")
        in_order(first, file.name, notes)
        for record in messages.values():
            _message(reading, record, notes)
        last = next((record for record in reversed(records) if "type" in record), {})
        if last.get("type") == "user" or (last.get("type") == "gemini" and not _final(last)):
            notes.add(f"{file.name}: ends before the model's answer")
    return reading


def _final(message: JsonDict) -> bool:
    """Can a session end with this message: it says something, and no tool's result waits for the model."""
    return bool(message.get("content")) and not dicts(message.get("toolCalls"))


def _message(reading: Reading, record: JsonDict, notes: Notes) -> None:
    content = record.get("content")
    text = content if isinstance(content, str) else texts(dicts(content))
    if record.get("type") == "user":
        if text:
            reading.new("user", record.get("timestamp")).say(text)
        return
    draft = reading.new("agent", record.get("timestamp"), record.get("model"))
    draft.say(text)
    for thought in dicts(record.get("thoughts")):
        draft.think(": ".join(filter(None, (as_text(thought.get("subject")), as_text(thought.get("description"))))))
    usage = as_dict(record.get("tokens"))
    if usage:
        thoughts = count(usage, "thoughts", notes)
        draft.usage(
            Tokens(
                prompt=count(usage, "input", notes),
                cached=count(usage, "cached", notes),
                output=count(usage, "output", notes) + count(usage, "tool", notes) + thoughts,
                reasoning=thoughts,
            )
        )
    for call in dicts(record.get("toolCalls")):
        draft.call(call.get("id"), call.get("name"), as_json(call.get("args", {})))
        if call.get("status") in DONE:
            parts = dicts(call.get("result"))
            reading.answer(
                call.get("id"), _outputs(parts), notes, error=call.get("status") != "success", images=pictures(parts)
            )


def _outputs(parts: list[JsonDict]) -> str:
    """What the tools' responses say."""
    responses = [as_dict(as_dict(part.get("functionResponse")).get("response")) for part in parts]
    outputs = [response.get("output", response.get("error")) for response in responses]
    return "\n".join([*(text for text in outputs if isinstance(text, str)), *filter(None, [texts(parts)])])


def pictures(parts: list[JsonDict]) -> int:
    """Pictures among the parts of a message and of the function responses in it."""
    inner = [p for part in parts for p in dicts(as_dict(part.get("functionResponse")).get("parts"))]
    kinds = [as_dict(part.get("inlineData") or part.get("fileData")).get("mimeType") for part in (*parts, *inner)]
    return sum(isinstance(kind, str) and kind.startswith("image/") for kind in kinds)
