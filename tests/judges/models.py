"""Judges of models for tests: panels of every provider, prices, a desk, and a stand-in to ask."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig, PanelConfig, Price, PriceList
from vvb_resources.judges.calls import CallDesk, Money
from vvb_resources.judges.ledger import Ledger
from vvb_resources.judges.pace import Gates

PRICE = Price(input=2.0, cached=0.5, cache_write=2.5, output=10.0)
PRICES = PriceList(date=dt.date(2026, 1, 1), source="made up for tests", models={"model": PRICE})
ALL: dict[str, Any] = {"checks": ["visual", "audio", "audio_visual"], "dims": ["VQ", "VA", "CL", "TM", "AQ"]}
SEEN: dict[str, Any] = {"checks": ["visual"], "dims": ["VQ", "VA", "CL", "TM"]}
HEARD: dict[str, Any] = {"checks": ["audio", "audio_visual"], "dims": ["AQ"]}

PROVIDERS: dict[str, dict[str, Any]] = {
    "google": {"sees": "video", "hears": True, **ALL},
    "openai": {"sees": "frames", "hears": False, **SEEN},
    "openai_compatible": {"sees": "video", "hears": True, **ALL},
    "anthropic": {"sees": "frames", "hears": False, **SEEN},
}
KEYS = {
    "google": "GEMINI_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openai_compatible": "DASHSCOPE_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
LIMITS: dict[str, Any] = {"backoff_s": 0.01, "timeout_s": 20, "upload_s": 5}


def make_judge(provider: str, **changes: Any) -> JudgeConfig:
    """A judge of one provider with a priced model, fast to give up waiting."""
    fields: dict[str, Any] = {
        "id": provider.rsplit("_", maxsplit=1)[-1],
        "provider": provider,
        "model": "some-model",
        "price": "model",
        "key": KEYS[provider],
        "endpoint": "http://127.0.0.1:9/v1" if provider == "openai_compatible" else None,
        "sampling": {"fps": 1, "max_frames": 600, "max_side": 320},
        "limits": LIMITS,
        **PROVIDERS[provider],
        **changes,
    }
    return JudgeConfig.model_validate(fields)


def make_panel(provider: str, **changes: Any) -> PanelConfig:
    """A panel of one judge, with a listener beside it where that judge is deaf."""
    judge = make_judge(provider, **changes)
    if judge.hears:
        return PanelConfig(id="P", title="P", judges=(judge,))
    ears = make_judge("openai_compatible", id="ears", **HEARD)
    eyes = judge.model_copy(update={"observations_from": "ears"})
    return PanelConfig(id="P", title="P", judges=(ears, eyes))


def make_desk(root: Path, *, run: str = "run", **money: Any) -> CallDesk:
    """A desk with prices, gates of its own and a ledger in `root`."""
    return CallDesk(Ledger(root / "ledger.sqlite"), "benchmark", Money(prices=PRICES, **money), run=run, gates=Gates())
