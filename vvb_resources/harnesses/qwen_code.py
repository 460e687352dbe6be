"""Qwen Code, headless, and its chat recording.

Lines are events with Gemini's message parts; `usageMetadata` is Gemini's as well, but its candidates include thoughts,
since the service behind it counts completion tokens as OpenAI does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vvb_resources.benchmark.models import SystemConfig, Wire
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import Launch, LaunchContext, Options, needed_access, needed_model, read_options
from vvb_resources.harnesses.gemini_cli import pictures
from vvb_resources.harnesses.trajectory.draft import Draft, Reading, texts
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

LOG_FILES = ("**/chats/**/*.jsonl", "*.jsonl")
ENVELOPE = frozenset({"sessionId", "uuid"})


class QwenCodeOptions(Options):
    """`max_session_turns`: most turns of a session; by default without a bound."""

    max_session_turns: int | None = None


@dataclass(frozen=True)
class QwenCode:
    """See `base.Harness`."""

    id: str = "qwen_code"
    options: type[Options] = QwenCodeOptions

    def wire(self, system: SystemConfig) -> Wire:
        """OpenAI's chat completions."""
        return "openai_chat"

    def launch(self, context: LaunchContext) -> Launch:
        """`qwen --yolo`, recording its chat. It has no setting of effort on its command line."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(QwenCodeOptions, system)
        if system.effort is not None:
            raise SandboxError(
                "harness qwen_code has no effort", where=f"system {system.id}", remedy="remove `effort` from its file"
            )
        argv = ["qwen", "--yolo", "--auth-type", "openai", "--model", model, "--chat-recording"]
        argv += [f"--max-session-turns={options.max_session_turns}"] if options.max_session_turns else []
        return Launch(
            argv=(*argv, f"--prompt={context.instruction}"),
            env={
                "OPENAI_API_KEY": access.token,
                "OPENAI_BASE_URL": access.url("openai_chat"),
                "OPENAI_MODEL": model,
                **system.env,
            },
            log="home/.qwen/projects",
            parser=self.id,
        )


HARNESS = QwenCode()


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """Chat recordings -> steps."""
    reading = Reading()
    for file in files:
        records = own_lines(file, ENVELOPE, notes)
        in_order([moment(record.get("timestamp")) for record in records], file.name, notes)
        sessions: list[str] = []
        waits, latest, seen = False, None, set[str]()
        for record in records:
            session, uuid = as_text(record.get("sessionId")), as_text(record.get("uuid"))
            if session and (not sessions or sessions[-1] != session):
                if session in sessions:
                    notes.add(f"{file.name}: lines of several sessions are mixed")
                sessions.append(session)
            if uuid is not None and uuid in seen:
                continue
            seen |= {uuid} if uuid else set()
            reading.session = reading.session or session
            reading.version = as_text(record.get("version")) or reading.version
            if record.get("type") == "assistant":
                latest, waits = _assistant(reading, record, notes), False
            elif record.get("type") in ("user", "tool_result"):
                _answers(reading, record, notes)
                waits = True
        if waits or (latest is not None and latest.silent):
            notes.add(f"{file.name}: ends before the model's answer")
    return reading


def _assistant(reading: Reading, record: JsonDict, notes: Notes) -> Draft:
    draft = reading.new("agent", record.get("timestamp"), record.get("model"))
    for part in dicts(as_dict(record.get("message")).get("parts")):
        (draft.think if part.get("thought") is True else draft.say)(part.get("text"))
        call = as_dict(part.get("functionCall"))
        if call:
            draft.call(call.get("id"), call.get("name"), as_json(call.get("args", {})))
    usage = as_dict(record.get("usageMetadata"))
    if usage:
        draft.usage(
            Tokens(
                prompt=count(usage, "promptTokenCount", notes),
                cached=count(usage, "cachedContentTokenCount", notes),
                output=count(usage, "candidatesTokenCount", notes),
                reasoning=count(usage, "thoughtsTokenCount", notes),
            )
        )
    return draft


def _answers(reading: Reading, record: JsonDict, notes: Notes) -> None:
    """The user's texts, and the responses of functions."""
    parts = dicts(as_dict(record.get("message")).get("parts"))
    for part in parts:
        answer = as_dict(part.get("functionResponse"))
        if answer:
            response = as_dict(answer.get("response"))
            text = as_text(response.get("output")) or as_text(response.get("error")) or ""
            reading.answer(answer.get("id"), text, notes, error="error" in response, images=pictures([part]))
    text = texts(parts)
    if text and record.get("type") == "user":
        reading.new("user", record.get("timestamp")).say(text)
