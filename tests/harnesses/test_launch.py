"""What each harness makes of a system and a context: pure, without a key, with addresses and paths of the context."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from vvb_resources.benchmark.models import SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import GATEWAY_PATHS, Launch, LaunchContext, ModelAccess, get_harness, harness_ids
from vvb_resources.sandbox.base import SandboxView

VIEW = SandboxView(work="/inside/work", agent="/inside/agent", python="/inside/python", path="/inside/bin")
ACCESS = ModelAccess("http://gateway.test:7", "token-of-the-run")
WITH_MODEL = tuple(name for name in harness_ids() if name != "generic")
NO_EFFORT = ("gemini_cli", "qwen_code")


def launch(harness: str, access: ModelAccess | None = ACCESS, **fields: Any) -> Launch:
    system = SystemConfig.model_validate(
        {"id": "s", "name": "S", "lab": "L", "harness": harness, "model": "m-1", **fields}
    )
    return get_harness(harness).launch(LaunchContext(system, "Do it.", VIEW, access, 1.0))


def everything(launched: Launch) -> str:
    return json.dumps([launched.argv, launched.env, launched.files, launched.log])


@pytest.mark.parametrize("harness", WITH_MODEL)
def test_a_vendors_harness_gets_the_gateway_and_nothing_of_this_machine(
    harness: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "KIMI_API_KEY"):
        monkeypatch.setenv(name, "sk-of-this-machine")
    system = SystemConfig(id="s", name="S", lab="L", harness=harness, model="m-1")
    wire = get_harness(harness).wire(system)
    assert wire is not None
    launched = launch(harness)
    assert launched == launch(harness)
    text = everything(launched)
    assert "http://gateway.test:7" + GATEWAY_PATHS[wire] in text
    assert "token-of-the-run" in text
    assert "m-1" in text
    assert "sk-of-this-machine" not in text
    assert "token-of-the-run" not in " ".join(launched.argv), "every process of a machine can read argument lists"
    assert launched.argv[-1].endswith("Do it.")
    assert launched.parser == harness
    assert launched.log is not None
    for path in (launched.log, *launched.files):
        assert path.startswith("home/")


@pytest.mark.parametrize("harness", WITH_MODEL)
def test_what_it_cannot_do_without_and_what_it_does_not_know(harness: str) -> None:
    with pytest.raises(SandboxError, match="needs a model gateway"):
        launch(harness, None)
    with pytest.raises(SandboxError, match="names no model"):
        launch(harness, model=None)
    with pytest.raises(SandboxError, match=f"harness {harness} knows: "):
        launch(harness, options={"no_such_option": 1})
    if harness in NO_EFFORT:
        with pytest.raises(SandboxError, match=f"harness {harness} has no effort"):
            launch(harness, effort="high")
    else:
        assert "very-high" in everything(launch(harness, effort="very-high"))


def test_codex_reads_its_configuration_back() -> None:
    config = tomllib.loads(launch("codex", effort="max").files["home/.codex/config.toml"])
    assert (config["model"], config["model_provider"], config["model_reasoning_effort"]) == ("m-1", "gateway", "max")
    provider = config["model_providers"]["gateway"]
    assert provider["base_url"] == "http://gateway.test:7/openai/v1"
    assert launch("codex").env[provider["env_key"]] == "token-of-the-run"


def test_options_reach_the_command() -> None:
    assert "--max-turns=7" in launch("claude_code", options={"max_turns": 7}).argv
    small = launch("claude_code", options={"small_model": "tiny"})
    assert small.env["ANTHROPIC_DEFAULT_HAIKU_MODEL"] == "tiny"
    settings = json.loads(launch("gemini_cli", options={"max_turns": 9}).files["home/.gemini/settings.json"])
    assert settings["model"] == {"maxSessionTurns": 9}
    assert launch("dsh", options={"launcher": "other"}).argv[0] == "other"


def test_generic_is_filled_in_from_yaml_alone() -> None:
    launched = launch(
        "generic",
        command=["{agent}/run", "--model={model}", "{prompt}", "{other}"],
        wire="openai_chat",
        env={"BASE": "{base_url}", "TOKEN": "{token}"},
        log="log.jsonl",
        parser="dsh",
    )
    assert launched.argv == ("/inside/agent/run", "--model=m-1", "Do it.", "{other}")
    assert launched.env == {"BASE": "http://gateway.test:7/openai/v1", "TOKEN": "token-of-the-run"}
    assert (launched.log, launched.parser) == ("log.jsonl", "dsh")
    scripted = launch("generic", None, command=["a", "{token}"], model=None)
    assert scripted.argv == ("a", "{token}")
