"""Batches against the stand-in, with the unmodified SDKs: one payment a request, whatever happens on the way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.judges.models import PRICES, make_desk, make_panel
from tests.judges.shapes import make_rubric, make_spec
from tests.standin.server import StandIn
from tests.standin.shapes import Fault
from vvb_assets.panels.judging import Asking
from vvb_resources.benchmark.models import PanelConfig
from vvb_resources.judges.batches import Asked, BatchRunner
from vvb_resources.judges.calls import CallDesk, Money
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.ledger import CallLabels
from vvb_resources.judges.providers.base import Services, provider_module
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.routing import route
from vvb_resources.judges.types import JudgeRequest
from vvb_resources.judges.uploads import UploadList
from vvb_resources.media.blinding import BlindedMedia

REPOSITORY = Path(__file__).resolve().parents[2]
BATCHING = ("google", "openai", "anthropic")
COUNT = 4
HALF = PRICES.model_copy(update={"models": {"model": PRICES.models["model"].model_copy(update={"batch": 0.5})}})


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn(polls=0) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


class Bench:
    """A data home, a panel and some videos of which one judge is to be asked."""

    def __init__(self, root: Path, panel: PanelConfig, media: BlindedMedia) -> None:
        self.root, self.panel, self.media = root, panel, media
        self.replies, self.uploads = ReplyStore(root / "replies"), UploadList(root / "uploads")
        self.services = Services(ObservationCache(root / "seen"), self.uploads)

    def desk(self, **money: float) -> CallDesk:
        desk = make_desk(self.root)
        return replace(desk, money=Money(prices=HALF, **money), uploads=self.uploads)

    def runner(self, **money: float) -> BatchRunner:
        return BatchRunner(self.root / "batches", self.desk(**money), self.replies, self.services)

    def video(self, number: int) -> BlindedMedia:
        return replace(self.media, digest=f"{number:032x}")

    def asked(self) -> list[Asked]:
        """What one judge of the panel is still to be asked, a request a video."""
        found = []
        for number in range(COUNT):
            item = next(i for i in route(self.panel, make_rubric()) if i.judge.provider in BATCHING)
            item = replace(item, judge=item.judge.model_copy(update={"observations_from": None}))
            prompt = f"Task [[marker: {number}]]"
            asking = Asking(item, "P", make_spec(), prompt, self.video(number), self.replies, None, 0, None)
            request = asking.progress()
            if isinstance(request, JudgeRequest):
                found.append(Asked(request, "P"))
        return found


def spent(bench: Bench) -> tuple[float, float]:
    found = bench.desk().ledger.spent("run", CallLabels("benchmark", "run", "", "", ""))
    return found.paid, found.held


@pytest.mark.parametrize("provider", BATCHING)
def test_a_batch_is_paid_once_at_half_price_and_leaves_nothing(
    service: StandIn, clip: BlindedMedia, tmp_path: Path, provider: str
) -> None:
    bench = Bench(tmp_path, make_panel(provider), clip)
    asked = bench.asked()
    keys = {one.request.key for one in asked}
    assert bench.runner().ask(asked) == keys
    assert bench.asked() == []
    assert len(service.paid()) == COUNT
    for key in keys:
        raw = bench.replies.complete(key)
        assert raw is not None
        assert raw.outcome == "ok"
    rate = {"input": 2.0, "cache_write": 2.5, "output": 10.0}
    full = sum(rate[kind] * tokens for call in service.paid() for kind, tokens in call.usage.items()) / 1e6
    assert spent(bench) == (pytest.approx(full / 2), 0.0)
    assert list((tmp_path / "batches").glob("*.json")) == list((tmp_path / "uploads").glob("*.json")) == []
    assert service.files == service.batch_files == {}
    assert len({json.dumps(call.json) for call in service.paid()}) == COUNT
    for call in service.log:  # neutral everywhere: the stand-in refuses telling custom ids and file names
        assert "vector" not in json.dumps(call.json)


def camel(value: Any) -> Any:
    """A body with names as Gemini writes them (its SDK sends both spellings), but for the upload and a default role."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = {re.sub(r"_([a-z])", lambda m: m[1].upper(), name): item for name, item in value.items()}
    if "systemInstruction" in names:
        names["systemInstruction"].pop("role", None)
    return {name: camel(item) for name, item in names.items() if name != "fileUri"}


@pytest.mark.parametrize("provider", BATCHING)
def test_a_batched_request_is_the_one_that_a_call_would_make(
    service: StandIn, clip: BlindedMedia, tmp_path: Path, provider: str
) -> None:
    """The same body on the wire, and so the same key: a judgment finds the batch's reply and asks nothing more."""
    parameters: dict[str, dict[str, Any]] = {
        "google": {"media_resolution": "low", "temperature": 0, "seed": 7, "thinking_level": "low"},
        "openai": {"effort": "low", "verbosity": "low", "detail": "low"},
        "anthropic": {"effort": "low"},
    }
    panel = make_panel(provider, parameters=parameters[provider])
    bench = Bench(tmp_path, panel, clip)
    bench.runner().ask(bench.asked()[:1])
    (batched,) = service.calls(f"{'gemini' if provider == 'google' else provider}.batched")
    other = Bench(tmp_path / "other", panel, clip)
    (item, *_) = other.asked()
    made = provider_module(provider).create(item.request.judge, other.services)
    made.answer(item.request)
    direct = service.paid()[-1]
    assert camel(batched.json) == camel(direct.json)
    made.close()


def test_what_fails_in_a_batch_is_not_billed_and_can_be_asked_again(
    service: StandIn, clip: BlindedMedia, tmp_path: Path
) -> None:
    for provider in BATCHING:
        name = "gemini" if provider == "google" else provider
        bench = Bench(tmp_path / provider, make_panel(provider), clip)
        service.push(f"{name}.batched", Fault("status", 429), Fault("truncate"))
        asked = bench.asked()
        bench.runner().ask(asked)
        outcomes = [[raw.outcome for raw in bench.replies.all_of(one.request.key)] for one in asked]
        assert outcomes == [["retry"], ["truncated"], ["ok"], ["ok"]]
        assert spent(bench)[1] == 0.0
        assert bench.runner().ask(asked[:1]) == {asked[0].request.key}
        assert bench.replies.complete(asked[0].request.key) is not None


def test_a_limit_of_money_lets_through_what_it_covers(service: StandIn, clip: BlindedMedia, tmp_path: Path) -> None:
    bench = Bench(tmp_path, make_panel("openai"), clip)
    probe = Bench(tmp_path / "probe", make_panel("openai"), clip)
    runner = probe.runner()
    runner._line(runner._new(probe.asked()[0]), probe.asked()[0], 0)
    worst = spent(probe)[1]
    asked = bench.asked()
    first = bench.runner(usd_run=2.5 * worst).ask(asked)
    assert first == {one.request.key for one in asked[:2]}
    assert len(service.paid()) == 2
    assert sum(spent(bench)) <= 2.5 * worst


def test_a_service_that_cannot_be_reached_for_a_while(service: StandIn, clip: BlindedMedia, tmp_path: Path) -> None:
    """Dropped connections at handing over, at looking and at fetching: one batch all the same, paid once."""
    for provider in BATCHING:
        name = "gemini" if provider == "google" else provider
        bench, before = Bench(tmp_path / provider, make_panel(provider), clip), len(service.paid())
        service.push(f"{name}.batch", Fault("none"), Fault("drop_mid"), *[Fault("drop"), Fault("status", 503)] * 2)
        assert len(bench.runner().ask(bench.asked())) == COUNT
        assert len(service.paid()) - before == COUNT
        assert bench.asked() == []
        assert spent(bench)[1] == 0.0
        assert list((tmp_path / provider / "batches").glob("*.json")) == []


KILLED = """
import os, sys
from pathlib import Path
from tests.judges import test_batches as t
from tests.judges.models import make_panel
from vvb_resources.judges import batches
from vvb_resources.media.blinding import BlindedMedia
root, media, provider, moment = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
die = lambda *a, **k: os.kill(os.getpid(), 9)
if moment == "before":      # the record is on disk, nothing was handed over
    batches.BatchRunner._service = die
elif moment == "between":   # handed over, the id not yet on disk
    save, seen = batches.BatchRunner._save, []
    batches.BatchRunner._save = lambda self, batch: die() if batch.id else save(self, batch)
elif moment == "waiting":   # handed over and known
    batches.BatchRunner._collect = die
elif moment == "storing":   # half of the replies on disk
    put, count = t.ReplyStore.put, []
    def putting(self, *a):
        count.append(1)
        return die() if len(count) > 2 else put(self, *a)
    t.ReplyStore.put = putting
bench = t.Bench(root, make_panel(provider), BlindedMedia.load(media))
bench.runner().ask(bench.asked())
"""


@pytest.mark.parametrize("provider", BATCHING)
def test_killed_at_any_moment_nothing_is_paid_twice(
    service: StandIn, clip: BlindedMedia, tmp_path: Path, provider: str
) -> None:
    for moment in ("before", "between", "waiting", "storing") if provider == "google" else ("between", "storing"):
        root = tmp_path / moment
        before = len(service.paid())
        command = [sys.executable, "-c", KILLED, str(root), str(clip.folder), provider, moment]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        assert subprocess.run(command, env=environment, cwd=REPOSITORY, check=False, timeout=60).returncode == -9
        assert len(list((root / "batches").glob("*.json"))) == 1
        bench = Bench(root, make_panel(provider), clip)
        bench.runner().resume()
        asked = bench.asked()
        assert len(asked) == (COUNT if moment == "before" else 0), moment
        if asked:
            bench.runner().ask(asked)
        assert len(service.paid()) - before == COUNT, moment
        assert spent(bench)[1] == 0.0, moment
        assert list((root / "batches").glob("*.json")) == list((root / "uploads").glob("*.json")) == []
    assert service.files == service.batch_files == {}
