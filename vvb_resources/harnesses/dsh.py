"""DSH and its session log. Its command line is not public: a system gives its launcher's name as an option.

The usage of a step comes in a chunk, in the message, or in both: once counts. A step's input excludes what the cache
held; output includes reasoning. Lines are numbered, so that a missing one is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vvb_resources.benchmark.models import SystemConfig, Wire
from vvb_resources.harnesses.base import Launch, LaunchContext, Options, needed_access, needed_model, read_options
from vvb_resources.harnesses.trajectory.draft import Draft, Reading, texts
from vvb_resources.harnesses.trajectory.lines import (
    JsonDict,
    LogFile,
    Notes,
    as_dict,
    as_json,
    as_text,
    clean,
    count,
    dicts,
    in_order,
    moment,
    numbered,
    own_lines,
)
from vvb_resources.harnesses.trajectory.types import Tokens, ToolCall, ToolResult

LOG_FILES = ("**/*.jsonl",)
ENVELOPE = frozenset({"seq", "createdAt"})


class DshOptions(Options):
    """`launcher`: a program that the sandbox image provides. It is called with `--model`, `--effort` and the prompt,
    finds the gateway in DSH_BASE_URL and DSH_API_KEY, and leaves its session log at `log`."""

    launcher: str = "start-dsh"
    log: str = "home/session.jsonl"


@dataclass(frozen=True)
class Dsh:
    """See `base.Harness`."""

    id: str = "dsh"
    options: type[Options] = DshOptions

    def wire(self, system: SystemConfig) -> Wire:
        """OpenAI's chat completions, unless the system's file says otherwise."""
        return system.wire or "openai_chat"

    def launch(self, context: LaunchContext) -> Launch:
        """The launcher with model, effort and instruction."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(DshOptions, system)
        effort = ("--effort", system.effort) if system.effort else ()
        return Launch(
            argv=(options.launcher, "--model", model, *effort, context.instruction),
            env={"DSH_BASE_URL": access.url(self.wire(system)), "DSH_API_KEY": access.token, **system.env},
            log=options.log,
            parser=self.id,
        )


HARNESS = Dsh()


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """Session logs -> steps, one for each (turn, step)."""
    reading = Reading()
    for file in files:
        records = own_lines(file, ENVELOPE, notes)
        in_order([moment(record.get("time")) for record in records], file.name, notes)
        _read(reading, file.name, records, notes)
    return reading


def _read(reading: Reading, name: str, records: Sequence[JsonDict], notes: Notes) -> None:
    drafts: dict[tuple[str, str], Draft] = {}
    model: str | None = None
    sessions, turn_open = 0, False
    numbered(records, "seq", name, notes)
    for record in records:
        data, kind, at = as_dict(record.get("data")), record.get("type"), record.get("time")
        if kind == "session":
            sessions += 1
            reading.session = reading.session or as_text(record.get("id"))
        elif kind == "request/context":
            model = as_text(data.get("model")) or model
        elif kind in ("turn/start", "turn/end"):
            turn_open = kind == "turn/start"
        elif kind in (
            "user/message",
            "text-chunks",
            "assistant/chunk",
            "assistant/message",
            "tool/call",
            "tool/result",
        ):
            turn_open = True
            if kind == "user/message":
                reading.new("user", at).say(_text(data))
                continue
            key = (str(data.get("turn")), str(data.get("step")))
            draft = drafts.get(key)
            if draft is None:
                draft = drafts[key] = reading.new("agent", at, model)
            _event(draft, str(kind), data, record, notes)
    if sessions > 1:
        notes.add(f"{name}: several sessions in one log")
    if turn_open:
        notes.add(f"{name}: the turn never ended")


def _event(draft: Draft, kind: str, data: JsonDict, record: JsonDict, notes: Notes) -> None:
    if kind == "assistant/message":
        draft.model = as_text(as_dict(as_dict(data.get("message")).get("source")).get("model")) or draft.model
        draft.say(_text(data))
        _usage(draft, as_dict(data.get("usage")), notes)
    elif kind == "assistant/chunk":
        _usage(draft, as_dict(as_dict(data.get("chunk")).get("usage")), notes)
    elif kind == "tool/call":
        draft.call(data.get("callId"), data.get("name"), as_json(data.get("arguments", {})))
    elif kind == "tool/result":
        _result(draft, data, record)


def _result(draft: Draft, data: JsonDict, record: JsonDict) -> None:
    """Results name no call: they come in the order of the calls of their step."""
    given = data.get("callId")
    waiting = [clean(str(given))] if given is not None else draft.open[:1]
    error = as_dict(data.get("error"))
    parts = dicts(as_dict(data.get("message")).get("content"))
    for call_id in waiting:
        draft.calls.setdefault(call_id, ToolCall(id=call_id, name="unknown", arguments="{}"))
        draft.results[call_id] = ToolResult(
            id=call_id,
            text=as_text(error.get("name")) or _text(data),
            error=bool(error),
            images=sum(part.get("type") == "image" for part in parts),
        )


def _text(data: JsonDict) -> str:
    content = as_dict(data.get("message")).get("content")
    return content if isinstance(content, str) else texts(dicts(content))


def _usage(draft: Draft, usage: JsonDict, notes: Notes) -> None:
    if not usage:
        return
    cached, created = count(usage, "cacheReadTokens", notes), count(usage, "cacheWriteTokens", notes)
    draft.usage(
        Tokens(
            prompt=count(usage, "inputTokens", notes) + cached + created,
            cached=cached,
            cache_creation=created,
            output=count(usage, "outputTokens", notes),
            reasoning=count(usage, "reasoningTokens", notes),
        )
    )
