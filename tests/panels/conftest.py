"""The scheduled clip of the judges' tests, and a provider that answers from a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.judges.clips import blinded, schedule, schedule_sound
from vvb_assets.panels import judging, reading
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.types import JudgeRequest, RawReply
from vvb_resources.media.blinding import BlindedMedia


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> BlindedMedia:
    """8 s of `clips.schedule` with sound."""
    return blinded(tmp_path_factory.mktemp("clip"), 8.0, schedule, schedule_sound())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> ObservationCache:
    """Observations that the tests share."""
    return ObservationCache(tmp_path_factory.mktemp("observations"))


Answer = Callable[[JudgeRequest], tuple[str, Any]]


class ScriptedProvider:
    """A provider module whose judges answer what `script` says: (outcome, text or rows by id)."""

    VERSION = "scripted 1"
    MEASURES = True
    PAID = False

    def __init__(self, script: Answer) -> None:
        self.script = script
        self.requests: list[JudgeRequest] = []

    def create(self, judge: object, services: object) -> ScriptedProvider:
        return self

    def media_tokens(self, judge: object, duration_s: float, width: int, height: int) -> int:
        return 0

    def close(self) -> None:
        return

    def reply_text(self, body: bytes) -> str:
        return body.decode()

    def answer(self, request: JudgeRequest) -> RawReply:
        self.requests.append(request)
        outcome, text = self.script(request)
        made_at = f"2026-01-01T00:00:{len(self.requests):02d}"
        return RawReply(request.key, "instrument", text.encode(), outcome, {"in": 10}, 0.5, made_at)  # type: ignore[arg-type]


def rows(request: JudgeRequest, *, without: tuple[str, ...] = (), status: str = "pass", reason: str = "seen") -> str:
    """A reply that answers everything that was asked but `without`."""
    checks = [{"id": i, "status": status, "reason": reason} for i in request.check_ids if i not in without]
    scores = [{"name": d, "score": 4, "reason": reason} for d in request.dim_names if d not in without]
    return json.dumps({"checks": checks, "scores": scores})


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], ScriptedProvider]]:
    """Puts a scripted provider in the instrument's place."""

    def install(script: Answer) -> ScriptedProvider:
        provider = ScriptedProvider(script)
        for module in (judging, reading):
            monkeypatch.setattr(module, "provider_module", lambda name: provider)
        return provider

    return install
