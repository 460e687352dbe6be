"""Antigravity CLI, headless (`agy`), and its stream of events.

Its transcript tells no tokens; the stream on stdout does: `step_update` events with `usage` (the largest of a step
counts; what was read from the cache is not in the input and is added), then a `result` with the total.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from vvb_resources.benchmark.models import SystemConfig, Wire
from vvb_resources.harnesses.base import Launch, LaunchContext, Options, needed_access, needed_model, read_options
from vvb_resources.harnesses.trajectory.draft import Draft, Reading
from vvb_resources.harnesses.trajectory.lines import (
    JsonDict,
    LogFile,
    Notes,
    as_dict,
    as_json,
    as_text,
    count,
    dicts,
)
from vvb_resources.harnesses.trajectory.types import Tokens, total

LOG_FILES = ("**/stdout.txt", "**/transcript_full.jsonl", "**/*.jsonl")


class AntigravityOptions(Options):
    """`print_timeout`: after what time it gives up by itself; longer than any deadline by default."""

    print_timeout: str = "24h"


@dataclass(frozen=True)
class Antigravity:
    """See `base.Harness`."""

    id: str = "antigravity"
    options: type[Options] = AntigravityOptions

    def wire(self, system: SystemConfig) -> Wire:
        """Gemini's generateContent."""
        return "gemini"

    def launch(self, context: LaunchContext) -> Launch:
        """`agy --prompt`; its log is its standard output, kept by the sandbox."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(AntigravityOptions, system)
        argv = ["agy", "--dangerously-skip-permissions", "--print-timeout", options.print_timeout]
        argv += ["--output-format", "stream-json", "--add-dir", context.view.work, "--model", model]
        argv += ["--effort", system.effort] if system.effort else []
        return Launch(
            argv=(*argv, f"--prompt={context.instruction}"),
            env={
                "GEMINI_API_KEY": access.token,
                "GOOGLE_GEMINI_BASE_URL": access.url("gemini"),
                "AGY_CLI_DISABLE_AUTO_UPDATE": "true",
                **system.env,
            },
            log="home/.gemini/antigravity-cli/brain",
            parser=self.id,
            files={"home/.gemini/antigravity-cli/settings.json": json.dumps({"modelProvider": "gemini"}) + "\n"},
            stdout_is_log=True,
        )


HARNESS = Antigravity()


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """The stream's events -> steps by index; the transcript's texts and calls join them."""
    reading = Reading()
    steps: dict[int, Draft] = {}
    whole: Tokens | None = None
    ended = False
    for file in files:
        for record in file.records:
            usage = as_dict(as_dict(record.get("result")).get("usage"))
            if record.get("type") == "result" or usage:
                ended = True
                whole = _tokens(usage, notes) if usage else whole
                continue
            payload = as_dict(record.get("step_update")) or record
            index = payload.get("step_index")
            reading.version = as_text(record.get("version")) or reading.version
            if isinstance(index, int) and not isinstance(index, bool):
                _step(reading, steps, index, payload, notes)
    if whole is not None and steps and total(draft.tokens for draft in steps.values()) != whole:
        notes.add("the total of tokens differs from the sum over the steps")
    if not ended:
        notes.add("the stream has no result: the turn never ended")
    return reading


def _step(reading: Reading, steps: dict[int, Draft], index: int, payload: JsonDict, notes: Notes) -> None:
    """Add an event to its step; in-progress snapshots come before the whole."""
    user = payload.get("type") == "USER_INPUT"
    draft = steps.get(index)
    if draft is None:
        draft = steps[index] = reading.new("user" if user else "agent", payload.get("created_at"), payload.get("model"))
    text, thought = as_text(payload.get("content")), as_text(payload.get("thinking"))
    draft.message = [text] if text else draft.message
    draft.reasoning = [thought] if thought else draft.reasoning
    for place, call in enumerate(dicts(payload.get("tool_calls"))):
        draft.call(f"{index}-{place}", call.get("name"), as_json(call.get("args", call.get("arguments", {}))))
        draft.answered_elsewhere(f"{index}-{place}")
    usage = as_dict(payload.get("usage"))
    if usage:
        draft.usage(_tokens(usage, notes))


def _tokens(usage: JsonDict, notes: Notes) -> Tokens:
    cached = count(usage, "cache_read_tokens", notes)
    return Tokens(
        prompt=count(usage, "input_tokens", notes) + cached,
        cached=cached,
        output=count(usage, "output_tokens", notes),
        reasoning=count(usage, "thinking_tokens", notes),
    )
