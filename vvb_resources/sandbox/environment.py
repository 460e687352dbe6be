"""What an agent is told: the fixed instruction, ENVIRONMENT.md, prompt.txt and spec.json.

The protocol is the paper's (VibeVideoBench, sections 3 and 4, appendix on sandbox and instruction): one fixed
instruction for every system, a wall-clock budget that includes everything, no other limit, the deliverables, and an
honest account at the end. Nothing of a rubric ever comes here.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Sequence
from typing import Any

from vvb_resources.benchmark.models import SandboxPolicy, TaskSpec
from vvb_resources.sandbox.toolchain import TOOLS

INSTRUCTION = (
    "Start by reading ENVIRONMENT.md and prompt.txt in the current folder. Do the task that they describe and nothing "
    "else, on your own from start to end with the tools you have here: nobody will answer questions or follow up. "
    "The finished files must lie in delivery/ before the deadline that ENVIRONMENT.md states."
)

DEADLINE_VARIABLE = "VVB_DEADLINE"
"""The whole second of Unix time before the deadline, as ENVIRONMENT.md has it."""
REACH = {
    "none": "The network is not to be used: everything you need is here.",
    "gateway": "The network is not to be used (your model is reached another way): everything you need is here.",
    "gateway_and_mirrors": "Of the network only package mirrors (pip, npm, apt) may be used.",
    "open": "The network may be used.",
}
CHANNELS = ("narration", "music", "effects", "ambience")


def spec_json(spec: TaskSpec) -> dict[str, Any]:
    """The machine-readable part of a task that an agent sees, without the taxonomy and the choice of checks."""
    delivery = spec.delivery
    return {
        "id": spec.id,
        "title": spec.title,
        "language": spec.language,
        "kind": spec.kind,
        "delivery": delivery.model_dump(),
        "audio": {channel: getattr(spec.audio, channel) for channel in CHANNELS},
        "freedom": spec.freedom,
    }


def environment_md(policy: SandboxPolicy, deadline: float, tools: Sequence[tuple[str, str]]) -> str:
    """ENVIRONMENT.md. `deadline` is Unix time in seconds; the agent is told the whole second before it.

    Each of the lines `Deadline:`, `Deadline (Unix time):` and `Budget:` stands once, alone, for programs to read.
    """
    told = math.floor(deadline)
    listed = "\n".join(f"- `{name}`: {what}" for name, what in tools)
    reach = REACH[policy.network]
    return f"""# Environment

## Time
Deadline: {dt.datetime.fromtimestamp(told, dt.UTC).isoformat()}
Deadline (Unix time): {told}
Budget: {policy.deadline_s:g} s

The budget is wall-clock time and covers everything: waiting for a model, tools, speech synthesis, previews and the
final render. At the deadline every process is killed, and what lies in `delivery/` at that moment is what you deliver.
Leave time for the final render. The number of tokens, tool calls and previews is not limited.

## The task
- `prompt.txt`: the task. It is the only thing to be done here.
- `spec.json`: the same task's format in machine-readable form (size, frame rate, duration, audio channels).
- `inputs/`: the files that come with the task; read-only, and empty if there are none.

## What to deliver
In `delivery/`:
- the finished video: exactly one MP4 file, directly in `delivery/`. Work under another name elsewhere (in `tmp/`) and
  move it there when it is complete, so that a half-written file is never taken for it;
- `project/`: the editable source from which the video can be made again;
- `timing.csv`, `timing.json` or `timing.md`: the timing sheet, what happens when;
- `notes.md`: production notes. Finish them with what you verified of the result and what you found, honestly: say what
  was not checked and what does not work.

The pictures and sounds are to be made by code. Models that generate images or videos are not allowed.

## What you have
- the current folder, with `tmp/` (TMPDIR) for intermediate files and `home/` (HOME);
{listed}
- memory: {policy.memory_mb} MiB; processes: {policy.processes}; largest file: {policy.file_mb} MiB.
- {reach}
"""


def brief_files(
    spec: TaskSpec, prompt: str, policy: SandboxPolicy, deadline: float, tools: Sequence[tuple[str, str]] = TOOLS
) -> dict[str, str]:
    """The files of the work folder by name: the same text goes to the agent and into the rollout's `brief/`."""
    return {
        "ENVIRONMENT.md": environment_md(policy, deadline, tools),
        "prompt.txt": prompt,
        "spec.json": json.dumps(spec_json(spec), ensure_ascii=False, indent=1) + "\n",
    }
