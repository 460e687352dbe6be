"""What an agent is told."""

from __future__ import annotations

import datetime as dt
import json
import re

from tests.rollouts.conftest import make_spec
from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.sandbox.environment import INSTRUCTION, brief_files

DEADLINE = 1_800_000_000.75  # 2027-01-15 08:00:00.75 UTC


def lines(text: str, name: str) -> list[str]:
    return re.findall(rf"^{re.escape(name)}: (.*)$", text, flags=re.MULTILINE)


def test_deadline_and_budget_stand_once_each_for_programs() -> None:
    text = brief_files(make_spec(), "Do it.", SandboxPolicy(deadline_s=90), DEADLINE)["ENVIRONMENT.md"]
    assert lines(text, "Deadline (Unix time)") == ["1800000000"]  # the whole second before
    assert lines(text, "Deadline") == ["2027-01-15T08:00:00+00:00"]
    assert dt.datetime.fromisoformat(lines(text, "Deadline")[0]).timestamp() == 1_800_000_000
    assert lines(text, "Budget") == ["90 s"]


def test_spec_holds_what_the_contract_says_and_no_taxonomy() -> None:
    spec = json.loads(brief_files(make_spec(), "Do it.", SandboxPolicy(), DEADLINE)["spec.json"])
    assert spec == {
        "id": "BALL",
        "title": "A ball",
        "language": "en",
        "kind": "core",
        "delivery": {"width": 64, "height": 48, "fps": 25.0, "duration": {"min": 1.0, "max": 2.0}, "frames": 25},
        "audio": {"narration": "not_used", "music": "optional", "effects": "required", "ambience": "not_used"},
        "freedom": "All else.",
    }


def test_prompt_is_given_whole() -> None:
    prompt = "# Titel\n\nErste Zeile: „ü“\n"
    assert brief_files(make_spec(), prompt, SandboxPolicy(), DEADLINE)["prompt.txt"] == prompt


def test_network_is_told_as_the_policy_has_it() -> None:
    closed, opened = (
        brief_files(make_spec(), "x", SandboxPolicy(network=network), DEADLINE)["ENVIRONMENT.md"]
        for network in ("none", "open")
    )
    assert "The network is not to be used" in closed
    assert "The network may be used" in opened


def test_instruction_names_the_files_to_read() -> None:
    assert all(word in INSTRUCTION for word in ("ENVIRONMENT.md", "prompt.txt", "delivery/", "deadline"))
