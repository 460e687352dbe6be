"""Paid calls: the one way from a request to a stored reply that costs money.

Set the worst case aside, wait for the gate, ask once, store what came, settle; then, for a fault that passes, again.
The order is what the promises rest on: nothing is asked that the limits do not cover, nothing is settled before the
reply is on disk, and what came is stored whether it is good or not.
"""

from __future__ import annotations

import dataclasses
import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vvb_resources.benchmark.models import JudgeConfig, Price, PriceList
from vvb_resources.errors import JudgeError
from vvb_resources.judges.ledger import CallLabels, Ledger, LimitScope
from vvb_resources.judges.pace import Gate, Gates, backoff_s
from vvb_resources.judges.pricing import Tokens, call_tokens, cost_usd, worst_usd
from vvb_resources.judges.prompt import user_text
from vvb_resources.judges.providers.base import Provider, ProviderModule
from vvb_resources.judges.service import is_overload
from vvb_resources.judges.types import JudgeRequest, RawReply
from vvb_resources.judges.uploads import UploadList

MAX_REUPLOADS = 2
GRACE_S = 60.0
RUN_VARIABLE = "VVB_RUN"
USD_RUN_VARIABLE, USD_BENCHMARK_VARIABLE = "VVB_USD_RUN", "VVB_USD_BENCHMARK"
UNPRICED_VARIABLE = "VVB_ALLOW_UNPRICED"

_THIS_PROCESS = uuid.uuid4().hex[:12]
_GATES = Gates()

Keep = Callable[[RawReply], RawReply]


@dataclass(frozen=True)
class Money:
    """What may be spent: prices, limits in USD (None: no limit), models that may be asked without a known price."""

    prices: PriceList | None = None
    usd_run: float | None = None
    usd_benchmark: float | None = None
    unpriced: frozenset[str] = frozenset()

    @classmethod
    def of(cls, prices: PriceList | None, usd_run: float | None, usd_benchmark: float | None) -> Money:
        """The benchmark's limits, or those of the environment (set by `vvb run`'s options) where there are any.

        Raises JudgeError for a variable that is no amount.
        """
        names = os.environ.get(UNPRICED_VARIABLE, "")
        return cls(
            prices,
            _amount(USD_RUN_VARIABLE, usd_run),
            _amount(USD_BENCHMARK_VARIABLE, usd_benchmark),
            frozenset(name.strip() for name in names.split(",") if name.strip()),
        )

    def price_of(self, judge: JudgeConfig) -> Price | None:
        """The judge's entry in the price list; None where it names none or the list has none."""
        return self.prices.models.get(judge.price) if self.prices is not None and judge.price else None


def _amount(name: str, otherwise: float | None) -> float | None:
    given = os.environ.get(name)
    if not given:
        return otherwise
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise JudgeError(f"{given!r} is no amount in USD", where=name, remedy="set a number of at least 0")
    return value


def run_environment(usd_run: float | None, usd_benchmark: float | None, unpriced: tuple[str, ...]) -> dict[str, str]:
    """Variables that give a run its name and hand its limits to whatever process makes its calls."""
    given: dict[str, str | None] = {
        RUN_VARIABLE: _THIS_PROCESS,
        USD_RUN_VARIABLE: None if usd_run is None else repr(usd_run),
        USD_BENCHMARK_VARIABLE: None if usd_benchmark is None else repr(usd_benchmark),
        UNPRICED_VARIABLE: ",".join(unpriced) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def request_tokens(module: ProviderModule, request: JudgeRequest) -> Tokens:
    """Tokens of a request, expected and at most."""
    media = request.media
    return call_tokens(
        module.media_tokens(request.judge, media.duration_s, media.width, media.height),
        len(request.protocol.encode()) + len(user_text(request).encode()),
        len(request.checks) + len(request.dims),
        request.max_output_tokens,
    )


@dataclass
class CallDesk:
    """Makes paid calls for one benchmark in one run. Threads share it; processes share its ledger."""

    ledger: Ledger
    benchmark: str
    money: Money
    run: str = field(default_factory=lambda: os.environ.get(RUN_VARIABLE) or _THIS_PROCESS)
    gates: Gates = field(default_factory=lambda: _GATES)
    sleep: Callable[[float], None] = time.sleep
    uploads: UploadList | None = None

    def ask(
        self, provider: Provider, module: ProviderModule, request: JudgeRequest, panel: str, keep: Keep
    ) -> RawReply:
        """Ask until there is a reply that is no passing fault, at most `limits.tries` times.

        `keep` is given every reply, stores it durably and returns the one that counts. Raises
        PausedError before a limit would be passed, JudgeError for an unpriced model, a stopped judge or a service that
        asks to wait too long.
        """
        judge = request.judge
        gate, price = self.gates.of(judge), self._price(judge)
        tries = reuploads = 0
        while True:
            asked = dataclasses.replace(request, plain=gate.plain)
            raw = self._once(provider, module, asked, panel, keep, gate, price)
            if raw.outcome == "schema" and not asked.plain:
                gate.plain = True
                continue
            if raw.outcome == "reupload" and reuploads < MAX_REUPLOADS:
                reuploads += 1
                continue
            if raw.outcome == "fatal" and raw.stops_judge:
                gate.stop(f"{judge.id} ({judge.model}) was stopped: {raw.fault}")
            if raw.outcome != "retry":
                gate.succeeded()
                return raw
            tries += 1
            if tries >= judge.limits.tries:
                return raw
            self._pause(judge, gate, raw, tries)

    def spent_in_run(self) -> float:
        """USD of this run so far: what is paid, and the worst case of what is in flight or unknown."""
        return self.ledger.spent("run", CallLabels(self.benchmark, self.run, "", "", "")).total

    def _once(
        self,
        provider: Provider,
        module: ProviderModule,
        request: JudgeRequest,
        panel: str,
        keep: Keep,
        gate: Gate,
        price: Price | None,
    ) -> RawReply:
        judge, limits = request.judge, request.judge.limits
        labels = CallLabels(self.benchmark, self.run, panel, judge.id, judge.model)
        worst = worst_usd(price, request_tokens(module, request)) or 0.0
        seconds = limits.timeout_s + limits.upload_s + GRACE_S
        with gate.turn():
            entry = self.ledger.reserve(labels, request.key, worst, self._limits(judge), seconds=seconds)
            began = time.monotonic()
            try:
                raw = provider.answer(request)
            except JudgeError:
                self.ledger.settle(entry, 0.0)  # nothing was sent
                raise
            raw = dataclasses.replace(raw, seconds=round(time.monotonic() - began, 3), usd=_cost(raw, price))
            counts = keep(raw)
            self.ledger.settle(entry, raw.usd)
        return counts

    def _price(self, judge: JudgeConfig) -> Price | None:
        """The judge's price. Raises JudgeError when it is unknown and was not allowed by name."""
        price = self.money.price_of(judge)
        if cost_usd(price, {}) is None and judge.model not in self.money.unpriced:
            raise JudgeError(
                f"the price of {judge.model} is unknown, so no limit could hold",
                where=f"judge {judge.id}",
                remedy=f"enter it in prices/, or run with --allow-unpriced {judge.model}",
            )
        return price

    def _limits(self, judge: JudgeConfig) -> Mapping[LimitScope, float]:
        found: dict[LimitScope, float | None] = {
            "run": self.money.usd_run,
            "benchmark": self.money.usd_benchmark,
            "judge": judge.limits.usd,
        }
        return {scope: limit for scope, limit in found.items() if limit is not None}

    def _pause(self, judge: JudgeConfig, gate: Gate, raw: RawReply, tries: int) -> None:
        """Wait before the next try: as the service asked, all together when it is overloaded, else on one's own."""
        if raw.retry_after_s is not None and raw.retry_after_s > judge.limits.patience_s:
            raise JudgeError(
                f"the service asks to wait {raw.retry_after_s:.0f} s ({raw.fault})",
                where=f"judge {judge.id}",
                remedy="run again later, or raise limits.patience_s",
            )
        if is_overload(raw):
            asked = raw.retry_after_s
            gate.cool(asked if asked is not None else gate.overloaded(judge.limits.backoff_s))
        else:
            self.sleep(max(raw.retry_after_s or 0.0, backoff_s(judge.limits.backoff_s, tries)))


def _cost(raw: RawReply, price: Price | None) -> float | None:
    """USD of a reply: 0 for a refused call, None when price or usage is unknown."""
    if raw.unbilled:
        return 0.0
    return cost_usd(price, raw.usage) if raw.usage else None
