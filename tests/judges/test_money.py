"""Prices, worst cases, the ledger's limits, the gate: figures by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.judges.models import PRICE, make_judge
from vvb_resources.benchmark.models import JudgeLimits, Price, Sampling
from vvb_resources.errors import JudgeError, PausedError
from vvb_resources.judges.ledger import CallLabels, Ledger
from vvb_resources.judges.pace import Gate
from vvb_resources.judges.pricing import call_tokens, cost_usd, expected_usd, worst_usd
from vvb_resources.judges.providers import anthropic, google, openai
from vvb_resources.judges.showing import frame_count, frame_rate

ME = CallLabels("b", "r", "P", "j", "m")


def test_cost_by_hand() -> None:
    """1,000 plain at $2, 500 cached at $0.50, 200 written at $2.50, 80 out and 20 thought at $10, a million tokens."""
    usage = {"input": 1000, "cached": 500, "cache_write": 200, "output": 80, "thinking": 20}
    assert cost_usd(PRICE, usage) == pytest.approx((2000 + 250 + 500 + 1000) / 1e6)
    half = PRICE.model_copy(update={"tier": 0.5})
    assert cost_usd(half, usage) == pytest.approx(3750 / 2e6)


def test_a_long_request_costs_double_altogether() -> None:
    price = Price(input=1, output=10, long_context=272_000, long_factor=2)
    assert cost_usd(price, {"input": 272_000, "output": 0}) == pytest.approx(0.272)
    assert cost_usd(price, {"input": 200_000, "cached": 72_001, "output": 100}) == pytest.approx(2 * (0.272001 + 0.001))


def test_an_unknown_price_is_no_price() -> None:
    assert cost_usd(None, {"input": 1}) is None
    assert cost_usd(Price(input=None, output=1), {"input": 1}) is None
    assert worst_usd(Price(input=1, output=None), call_tokens(1, 1, 1, 1)) is None
    assert cost_usd(Price(input=0, output=0), {"input": 9}) == 0  # a server of one's own


def test_the_worst_case_covers_dearer_cache_writes_and_the_whole_cap() -> None:
    tokens = call_tokens(1000, 700, 5, 4096)
    assert (tokens.input, tokens.output) == (1200, 700)
    assert (tokens.input_most, tokens.output_most) == (1600, 4096)
    assert expected_usd(PRICE, tokens) == pytest.approx((1200 * 2 + 700 * 10) / 1e6)
    assert worst_usd(PRICE, tokens) == pytest.approx((1600 * 2.5 + 4096 * 10) / 1e6)


def test_media_tokens_of_the_services() -> None:
    """Gemini: 600 frames x 70 + 32 x 150 s; GPT 1,104 and Claude about 1,196 for 1280x720, and 8 for a label."""
    argon = make_judge("google", sampling={"fps": 4, "max_frames": 600})
    assert google.media_tokens(argon, 150.0, 1920, 1080) == 600 * 70 + 32 * 150
    assert google.media_tokens(argon, 300.0, 1920, 1080) == 600 * 70 + 32 * 300
    sol = make_judge("openai", sampling={"fps": 2, "min_frames": 24, "max_frames": 300, "max_side": 1280})
    assert openai.media_tokens(sol, 5.0, 1920, 1080) == 30 * (1104 + 8)
    claude = make_judge("anthropic", sampling={"fps": 1, "max_frames": 100, "max_side": 1280})
    assert anthropic.media_tokens(claude, 10.0, 1280, 720) == pytest.approx(10 * 1204, rel=0.002)


def test_four_frames_a_second_up_to_150_s_and_fewer_after() -> None:
    sampling = Sampling(fps=4, max_frames=600)
    assert [frame_rate(sampling, s) for s in (8, 150, 240, 600)] == [4, 4, 2.5, 1]
    assert frame_rate(sampling, 151) * 151 <= 600
    assert frame_count(Sampling(fps=2, min_frames=24, max_frames=300), 8.0) >= 24


def test_a_reservation_counts_before_it_is_paid(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    first = ledger.reserve(ME, "k1", 0.6, {"run": 1.0}, seconds=60)
    ledger.settle(first, 0.1)
    second = ledger.reserve(ME, "k2", 0.6, {"run": 1.0}, seconds=60)
    ledger.settle(second, None)  # it may have been billed: 0.1 + 0.6 are gone
    assert ledger.spent("run", ME).paid == pytest.approx(0.1)
    assert ledger.spent("run", ME).held == pytest.approx(0.6)
    with pytest.raises(PausedError, match=r"the limit of this run is \$1.00: \$0.10 paid, \$0.60 held"):
        ledger.reserve(ME, "k3", 0.31, {"run": 1.0}, seconds=60)
    ledger.settle(ledger.reserve(ME, "k3", 0.29, {"run": 1.0}, seconds=60), 0.0)
    other = CallLabels("b", "another run", "P", "j", "m")
    ledger.reserve(other, "k4", 0.9, {"run": 1.0}, seconds=60)
    with pytest.raises(PausedError, match="limit of the benchmark"):
        Ledger(tmp_path / "l.sqlite").reserve(other, "k5", 0.9, {"benchmark": 1.0}, seconds=60)


def test_a_call_in_flight_is_waited_for(tmp_path: Path) -> None:
    """Two worst cases do not fit, the real costs do: the second waits for the first instead of pausing."""
    ledger = Ledger(tmp_path / "l.sqlite")
    first = ledger.reserve(ME, "k1", 0.8, {"run": 1.0}, seconds=60)
    threading.Timer(0.2, ledger.settle, (first, 0.05)).start()
    ledger.reserve(ME, "k2", 0.8, {"run": 1.0}, seconds=60)
    assert ledger.spent("run", ME).total == pytest.approx(0.85)


def test_a_killed_process_keeps_its_reservation_until_its_reply_is_found(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from vvb_resources.judges.ledger import CallLabels, Ledger\n"
        "Ledger(Path(sys.argv[1])).reserve(CallLabels('b', 'r', 'P', 'j', 'm'), 'k1', 0.8, {'run': 1.0}, seconds=600)\n"
        "os.kill(os.getpid(), 9)"
    )
    file = tmp_path / "l.sqlite"
    done = subprocess.run([sys.executable, "-c", code, str(file)], check=False, env=dict(os.environ))
    assert done.returncode == -9
    ledger = Ledger(file)
    with pytest.raises(PausedError):  # not waited for: nobody is there to settle it
        ledger.reserve(ME, "k2", 0.8, {"run": 1.0}, seconds=60)
    ledger.reconcile("k1", 0.05)
    assert ledger.spent("run", ME).total == pytest.approx(0.05)
    ledger.reserve(ME, "k2", 0.8, {"run": 1.0}, seconds=60)


def test_many_at_once_never_pass_the_limit(tmp_path: Path) -> None:
    """64 threads over two ledgers of one file, each call up to $0.15 and really $0.10; a $2 limit allows 19 or 20."""
    ledgers = [Ledger(tmp_path / "l.sqlite"), Ledger(tmp_path / "l.sqlite")]

    def call(number: int) -> bool:
        ledger = ledgers[number % 2]
        try:
            entry = ledger.reserve(ME, str(number), 0.15, {"run": 2.0}, seconds=60)
        except PausedError:
            return False
        assert ledger.spent("run", ME).total <= 2.0 + 1e-9
        ledger.settle(entry, 0.10)
        return True

    with ThreadPoolExecutor(64) as pool:
        made = sum(pool.map(call, range(64)))
    assert made == 19  # the 20th could cost 1.90 + 0.15
    assert ledgers[0].spent("run", ME).total == pytest.approx(1.9)


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_the_rate_spaces_calls_and_a_pause_holds_for_all() -> None:
    clock = Clock()
    gate = Gate(JudgeLimits(per_minute=30), clock=clock, sleep=clock.sleep)
    starts = []
    for _ in range(3):
        with gate.turn():
            starts.append(clock.now)
    assert starts == [100.0, 102.0, 104.0]
    gate.cool(53.0)
    with gate.turn():
        assert clock.now == 157.0
    gate.stop("no money left")
    with pytest.raises(JudgeError, match="no money left"), gate.turn():
        pass


def test_pauses_double_from_the_base_and_start_again_after_a_success() -> None:
    gate = Gate(JudgeLimits())
    for n in range(1, 5):
        assert 0.5 * 2**n <= gate.overloaded(2.0) <= 1.5 * 2**n
    gate.succeeded()
    assert gate.overloaded(2.0) <= 3.0
