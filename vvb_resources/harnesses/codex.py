"""Codex CLI, headless (`codex exec`), and its rollout log.

`event_msg/token_count` reports the last request and a running total; input includes cached tokens, output includes
reasoning. The same report can come twice: it is the running total that tells a repetition from an equal request.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
    numbered,
    own_lines,
)
from vvb_resources.harnesses.trajectory.types import Tokens

LOG_FILES = ("**/*.jsonl",)
ENVELOPE = frozenset({"payload"})
TOKEN_VARIABLE = "VVB_MODEL_TOKEN"
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")


class CodexOptions(Options):
    """`summary`: how much of its reasoning the service sums up in the log. `web_search` needs an open network."""

    summary: Literal["auto", "concise", "detailed", "none"] = "auto"
    verbosity: Literal["low", "medium", "high"] | None = None
    web_search: bool = False


@dataclass(frozen=True)
class Codex:
    """See `base.Harness`."""

    id: str = "codex"
    options: type[Options] = CodexOptions

    def wire(self, system: SystemConfig) -> Wire:
        """OpenAI's responses."""
        return "openai_responses"

    def launch(self, context: LaunchContext) -> Launch:
        """`codex exec` with a provider of its own in config.toml: the gateway."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(CodexOptions, system)
        lines = [f"model = {_toml(model)}", 'model_provider = "gateway"', "check_for_update_on_startup = false"]
        lines += [f"model_reasoning_summary = {_toml(options.summary)}"]
        lines += [f"model_reasoning_effort = {_toml(system.effort)}"] if system.effort else []
        lines += [f"model_verbosity = {_toml(options.verbosity)}"] if options.verbosity else []
        lines += [f"web_search = {_toml('live' if options.web_search else 'disabled')}"]
        lines += ["", "[analytics]", "enabled = false"]
        lines += [
            "",
            "[model_providers.gateway]",
            'name = "gateway"',
            f"base_url = {_toml(access.url(self.wire(system)))}",
        ]
        lines += [f"env_key = {_toml(TOKEN_VARIABLE)}", 'wire_api = "responses"']
        argv = ("codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "--json")
        return Launch(
            argv=(*argv, "--", context.instruction),
            env={"CODEX_HOME": f"{context.view.work}/home/.codex", TOKEN_VARIABLE: access.token, **system.env},
            log="home/.codex/sessions",
            parser=self.id,
            files={"home/.codex/config.toml": "\n".join(lines) + "\n"},
        )


HARNESS = Codex()


def _toml(text: str) -> str:
    """A TOML string: JSON's escapes are a subset of TOML's."""
    return json.dumps(text)


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """Rollout logs -> steps. What lies between two token counts is one request's answer, and the tools' results."""
    reading = Reading()
    for file in files:
        records = own_lines(file, ENVELOPE, notes)
        in_order([moment(record.get("timestamp")) for record in records], file.name, notes)
        _File(reading, file.name, notes).read(records)
    return reading


class _File:
    """One log while it is read."""

    def __init__(self, reading: Reading, name: str, notes: Notes) -> None:
        self.reading, self.name, self.notes = reading, name, notes
        self.model: str | None = None
        self.answer: Draft | None = None
        self.counted = self.waits = self.turn_open = False
        self.running: Tokens | None = None
        self.sessions = 0

    def read(self, records: Sequence[JsonDict]) -> None:
        numbered(records, "ordinal", self.name, self.notes)
        for record in records:
            payload, at = as_dict(record.get("payload")), record.get("timestamp")
            match record.get("type"):
                case "session_meta":
                    self._session(payload)
                case "turn_context":
                    self.model = as_text(payload.get("model")) or self.model
                    self.waits = True
                case "response_item":
                    self._item(payload, at)
                case "event_msg":
                    self._event(payload, at)
        if self.turn_open:
            self.notes.add(f"{self.name}: the turn never ended")
        elif self.waits or (self.answer is not None and self.answer.silent):
            self.notes.add(f"{self.name}: ends before the model's answer")

    def _session(self, payload: JsonDict) -> None:
        self.sessions += 1
        if self.sessions > 1:
            self.notes.add(f"{self.name}: several sessions in one log")
        self.reading.session = self.reading.session or as_text(payload.get("id"))
        self.reading.version = self.reading.version or as_text(payload.get("cli_version"))

    def _event(self, payload: JsonDict, at: object) -> None:
        match payload.get("type"):
            case "token_count":
                info = as_dict(payload.get("info"))
                if info:
                    self._tokens(info, at)
            case "task_started" | "turn_started":
                self.turn_open = True
            case "task_complete" | "turn_complete":
                self.turn_open = self.waits = False

    def _draft(self, at: object) -> Draft:
        """The answer that is being read; a new one after the tools' results of the one before."""
        self.waits = False
        if self.answer is None:
            self.answer, self.counted = self.reading.new("agent", at, self.model), False
        return self.answer

    def _item(self, payload: JsonDict, at: object) -> None:
        kind = payload.get("type")
        if kind == "message":
            parts = dicts(payload.get("content"))
            if payload.get("role") == "assistant":
                self._next(at).say(texts(parts))
                return
            step = self.reading.new("user" if payload.get("role") == "user" else "system", at)
            step.say(texts(parts))
            step.images = sum(part.get("type") == "input_image" for part in parts)
            self.answer = None
        elif kind == "reasoning":
            self._next(at).think(texts(dicts(payload.get("summary"))))
        elif kind in CALLS:
            arguments = payload.get("arguments", payload.get("input", payload.get("action", {})))
            self._next(at).call(
                payload.get("call_id", payload.get("id")), payload.get("name", kind), as_json(arguments)
            )
        elif kind in OUTPUTS:
            output = payload.get("output")
            parts = dicts(output) or dicts(as_dict(output).get("content"))
            text = output if isinstance(output, str) else texts(parts)
            images = sum(part.get("type") == "input_image" for part in parts)
            failed = as_dict(output).get("success") is False
            self.reading.answer(payload.get("call_id"), text, self.notes, error=failed, images=images)
            self.waits = kind == "function_call_output"  # what a custom tool puts out may be the end of a turn

    def _next(self, at: object) -> Draft:
        """The answer to add to: results of tools close one, and so does the count that follows it."""
        if self.answer is not None and self.answer.results:
            self.answer = None
        return self._draft(at)

    def _tokens(self, info: JsonDict, at: object) -> None:
        last, running = self._usage(info.get("last_token_usage")), self._usage(info.get("total_token_usage"))
        if running == self.running and self.running is not None:
            return  # the same report once more
        before = self.running or Tokens()
        if running != before + last:
            self.notes.add(f"{self.name}: the running total of tokens does not follow from the counts before it")
        self.running = running
        if (
            self.counted
        ):  # older logs tell the tokens of an answer before its items, newer ones after its tools' results
            self.answer = None
        self._draft(at).usage(last)
        self.counted = True

    def _usage(self, value: object) -> Tokens:
        usage = as_dict(value)
        return Tokens(
            prompt=count(usage, "input_tokens", self.notes),
            cached=count(usage, "cached_input_tokens", self.notes),
            cache_creation=count(usage, "cache_write_input_tokens", self.notes),
            output=count(usage, "output_tokens", self.notes),
            reasoning=count(usage, "reasoning_output_tokens", self.notes),
        )
