"""Claude Code, headless, and its session log.

A session log holds a line for each block of a message; the usage of a message's request is repeated, and grows, on each
of them. Subagents write logs of their own (or lines marked `isSidechain`), which count. `--output-format stream-json`
writes the same messages to stdout; either can be read. Source: the notes in docs/agents.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

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
    count,
    dicts,
    in_order,
    moment,
    own_lines,
)
from vvb_resources.harnesses.trajectory.types import Tokens

LOG_FILES = ("**/*.jsonl",)
ENVELOPE = frozenset({"sessionId", "session_id", "uuid", "leafUuid", "messageId"})


class ClaudeCodeOptions(Options):
    """`small_model` is what it uses for side tasks; by default the system's model, so that nothing else is called."""

    permission_mode: Literal["bypassPermissions", "acceptEdits", "dontAsk"] = "bypassPermissions"
    max_turns: int | None = Field(default=None, gt=0)
    small_model: str | None = None
    disallowed_tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaudeCode:
    """See `base.Harness`."""

    id: str = "claude_code"
    options: type[Options] = ClaudeCodeOptions

    def wire(self, system: SystemConfig) -> Wire:
        """Anthropic's messages."""
        return "anthropic"

    def launch(self, context: LaunchContext) -> Launch:
        """`claude --print`, with its configuration and log below HOME."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(ClaudeCodeOptions, system)
        argv = ["claude", "--print", "--verbose", "--output-format=stream-json"]
        argv += [f"--permission-mode={options.permission_mode}"]
        argv += [f"--effort={system.effort}"] if system.effort else []
        argv += [f"--max-turns={options.max_turns}"] if options.max_turns else []
        argv += [f"--disallowed-tools={','.join(options.disallowed_tools)}"] if options.disallowed_tools else []
        env = {
            "ANTHROPIC_BASE_URL": access.url("anthropic"),
            "ANTHROPIC_API_KEY": access.token,
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": options.small_model or model,
            "CLAUDE_CONFIG_DIR": f"{context.view.work}/home/.claude",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # it refuses to skip permissions as root anywhere else
        }
        return Launch(
            argv=(*argv, "--", context.instruction),
            env={**env, **system.env},
            log="home/.claude/projects",
            parser=self.id,
        )


HARNESS = ClaudeCode()


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """Session logs or stream-json -> steps. A message id is one request, whatever the number of its lines."""
    reading = Reading()
    messages: dict[str, Draft] = {}
    seen: set[str] = set()
    for file in files:
        sessions: list[str] = []
        latest: Draft | None = None
        waits = local = False
        records = own_lines(file, ENVELOPE, notes)
        lines = [record for record in records if record.get("type") in ("user", "assistant")]
        in_order([moment(record.get("timestamp")) for record in lines], file.name, notes)
        for number, record in enumerate(records):
            _meta(reading, record, sessions, file.name, notes)
            uuid = as_text(record.get("uuid"))
            if uuid is not None and uuid in seen:  # a resumed session repeats the lines that it goes on from
                continue
            seen |= {uuid} if uuid else set()
            kind, message = record.get("type"), as_dict(record.get("message"))
            if kind == "assistant":
                key = as_text(message.get("id")) or f"{file.name}:{number}"
                draft = messages.get(key)
                if draft is None:
                    draft = messages[key] = reading.new("agent", record.get("timestamp"), message.get("model"))
                _assistant(draft, message, notes)
                latest = draft
                if draft.requests:  # else the harness wrote the message itself, and nothing follows from it
                    waits = local = False
                else:
                    local = True
            elif kind == "user":
                answers, text = _user(reading, record, message, notes)
                local = local or record.get("isMeta") is True
                waits = waits or (not local and (answers or text))
            elif kind == "result" and record.get("subtype") == "success":
                waits = False
        if waits or (latest is not None and latest.silent):
            notes.add(f"{file.name}: ends before the model's answer")
    return reading


def _meta(reading: Reading, record: JsonDict, sessions: list[str], name: str, notes: Notes) -> None:
    """Session, version and cost, and whether the lines of one session stand together."""
    session = as_text(record.get("sessionId")) or as_text(record.get("session_id"))
    if session is not None and (not sessions or sessions[-1] != session):
        if session in sessions:
            notes.add(f"{name}: lines of several sessions are mixed")
        sessions.append(session)
    reading.session = reading.session or session
    reading.version = as_text(record.get("version")) or as_text(record.get("claude_code_version")) or reading.version
    if record.get("type") == "result":
        usd = record.get("total_cost_usd")
        if isinstance(usd, int | float) and not isinstance(usd, bool):
            reading.reported_usd = float(usd)


def _assistant(draft: Draft, message: JsonDict, notes: Notes) -> None:
    """Add a line's blocks and usage to its message."""
    for block in dicts(message.get("content")):
        kind = block.get("type")
        if kind == "text":
            draft.say(block.get("text"))
        elif kind == "thinking":
            draft.think(block.get("thinking"))
        elif kind == "tool_use":
            draft.call(block.get("id"), block.get("name"), as_json(block.get("input", {})))
    usage = as_dict(message.get("usage"))
    if usage and message.get("model") != "<synthetic>":
        cached = count(usage, "cache_read_input_tokens", notes)
        created = count(usage, "cache_creation_input_tokens", notes)
        draft.usage(
            Tokens(
                prompt=count(usage, "input_tokens", notes) + cached + created,
                cached=cached,
                cache_creation=created,
                output=count(usage, "output_tokens", notes),
            )
        )


def _user(reading: Reading, record: JsonDict, message: JsonDict, notes: Notes) -> tuple[bool, bool]:
    """A line of the user's side: (does it answer a call of the model, is it a text)."""
    content = message.get("content")
    answers = False
    for block in dicts(content):
        if block.get("type") == "tool_result":
            inner = block.get("content")
            text = inner if isinstance(inner, str) else texts(dicts(inner))
            images = sum(part.get("type") == "image" for part in dicts(inner))
            reading.answer(block.get("tool_use_id"), text, notes, error=block.get("is_error") is True, images=images)
            answers = True
    text = content if isinstance(content, str) else texts(dicts(content))
    images = sum(block.get("type") == "image" for block in dicts(content))
    if text or images:
        step = reading.new("user", record.get("timestamp"))
        step.say(text)
        step.images = images
    return answers, bool(text)
