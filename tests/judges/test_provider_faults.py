"""The 39 answers of faults.json through the real SDKs: each has the outcome that a right client gives it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.judges.models import make_judge
from tests.judges.shapes import make_rubric, make_spec
from tests.standin.server import StandIn
from tests.standin.shapes import Fault
from vvb_assets.panels.judging import judge_request
from vvb_resources.benchmark.models import JudgeConfig, PanelConfig
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.providers.base import Services, provider_module
from vvb_resources.judges.reading import read_reply
from vvb_resources.judges.routing import Routed
from vvb_resources.judges.service import effective
from vvb_resources.judges.types import JudgeRequest, RawReply
from vvb_resources.media.blinding import BlindedMedia

FAULTS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "judges" / "faults.json").read_text())
PROVIDER_OF = {"gemini.generate": "google", "openai.responses": "openai", "anthropic.messages": "anthropic"}


@pytest.fixture(scope="module")
def service() -> Iterator[StandIn]:
    with StandIn(polls=0) as server:
        yield server


@pytest.fixture
def environment(service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)


def request_of(judge: JudgeConfig, media: BlindedMedia) -> JudgeRequest:
    rubric = make_rubric()
    return judge_request(Routed(judge, tuple(rubric.checks), ()), make_spec(), "Show EMBER.", media)


def answered(provider: str, media: BlindedMedia, root: Path) -> RawReply:
    judge = effective(make_judge(provider))
    made = provider_module(provider).create(judge, Services(ObservationCache(root)))
    try:
        return made.answer(request_of(judge, media))
    finally:
        made.close()


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_fault(name: str, service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path) -> None:
    fault = FAULTS[name]
    provider = PROVIDER_OF[fault["route"]]
    kind = "body" if fault["status"] == 200 else "status"
    service.push(fault["route"], Fault(kind, fault["status"], fault.get("headers") or {}, fault["body"]))
    raw = answered(provider, clip, tmp_path)
    text = provider_module(provider).reply_text(raw.body)
    reading = read_reply(text, ("c1", "c2"), ("q",), outcome=raw.outcome)
    assert reading.outcome == fault["expect"]
    assert json.loads(raw.body) == fault["body"] or raw.body.decode() in json.dumps(fault["body"])
    if fault["status"] != 200:
        assert raw.unbilled
    assert RawReply.from_json(json.loads(json.dumps(raw.to_json()))) == raw


def test_there_are_39_faults() -> None:
    assert len(FAULTS) == 39


def test_the_service_says_when_to_ask_again(
    service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path
) -> None:
    service.push("gemini.generate", Fault("status", 429, {}, FAULTS["g_429_retryinfo"]["body"]))
    assert answered("google", clip, tmp_path).retry_after_s == 53.0
    service.push("openai.responses", Fault("status", 429, {"retry-after": "7"}))
    assert answered("openai", clip, tmp_path).retry_after_s == 7.0
    service.push("anthropic.messages", Fault("status", 529, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}))
    assert answered("anthropic", clip, tmp_path).retry_after_s == 0.0


@pytest.mark.parametrize("provider", ["google", "openai", "openai_compatible", "anthropic"])
@pytest.mark.parametrize("kind", ["drop", "drop_mid"])
def test_a_lost_connection_is_asked_again_and_may_have_been_billed(
    provider: str, kind: str, service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path
) -> None:
    route = {**{v: k for k, v in PROVIDER_OF.items()}, "openai_compatible": "openai.chat"}[provider]
    service.push(route, Fault(kind))
    raw = answered(provider, clip, tmp_path)
    assert (raw.outcome, raw.unbilled, dict(raw.usage)) == ("retry", False, {})
    assert "connection lost" in str(raw.fault)


@pytest.mark.parametrize("provider", ["google", "openai", "openai_compatible", "anthropic"])
def test_an_answer_is_whole_and_its_tokens_are_those_billed(
    provider: str, service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path
) -> None:
    raw = answered(provider, clip, tmp_path)
    assert (raw.outcome, raw.fault) == ("ok", None)
    reading = read_reply(provider_module(provider).reply_text(raw.body), ("V1", "A1", "X1", "V2"), ())
    assert reading.complete
    billed = service.paid()[-1].usage
    counted = {kind: count for kind, count in raw.usage.items() if kind in ("input", "cache_write") and count}
    assert counted == {kind: count for kind, count in billed.items() if kind != "output"}
    assert raw.usage["output"] + raw.usage.get("thinking", 0) == billed["output"]


def test_the_papers_judges_fit_their_providers(service: StandIn, environment: None, tmp_path: Path) -> None:
    made = {}
    for file in sorted((Path(__file__).parents[2] / "task_data" / "paper" / "panels").glob("*.yaml")):
        panel = PanelConfig.model_validate(YAML(typ="safe").load(file.read_text()))
        for judge in panel.judges:
            made[judge.id] = provider_module(judge.provider).create(judge, Services(ObservationCache(tmp_path)))
    assert {name: type(provider).__name__ for name, provider in made.items()} == {
        "argon": "GoogleProvider",
        "flash": "GoogleProvider",
        "omni": "CompatibleProvider",
        "sol": "OpenAIProvider",
    }


def test_no_upload_is_left(service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path) -> None:
    assert answered("google", clip, tmp_path).outcome == "ok"
    assert service.files == {}


def test_a_stuck_upload_is_deleted_and_tried_again(
    service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path
) -> None:
    judge = effective(make_judge("google", limits={"upload_s": 0.3}))
    made = provider_module("google").create(judge, Services(ObservationCache(tmp_path)))
    service.push("gemini.chunk", Fault("stuck"))
    first = made.answer(request_of(judge, clip))
    assert first.outcome == "retry"
    assert "PROCESSING" in str(first.fault)
    assert service.files == {}
    assert made.answer(request_of(judge, clip)).outcome == "ok"
    made.close()
    assert service.files == {}


def test_a_refused_schema_is_said_in_words(
    service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path
) -> None:
    for provider in ("google", "openai", "openai_compatible", "anthropic"):
        judge = effective(make_judge(provider))
        made = provider_module(provider).create(judge, Services(ObservationCache(tmp_path)))
        raw = made.answer(dataclasses.replace(request_of(judge, clip), plain=True))
        made.close()
        assert raw.outcome == "ok"
        sent = json.dumps(service.paid()[-1].json)
        assert "additionalProperties" in service.paid()[-1].text  # the schema, as text
        assert not any(word in sent for word in ("responseJsonSchema", "json_schema"))


def test_a_rate_that_was_not_applied_stops_the_judge(
    service: StandIn, environment: None, clip: BlindedMedia, tmp_path: Path
) -> None:
    """4 frames a second were asked for and the bill is for one: 8 s x 4 x 70 = 2240 tokens against 560."""
    judge = effective(make_judge("google", sampling={"fps": 4}, parameters={"tokens_per_frame": 70}))
    made = provider_module("google").create(judge, Services(ObservationCache(tmp_path)))
    assert made.answer(request_of(judge, clip)).outcome == "ok"
    body = json.loads(json.dumps(FAULTS["g_ok"]["body"]))
    body["usageMetadata"]["promptTokensDetails"] = [{"modality": "VIDEO", "tokenCount": 560}]
    service.push("gemini.generate", Fault("body", 200, {}, body))
    raw = made.answer(request_of(judge, clip))
    made.close()
    assert (raw.outcome, raw.stops_judge) == ("fatal", True)
    assert "billed 560 tokens of video, 2240 expected" in str(raw.fault)
