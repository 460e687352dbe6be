"""Every parameter a panel's file may give reaches the wire through the real SDK, by the service's own name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.judges.models import make_desk, make_panel
from tests.judges.shapes import make_rubric, make_spec
from tests.standin.server import StandIn
from vvb_assets.panels.judging import judge_run
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.providers import anthropic, google, openai, openai_compatible
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.media.blinding import BlindedMedia

# (provider, parameters, what has to stand on the wire); a name may be in several rows
ROWS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    (
        "google",
        {"temperature": 0.5, "seed": 7, "top_p": 0.9, "thinking_level": "low", "service_tier": "flex"},
        ('"temperature": 0.5', '"seed": 7', '"topP": 0.9', '"thinking_level": "LOW"', "flex"),
    ),
    (
        "google",
        {"thinking_budget": 128, "media_resolution": "high", "tokens_per_frame": 70},
        ('"thinking_budget": 128', "MEDIA_RESOLUTION_HIGH"),
    ),
    (
        "openai",
        {"effort": "low", "temperature": 0.5, "top_p": 0.9, "detail": "low"}
        | {"service_tier": "flex", "verbosity": "low"},
        ('"effort": "low"', '"temperature": 0.5', '"top_p": 0.9', '"detail": "low"', '"flex"', '"verbosity": "low"'),
    ),
    (
        "openai_compatible",
        {
            "temperature": 0.5,
            "seed": 7,
            "top_p": 0.9,
            "stream": True,
            "modalities": ["text"],
            "structured": "json_object",
        },
        (
            '"temperature": 0.5',
            '"seed": 7',
            '"top_p": 0.9',
            '"stream": true',
            '"modalities": ["text"]',
            '"type": "json_object"',
        ),
    ),
    (
        "openai_compatible",
        {"structured": "none", "sound": "data_url", "sound_rate": 8000, "extra": {"top_k": 3}}
        | {"tokens_per_frame": 60, "sound_tokens_per_s": 20},
        ("data:;base64,", '"top_k": 3', "JSON Schema"),
    ),
    (
        "anthropic",
        {"effort": "low", "thinking": {"type": "enabled", "budget_tokens": 1024}, "service_tier": "auto"},
        ('"effort": "low"', '"budget_tokens": 1024', '"service_tier": "auto"'),
    ),
)
MODULES = {"google": google, "openai": openai, "openai_compatible": openai_compatible, "anthropic": anthropic}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn(polls=0) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def test_every_parameter_is_in_a_row() -> None:
    for provider, module in MODULES.items():
        assert {name for p, given, _ in ROWS if p == provider for name in given} == set(module.PARAMETERS), provider


@pytest.mark.parametrize(("provider", "parameters", "wire"), ROWS)
def test_parameters_on_the_wire(
    provider: str,
    parameters: dict[str, Any],
    wire: tuple[str, ...],
    service: StandIn,
    clip: BlindedMedia,
    tmp_path: Path,
) -> None:
    panel = make_panel(provider, parameters=parameters)
    store, cache = ReplyStore(tmp_path / "replies"), ObservationCache(tmp_path / "seen")
    judgment = judge_run(panel, make_rubric(), make_spec(), "Show EMBER.", clip, store, cache, desk=make_desk(tmp_path))
    assert judgment.complete
    sent = json.dumps(service.paid()[-1].json)
    for part in wire:
        assert part in sent, part
