"""The vendors' own programs in containers, from the first call of the model to the leaderboard."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.docker.engine import AGENTS, Engine
from tests.e2e.platform import Platform, copy_of_starter
from tests.standin.scripted import ScriptedModel

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("docker")]

HARNESSES = {
    "claude_code": ("ANTHROPIC_API_KEY", "claude-stand-in", ""),
    "codex": ("OPENAI_API_KEY", "gpt-stand-in", "/v1"),
    "gemini_cli": ("GEMINI_API_KEY", "gemini-2.5-flash", ""),
}
KEY = "key-that-no-container-may-see"
SYSTEM = """
id: {id}
name: {id}
lab: Tests
harness: {id}
model: {model}
endpoint: {endpoint}
"""
BENCHMARK = """
name: starter
title: Harnesses in containers
version: "1.0"
sandbox:
  {{kind: docker, image: "{image}", network: gateway, deadline_s: 240, cpus: 2, memory_mb: 2048, processes: 512}}
budgets: {{workers: 1}}
"""


@pytest.fixture
def agents_image(docker: Engine) -> str:
    """The reduced image with the three harnesses."""
    docker.build_agents()
    return AGENTS


@dataclass(frozen=True)
class Keyed(Platform):
    """A platform whose environment holds the services' keys."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **{key: KEY for key, _, _ in HARNESSES.values()}}


def test_real_harnesses_make_videos_that_reach_the_leaderboard(
    docker: Engine, agents_image: str, tmp_path: Path
) -> None:
    with ScriptedModel() as model:
        benchmark = copy_of_starter(tmp_path, ("BOUNCE",), ("none",))
        for name, (_, model_name, suffix) in HARNESSES.items():
            text = SYSTEM.format(id=name, model=model_name, endpoint=model.url + suffix)
            (benchmark / "systems" / f"{name}.yaml").write_text(text)
        (benchmark / "benchmark.yaml").write_text(BENCHMARK.format(image=agents_image))
        platform = Keyed(benchmark, tmp_path / "home")
        report = platform.json("run")
    assert report["failed"] == {}
    assert {wire for wire, _, _ in model.requests} == {"anthropic", "openai_responses", "gemini"}

    rows = platform.json("leaderboard")["systems"]
    assert {row["system"]: row["delivered"] for row in rows} == dict.fromkeys(HARNESSES, 1)
    for name in HARNESSES:
        record: dict[str, Any] = json.loads((platform.payload("rollout", f"{name}|BOUNCE") / "record.json").read_text())
        assert (record["ended"], record["attempts"], record["video"]["state"]) == ("self", 1, "present"), record
        assert record["isolation"]["network"] == "closed"
        assert record["usage"]["prompt_tokens"] > 0
        assert record["usd"] is None, "an unpriced model costs null, never nothing"
    manifests = platform.manifests()
    for name in HARNESSES:
        checks = manifests[f"rollout/{name}/BOUNCE"]["checks"]
        assert {check: verdict["passed"] for check, verdict in checks.items()} == dict.fromkeys(checks, True), checks
    holding = subprocess.run(
        ["grep", "-rlF", KEY, str(platform.home)], capture_output=True, text=True, check=False
    ).stdout.split()
    assert holding == [], "a key was written down"
