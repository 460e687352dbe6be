"""Agents that call a model: through a gateway of their own, both accounts kept, faults told apart by events."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.upstream import KEY, PRICE, Answer, in_turn, service
from tests.rollouts.conftest import FILM, make_config, make_system
from vvb_assets.rollouts.account import agreement
from vvb_assets.rollouts.faults import EndKind, end_kind
from vvb_assets.rollouts.history import ATTEMPT, past_attempts
from vvb_assets.rollouts.make import made_of
from vvb_assets.rollouts.record import RolloutRecord
from vvb_assets.rollouts.rollout import run_rollout
from vvb_resources.benchmark.loader import Task
from vvb_resources.errors import SandboxError
from vvb_resources.gateway.calls import GatewaySummary
from vvb_resources.harnesses.trajectory.types import Tokens
from vvb_resources.sandbox.base import Isolation, SandboxOutcome, WallsError

# Asks the model `times` times and exits with 1 if that fails; then delivers.
ASK = """
import json, os, sys, urllib.error, urllib.request
def ask():
    body = json.dumps({"model": "m1", "messages": [{"role": "user", "content": "x"}], "max_tokens": 100}).encode()
    request = urllib.request.Request(os.environ["MODEL_URL"] + "/chat/completions", body)
    request.add_header("authorization", "Bearer " + os.environ["MODEL_TOKEN"])
    request.add_header("content-type", "application/json")
    return json.load(urllib.request.urlopen(request))
def asked(times):
    try:
        for _ in range(times):
            ask()
    except urllib.error.HTTPError as error:
        print(error.read().decode(), file=sys.stderr)
        sys.exit(1)
"""
USAGE = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens": 50}
WHOLE = json.dumps({"object": "chat.completion", "choices": [], "usage": USAGE}).encode()

Run = Callable[..., RolloutRecord]


def good(answer: Answer) -> None:
    answer.whole(WHOLE)


@pytest.fixture
def run(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> Run:
    """run(script, code, policy..., **system) -> the record; tmp_path/out-N and tmp_path/state are its folders."""
    monkeypatch.setenv("TEST_SERVICE_KEY", KEY)
    made = 0

    def call(
        script: Callable[[Answer], None], code: str, policy: dict[str, Any] | None = None, **system: Any
    ) -> RolloutRecord:
        nonlocal made
        made += 1
        root, out = tmp_path / f"benchmark-{made}", tmp_path / f"out-{made}"
        out.mkdir()
        with service(script) as (url, _):
            given = {
                "model": "m1",
                "wire": "openai_chat",
                "endpoint": url,
                "key": "TEST_SERVICE_KEY",
                "env": {"MODEL_URL": "{base_url}", "MODEL_TOKEN": "{token}"},
                **system,
            }
            agent = make_system(root, FILM + ASK + code, **given)
            config = make_config(deadline_s=30, file_mb=64, **(policy or {}))
            return run_rollout(root, config, agent, task, out, tmp_path / "state", prices={"m1": PRICE})

    return call


def test_calls_are_counted_priced_and_kept(run: Run, tmp_path: Path) -> None:
    record = run(good, "asked(2); film('delivery/a.mp4')")
    assert (tmp_path / "out-1/logs/stderr.txt").read_text() == ""
    assert (record.kind, record.video.state, record.history) == ("self", "present", ())
    assert record.usage is not None
    assert (record.usage.prompt_tokens, record.usage.cached_tokens, record.usage.output_tokens) == (2000, 800, 100)
    assert record.usd == pytest.approx(2 * (600 * 1 + 400 * 0.1 + 50 * 10) / 1e6, rel=1e-12)
    assert record.gateway is not None
    assert (record.gateway.calls, record.gateway.done) == (2, 2)
    assert (tmp_path / "out-1/logs/gateway/log.jsonl").exists()
    assert made_of(record).checks["usage_agrees"]["passed"]
    assert RolloutRecord.model_validate_json((tmp_path / "out-1/record.json").read_text()) == record


def test_the_agent_can_read_no_key(run: Run, tmp_path: Path) -> None:
    code = """
import pathlib
readable = [p for p in pathlib.Path("/proc").glob("*/environ") if os.access(p, os.R_OK)]
found = [str(p) for p in readable if b"sk-the-real" in p.read_bytes()]
found += [name for name, value in os.environ.items() if "sk-the-real" in value]
found += [str(p) for p in pathlib.Path(".").rglob("*") if p.is_file() and b"sk-the-real" in p.read_bytes()]
print(found)
"""
    run(good, code)
    if "closed" in json.loads((tmp_path / "out-1/record.json").read_text())["isolation"]["filesystem"]:
        assert (tmp_path / "out-1/logs/stdout.txt").read_text() == "[]\n"
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out-1").rglob("*") if path.is_file())
    assert KEY.encode() not in everything


def overloaded(answer: Answer) -> None:
    answer.whole(b'{"error": {"message": "overloaded"}}', 529)


def test_a_service_that_fails_is_run_again_and_remembered(run: Run, tmp_path: Path) -> None:
    answers = iter([good, overloaded, good, good])
    record = run(in_turn(answers), "asked(2); film('delivery/a.mp4')")
    assert (record.kind, record.attempts, record.usage and record.usage.prompt_tokens) == ("self", 2, 2000)
    (lost,) = record.history
    assert (lost.kind, lost.calls, lost.run != record.run) == ("model_service", 2, True)
    assert lost.usd == pytest.approx(0.00114, rel=1e-12)  # its first call was paid for
    kept = tmp_path / "state" / lost.run
    assert (kept / "logs" / "stderr.txt").read_text() == '{"error": {"message": "overloaded"}}\n'
    assert (kept / "gateway" / "log.jsonl").exists()


def test_attempts_are_bounded_and_the_next_run_knows_them(run: Run, tmp_path: Path) -> None:
    with pytest.raises(WallsError, match="model_service"):
        run(overloaded, "asked(1)")
    assert len(list((tmp_path / "state").glob(f"*/{ATTEMPT}"))) == 2
    record = run(good, "asked(1)")
    assert [attempt.kind for attempt in record.history] == ["model_service", "model_service"]
    assert past_attempts(tmp_path / "state", "sketch", "OTHER") == ()


def test_a_refused_key_is_nobodys_run(run: Run, tmp_path: Path) -> None:
    calls: list[Answer] = []

    def refuse(answer: Answer) -> None:
        calls.append(answer)
        answer.whole(b'{"error": {"message": "invalid key"}}', 401)

    with pytest.raises(SandboxError, match="correct the key") as raised:
        run(refuse, "asked(1)")
    assert not isinstance(raised.value, WallsError)
    assert len(calls) == 1
    assert KEY not in str(raised.value)


def test_what_the_agent_does_wrong_counts(run: Run) -> None:
    refused = run(lambda a: a.whole(b'{"error": {"message": "too long"}}', 400), "asked(1)")
    assert (refused.kind, refused.exit_code, refused.attempts) == ("error", 1, 1)
    broken = run(good, "asked(1); sys.exit(3)")
    assert (broken.kind, broken.exit_code, broken.attempts) == ("error", 3, 1)


def test_the_spend_limit_ends_the_run(run: Run) -> None:
    record = run(good, "asked(1000)", {"usd": 0.01})
    assert (record.kind, record.ended) == ("spend", "error")
    assert record.usd is not None
    assert 0.006 < record.usd <= 0.01
    assert record.gateway is not None
    assert record.gateway.refused == {"spend": 1}


@pytest.mark.parametrize(
    ("policy", "system", "message"),
    [
        ({"network": "none"}, {}, "the policy allows it no gateway"),
        ({}, {"key": "NO_SUCH_KEY_HERE"}, "the model gateway needs NO_SUCH_KEY_HERE"),
        ({"usd": 1.0}, {"models": ["unpriced"]}, "a spend limit needs prices, and unpriced has none"),
        ({}, {"model": None}, "names no model"),
    ],
)
def test_a_configuration_that_cannot_work_starts_nothing(
    run: Run, policy: dict[str, Any], system: dict[str, Any], message: str
) -> None:
    def never(answer: Answer) -> None:
        raise AssertionError("called")

    with pytest.raises(SandboxError, match=message):
        run(never, "asked(1)", policy, **system)


LOG = """
usage = {"inputTokens": %d, "outputTokens": 50, "cacheReadTokens": 400, "cacheWriteTokens": 0}
message = {"role": "assistant", "content": [{"text": "hi"}], "source": {"model": "m1"}}
data = {"turn": 1, "step": 1, "message": message, "usage": usage}
lines = [{"type": "turn/start", "seq": 0, "data": {}}, {"type": "assistant/message", "seq": 1, "data": data}]
lines.append({"type": "turn/end", "seq": 2, "data": {}})
open("session.jsonl", "w").write("".join(json.dumps(line) + chr(10) for line in lines))
"""


@pytest.mark.parametrize(("told", "agrees"), [(600, True), (601, False)])
def test_accounts_that_differ_are_a_red_check(run: Run, tmp_path: Path, told: int, agrees: bool) -> None:
    record = run(good, "asked(1)" + LOG % told, log="session.jsonl", parser="dsh")
    check = made_of(record).checks["usage_agrees"]
    assert (check["passed"], check["severity"]) == (agrees, "ERROR")
    assert f"prompt: gateway 1000, log {told + 400}" in check["description"]
    assert record.trajectory is not None
    assert record.trajectory.complete
    assert record.usage is not None
    assert record.usage.prompt_tokens == 1000  # the gateway's word counts, not the agent's
    assert (tmp_path / "out-1/trajectory.json").exists()


@pytest.mark.parametrize(
    ("asked", "passed"), [(None, True), ("0.2.1", True), ("0.2", True), ("0.3", False), ("0.2.10", False)]
)
def test_another_version_of_the_harness_is_noticed(run: Run, asked: str | None, passed: bool) -> None:
    record = run(good, "asked(1)" + LOG % 600, log="session.jsonl", parser="dsh", harness_version=asked)
    assert record.trajectory is not None
    ran = record.trajectory.model_copy(update={"harness_version": "0.2.1"})
    check = made_of(record.model_copy(update={"trajectory": ran})).checks["harness_version"]
    assert (check["passed"], check["severity"]) == (passed, "WARN")


@pytest.mark.parametrize(("ended", "kept"), [("self", True), ("error", False)])
def test_a_run_whose_platform_was_killed(run: Run, tmp_path: Path, ended: str, kept: bool) -> None:
    """Its gateway is gone with the platform: one that had ended by itself stands, another is made again, known of."""
    with service(good) as (url, _):
        first = run(good, "asked(1)", endpoint=url)
        assert first.run is not None
        place = tmp_path / "state" / first.run
        log = place / "gateway" / "log.jsonl"
        log.write_text("".join(line for line in log.read_text().splitlines(True) if '"close"' not in line))
        outcome = json.loads((place / "sandbox_outcome.json").read_text())
        code = 0 if ended == "self" else 1
        (place / "sandbox_outcome.json").write_text(json.dumps({**outcome, "ended": ended, "exit_code": code}))
        card = json.loads((place / "rollout.json").read_text())
        card["mark"]["boot"] = "another boot"
        (place / "rollout.json").write_text(json.dumps(card))
        second = run(good, "asked(1)", endpoint=url)
    assert (second.run == first.run) is kept
    assert [attempt.kind for attempt in second.history] == ([] if kept else ["interrupted"])
    assert second.kind == "self"


def summary(**fields: Any) -> GatewaySummary:
    whole: dict[str, Any] = {
        **dict.fromkeys(("calls", "done", "cut", "failed"), 0),
        **dict.fromkeys(("service_failed", "key_refused", "interrupted"), False),
        **{"refused": {}, "tokens": Tokens(), "cut_tokens": Tokens(), "models": {}, "usd": 0.0, "most_usd": 0.0},
        **fields,
    }
    return GatewaySummary.model_validate(whole)


@pytest.mark.parametrize(
    ("ended", "limit", "gateway", "kind"),
    [
        ("self", None, None, "self"),
        ("timed_out", None, None, "timed_out"),
        ("error", "disk", None, "limit"),
        ("self", None, summary(done=3, service_failed=True), "self"),  # it finished in spite of it
        ("error", None, summary(done=3, service_failed=True), "model_service"),
        ("timed_out", None, summary(done=3, service_failed=True), "timed_out"),
        ("timed_out", None, summary(done=0, failed=9, service_failed=True), "model_service"),
        ("self", None, summary(done=0, failed=1, service_failed=True), "model_service"),
        ("error", "memory", summary(service_failed=True), "limit"),
        ("error", None, summary(interrupted=True), "interrupted"),
        ("self", None, summary(done=2, interrupted=True), "self"),
        ("error", None, summary(done=2, refused={"spend": 1}), "spend"),
        ("timed_out", None, summary(done=2, refused={"spend": 1}), "timed_out"),
        ("error", None, summary(done=2, refused={"model": 4}), "error"),
    ],
)
def test_the_kind_of_an_end_follows_from_events(
    ended: Any, limit: Any, gateway: GatewaySummary | None, kind: EndKind
) -> None:
    numbers = dict.fromkeys(
        ("started_at", "seconds", "cpu_s", "peak_rss_mb", "killed", "stdout_bytes", "stderr_bytes"), 0
    )
    walls = Isolation(network="closed", filesystem="closed", statement="x")
    outcome = SandboxOutcome(ended=ended, exit_code=None, signal=None, limit=limit, isolation=walls, **numbers)
    assert end_kind(outcome, gateway) == kind


def test_a_cut_reply_may_be_in_the_harnesss_log_or_not(run: Run) -> None:
    record = run(good, "asked(1)" + LOG % 600, log="session.jsonl", parser="dsh")
    cut = summary(tokens=Tokens(), cut_tokens=Tokens(prompt=1000, cached=400, output=50))
    assert agreement(record.trajectory, cut)[0]
    assert agreement(None, cut)[0]
    assert not agreement(record.trajectory, summary())[0]
