"""Kimi Code, headless, and its wire log (wire protocol 1.5).

Input is told in three disjoint parts (other, read from the cache, written to it). A step's usage stands in its
`step.end`, and again in a `usage.record`: once counts.
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
    count,
    dicts,
    in_order,
    moment,
    own_lines,
)
from vvb_resources.harnesses.trajectory.types import Tokens

LOG_FILES = ("**/wire.jsonl",)
ENVELOPE = frozenset({"time", "protocol_version"})


class KimiCodeOptions(Options):
    """`context` is the model's context in tokens, `capabilities` what it can: the CLI knows only its own models."""

    context: int | None = None
    capabilities: tuple[str, ...] = ("image_in", "thinking")


@dataclass(frozen=True)
class KimiCode:
    """See `base.Harness`."""

    id: str = "kimi_code"
    options: type[Options] = KimiCodeOptions

    def wire(self, system: SystemConfig) -> Wire:
        """OpenAI's chat completions."""
        return "openai_chat"

    def launch(self, context: LaunchContext) -> Launch:
        """`kimi --prompt`, with its home below HOME."""
        system, access, model = context.system, needed_access(context), needed_model(context)
        options = read_options(KimiCodeOptions, system)
        url = access.url("openai_chat")
        env = {
            "KIMI_CODE_HOME": f"{context.view.work}/home/.kimi-code",
            "KIMI_MODEL_NAME": model,
            "KIMI_MODEL_API_KEY": access.token,
            "KIMI_MODEL_BASE_URL": url,
            "KIMI_API_KEY": access.token,
            "KIMI_BASE_URL": url,
            "KIMI_MODEL_CAPABILITIES": ",".join(options.capabilities),
            "KIMI_DISABLE_TELEMETRY": "true",
            "KIMI_CODE_NO_AUTO_UPDATE": "true",
            **({"KIMI_MODEL_THINKING_EFFORT": system.effort} if system.effort else {}),
            **({"KIMI_MODEL_MAX_CONTEXT_SIZE": str(options.context)} if options.context else {}),
        }
        return Launch(
            argv=("kimi", "--output-format", "stream-json", "--prompt", context.instruction),
            env={**env, **system.env},
            log="home/.kimi-code/sessions",
            parser=self.id,
        )


HARNESS = KimiCode()


def parse(files: Sequence[LogFile], notes: Notes) -> Reading:
    """Wire logs -> steps, one for each step of the loop."""
    reading = Reading()
    for file in files:
        records = own_lines(file, ENVELOPE, notes)
        in_order([moment(record.get("time")) for record in records], file.name, notes)
        _read(reading, file.name, records, notes)
    return reading


def _read(reading: Reading, name: str, records: Sequence[JsonDict], notes: Notes) -> None:
    steps: dict[str, Draft] = {}
    model: str | None = None
    turn_open = False
    for record in records:
        at = record.get("time")
        match record.get("type"):
            case "llm.request":
                model = as_text(record.get("model")) or model
                for draft in list(steps.values())[-1:]:
                    draft.model = model
            case "turn.prompt":
                reading.new("user", at).say(texts(dicts(record.get("input"))))
                turn_open = True
            case "turn.ended":
                turn_open = False
            case "context.append_loop_event":
                event = as_dict(record.get("event"))
                kind = event.get("type")
                key = as_text(event.get("stepUuid")) or as_text(event.get("uuid")) or str(event.get("step"))
                if kind == "step.begin":
                    steps[key] = reading.new("agent", at, model)
                elif steps:
                    _event(reading, steps.get(key) or list(steps.values())[-1], event, notes)
    if turn_open:
        notes.add(f"{name}: the turn never ended")


def _event(reading: Reading, draft: Draft, event: JsonDict, notes: Notes) -> None:
    match event.get("type"):
        case "content.part":
            part = as_dict(event.get("part"))
            draft.think(part.get("think")) if part.get("type") == "think" else draft.say(part.get("text"))
        case "tool.call":
            draft.call(event.get("toolCallId"), event.get("name"), as_json(event.get("args", {})))
        case "tool.result":
            result = as_dict(event.get("result"))
            output = result.get("output")
            parts = dicts(output)
            reading.answer(
                event.get("toolCallId"),
                output if isinstance(output, str) else texts(parts),
                notes,
                error=result.get("isError") is True,
                images=sum(part.get("type") in ("image_url", "image") for part in parts),
            )
        case "step.end":
            usage = as_dict(event.get("usage"))
            if usage:
                cached, created = count(usage, "inputCacheRead", notes), count(usage, "inputCacheCreation", notes)
                draft.usage(
                    Tokens(
                        prompt=count(usage, "inputOther", notes) + cached + created,
                        cached=cached,
                        cache_creation=created,
                        output=count(usage, "output", notes),
                    )
                )
