"""The paper's panels asked of a stand-in: a platform whose judges are there, and what to look for on the wire."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.e2e.platform import REPOSITORY, Platform
from tests.standin.server import Call, StandIn

PANELS = REPOSITORY / "task_data" / "paper" / "panels"
PRICES = """
date: 2099-01-01
source: made up for a test
models:
  gemini-4-argon: {input: 2, cached: 0.5, output: 12, batch: 0.5}
  gemini-3.8-flash: {input: 0.5, output: 3}
  qwen3.8-omni-flash: {input: 1, output: 4}
  gpt-5.6-sol: {input: 2, output: 10, long_context: 272000, long_factor: 2}
"""
ROUTE = {"gemini-4-argon": "J1", "gemini-3.8-flash": "J2", "qwen3.8-omni-flash": "J3", "gpt-5.6-sol": "J3"}
TRACES = (b"x264 - core", b"Lavf", b"Lavc", b"title", b"\xa9too")


@dataclass(frozen=True)
class Asked(Platform):
    """A platform whose judges are at the stand-in, with panels that a test may edit."""

    service: StandIn
    panels: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.service.environment, "VVB_PANELS": str(self.panels)}


def paper_panels(folder: Path) -> Path:
    """A copy of the paper's panels in `folder`/panels, with prices beside them."""
    panels, prices = folder / "panels", folder / "prices"
    panels.mkdir()
    prices.mkdir()
    for file in PANELS.glob("*.yaml"):
        (panels / file.name).write_text(file.read_text())
    (prices / "2099-01-01.yaml").write_text(PRICES)
    return panels


def model_of(call: Call) -> str:
    """The model that a call asks."""
    found = re.search(r"models/([\w.-]+):", call.path)
    return found[1] if found else str(call.json.get("model"))


def texts(value: Any) -> list[str]:
    """Every string on the wire but the media themselves."""
    if isinstance(value, dict):
        return [t for v in value.values() for t in texts(v)]
    if isinstance(value, list):
        return [t for v in value for t in texts(v)]
    return [value] if isinstance(value, str) and len(value) < 100_000 and not value.startswith("data:") else []


def rubric(platform: Platform, task: str) -> dict[str, Any]:
    """A task's rubric as data."""
    loaded: dict[str, Any] = YAML(typ="safe").load((platform.benchmark / "tasks" / task / "rubric.yaml").read_text())
    return loaded


def prompt(platform: Platform, task: str) -> str:
    """A task's prompt."""
    return (platform.benchmark / "tasks" / task / "prompt.md").read_text()


def names(call: Call, platform: Platform, task: str) -> bool:
    """Is the call about this task: its prompt is on the wire."""
    first = prompt(platform, task).splitlines()[0]
    return json.dumps(first, ensure_ascii=False)[1:-1] in call.text


def videos_sent(service: StandIn) -> list[bytes]:
    """Every video that was uploaded, or sent inside a call."""
    sent = [bytes(upload["data"]) for upload in service.uploads.values() if upload["kind"] == "video/mp4"]
    parts = [p for c in service.calls("openai.chat") for p in c.json["messages"][1]["content"]]
    urls = [part["video_url"]["url"] for part in parts if part["type"] == "video_url"]
    return sent + [base64.b64decode(url.partition(",")[2]) for url in urls]
