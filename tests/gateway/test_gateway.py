"""The gateway on loopback, before a service that answers as scripted."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import itertools
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.upstream import KEY, PRICE, TOKEN, Answer, anthropic_stream, gatewayed, in_turn, post, service
from vvb_resources.gateway.calls import read_calls, summarise
from vvb_resources.gateway.hosted import hosted_tools
from vvb_resources.gateway.journal import LOG, read_events, read_reply, read_request
from vvb_resources.gateway.settings import GatewaySettings
from vvb_resources.harnesses.trajectory.types import Tokens

MESSAGE: dict[str, Any] = {"model": "m1", "max_tokens": 100, "messages": [{"role": "user", "content": "x"}]}


def everything(folder: Path) -> bytes:
    """All bytes of a log, unpacked."""
    parts = [(folder / LOG).read_bytes()]
    for path in folder.glob("*.gz"):
        parts.append(gzip.decompress(path.read_bytes()))
    return b"".join(parts)


def test_a_stream_passes_unchanged_as_it_comes(tmp_path: Path) -> None:
    parts = anthropic_stream(1000, 50, "h\u00e9llo")
    goes_on = threading.Event()

    def script(answer: Answer) -> None:
        def slowly() -> Any:
            yield parts[0]
            assert goes_on.wait(10)
            yield from parts[1:]

        answer.stream(slowly())

    with service(script) as (url, calls), gatewayed(tmp_path / "log", url) as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port or 0, timeout=20)
        connection.request("POST", "/anthropic/v1/messages?beta=true", json.dumps(MESSAGE), {"x-api-key": TOKEN})
        reply = connection.getresponse()
        assert reply.read(len(parts[0])) == parts[0]  # before the service has sent the rest
        assert b"message_start" in read_reply(tmp_path / "log", 1)  # and it is in the log by then
        goes_on.set()
        assert reply.read() == b"".join(parts[1:])
        assert reply.getheader("content-type") == "text/event-stream; charset=utf-8"
        connection.close()
    assert calls[0].path == "/v1/messages?beta=true"
    assert calls[0].headers["x-api-key"] == KEY
    assert json.loads(calls[0].body) == MESSAGE
    assert read_reply(tmp_path / "log", 1) == b"".join(parts)
    assert json.loads(read_request(tmp_path / "log", 1)) == MESSAGE
    summary = summarise(tmp_path / "log")
    assert (summary.calls, summary.done, summary.tokens) == (1, 1, Tokens(prompt=1000, output=50))
    assert summary.usd == pytest.approx((1000 * 1 + 50 * 10) / 1e6, rel=1e-12)
    events = [event["event"] for event in read_events(tmp_path / "log")]
    assert events == ["open", "request", "reply", "end", "close"]


RESPONSES_USAGE = {
    "input_tokens": 900,
    "input_tokens_details": {"cached_tokens": 400},
    "output_tokens": 70,
    "output_tokens_details": {"reasoning_tokens": 30},
}
CHAT_USAGE = {
    "prompt_tokens": 900,
    "prompt_tokens_details": {"cached_tokens": 400},
    "completion_tokens": 70,
    "completion_tokens_details": {"reasoning_tokens": 30},
}
GEMINI_USAGE = {
    "promptTokenCount": 900,
    "cachedContentTokenCount": 400,
    "candidatesTokenCount": 40,
    "thoughtsTokenCount": 30,
}
GEMINI_END = {"candidates": [{"finishReason": "STOP", "content": {}}], "usageMetadata": GEMINI_USAGE}


def sse(*documents: Any) -> list[bytes]:
    return [b"data: " + (d if isinstance(d, bytes) else json.dumps(d).encode()) + b"\n\n" for d in documents]


@pytest.mark.parametrize(
    ("wire", "path", "body", "streamed", "whole"),
    [
        (
            "openai_responses",
            "/openai/v1/responses",
            {"model": "m1", "input": "x"},
            sse({"type": "response.created"}, {"type": "response.completed", "response": {"usage": RESPONSES_USAGE}}),
            {"object": "response", "status": "completed", "usage": RESPONSES_USAGE},
        ),
        (
            "openai_chat",
            "/openai/v1/chat/completions",
            {"model": "m1", "messages": []},
            sse({"choices": [{"delta": {"content": "a"}}]}, {"choices": [], "usage": CHAT_USAGE}, b"[DONE]"),
            {"object": "chat.completion", "choices": [], "usage": CHAT_USAGE},
        ),
        (
            "gemini",
            "/gemini/v1beta/models/m1:streamGenerateContent?alt=sse",
            {"contents": []},
            sse({"candidates": [{"content": {}}], "usageMetadata": {"promptTokenCount": 900}}, GEMINI_END),
            [{"candidates": [{"content": {}}]}, GEMINI_END],
        ),
    ],
)
def test_every_wire_format_is_metered(
    tmp_path: Path, wire: Any, path: str, body: Any, streamed: list[bytes], whole: Any
) -> None:
    """Streamed and whole. Cached tokens are part of the prompt, reasoning is part of the output."""
    answers = iter([lambda a: a.stream(streamed), lambda a: a.whole(json.dumps(whole).encode())])
    with service(in_turn(answers)) as (url, calls), gatewayed(tmp_path / "log", url, wire) as running:
        assert post(running, path, body)[1] == b"".join(streamed)
        assert json.loads(post(running, path, body)[1]) == whole
    header = {"gemini": "x-goog-api-key"}.get(wire, "authorization")
    assert calls[0].headers[header] == (KEY if wire == "gemini" else f"Bearer {KEY}")
    one = Tokens(prompt=900, cached=400, output=70, reasoning=30)
    summary = summarise(tmp_path / "log")
    assert [call.tokens for call in read_calls(tmp_path / "log")[0]] == [one, one]
    assert (summary.done, summary.tokens, summary.models) == (2, one + one, {"m1": one + one})
    assert summary.usd == pytest.approx(2 * (500 * 1 + 400 * 0.1 + 70 * 10) / 1e6, rel=1e-12)


def test_the_key_is_never_in_the_log_nor_with_the_agent(tmp_path: Path) -> None:
    leak = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()

    def script(answer: Answer) -> None:
        if b"stream" in answer.body:  # cut in the middle of the key
            text = f"data: {KEY}\n\n".encode()
            answer.stream([text[:12], text[12:], *anthropic_stream(1, 1)])
        else:
            answer.whole(leak, 401)

    with service(script) as (url, _), gatewayed(tmp_path / "log", url) as running:
        status, body, _ = post(running, "/anthropic/v1/messages", MESSAGE)
        assert (status, KEY.encode() in body) == (401, False)
        assert b"Incorrect API key provided" in body
        post(running, "/anthropic/v1/messages", {**MESSAGE, "stream": True, "note": KEY})
    log = everything(tmp_path / "log")
    assert KEY.encode() not in log
    assert log.count(b"[key removed]") == 3
    assert TOKEN.encode() not in log


def test_what_is_not_the_agents_is_refused(tmp_path: Path) -> None:
    with service(lambda a: a.whole(b"{}")) as (url, calls), gatewayed(tmp_path / "log", url) as running:
        asked = [
            post(running, "/anthropic/v1/messages", MESSAGE, token="guess"),
            post(running, "/anthropic/v1/messages", {**MESSAGE, "model": "video-maker"}),
            post(running, "/anthropic/v1/files", MESSAGE),
            post(running, "/openai/v1/responses", MESSAGE),
            post(running, "/anthropic/v1/messages/../files", MESSAGE),
            post(running, "/anthropic/v1/messages", b"not json"),
            post(running, "/anthropic/v1/messages", b'{"model": "video-maker", "model": "m1"}'),
            post(running, "/anthropic/v1/messages", {**MESSAGE, "tools": [{"type": "web_search_20250305"}]}),
        ]
    assert [status for status, _, _ in asked] == [401, 403, 404, 404, 404, 400, 400, 403]
    assert json.loads(asked[1][1])["error"]["type"] == "permission_error"
    assert calls == []
    assert summarise(tmp_path / "log").refused == {"token": 1, "model": 1, "path": 3, "body": 2, "tool": 1}


def typed(*kinds: str) -> dict[str, Any]:
    return {"tools": [{"type": kind, "name": "web_search"} for kind in kinds]}


@pytest.mark.parametrize(
    ("wire", "body", "found"),
    [
        ("anthropic", {"tools": [{"name": "Bash"}]}, set()),
        ("anthropic", typed("custom", "bash_20250124", "tool_search_tool_regex_20251119"), set()),
        ("anthropic", typed("web_fetch_20250910", "code_execution_20250825"), {"web_fetch", "code_execution"}),
        ("anthropic", {"mcp_servers": [{"url": "https://example.com"}]}, {"mcp"}),
        ("openai_responses", typed("function", "custom"), set()),
        ("openai_responses", typed("web_search_preview_2025_03_11"), {"web_search"}),
        ("openai_responses", {"input": [{"tools": [typed("image_generation")]}]}, {"image_generation"}),
        ("openai_chat", {"web_search_options": {}}, {"web_search"}),
        ("openai_chat", typed("function"), set()),
        ("gemini", {"tools": [{"google_search": {}}, {"urlContext": {}}]}, {"web_search", "web_fetch"}),
        ("gemini", {"tools": [{"functionDeclarations": []}]}, set()),
        ("gemini", {"tools": 5}, set()),
    ],
)
def test_tools_that_the_service_runs_are_told_from_the_harnesss(wire: Any, body: Any, found: set[str]) -> None:
    """Type names as the services' references have them."""
    assert hosted_tools(wire, body) == found


def test_a_hosted_tool_may_be_allowed(tmp_path: Path) -> None:
    body = {**MESSAGE, "tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    allowed = frozenset({"web_search"})
    script = lambda a: a.stream(anthropic_stream(1, 1))  # noqa: E731
    with service(script) as (url, calls), gatewayed(tmp_path / "log", url, hosted_tools=allowed) as running:
        assert post(running, "/anthropic/v1/messages", body)[0] == 200
    assert len(calls) == 1


def test_errors_of_the_service_pass_and_are_counted(tmp_path: Path) -> None:
    """A call that the agent tries again is two calls: one failed, one done, paid once."""
    overloaded = b'{"type": "error", "error": {"type": "overloaded_error"}}'
    answers = iter([lambda a: a.whole(overloaded, 529, retry_after="3"), lambda a: a.stream(anthropic_stream(10, 2))])
    with service(in_turn(answers)) as (url, _), gatewayed(tmp_path / "log", url) as running:
        status, body, headers = post(running, "/anthropic/v1/messages", MESSAGE)
        assert (status, body, headers["retry-after"]) == (529, overloaded, "3")
        assert not summarise(tmp_path / "log").tokens.prompt
        assert summarise(tmp_path / "log").service_failed
        post(running, "/anthropic/v1/messages", MESSAGE)
    summary = summarise(tmp_path / "log")
    assert (summary.calls, summary.done, summary.failed, summary.service_failed) == (2, 1, 1, False)
    assert (summary.tokens, summary.usd) == (Tokens(prompt=10, output=2), pytest.approx(30 / 1e6))


def test_a_service_that_is_not_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with gatewayed(tmp_path / "log", f"http://127.0.0.1:{port}") as running:
        status, body, _ = post(running, "/anthropic/v1/messages", MESSAGE)
    assert (status, json.loads(body)["error"]["type"]) == (502, "api_error")
    summary = summarise(tmp_path / "log")
    assert (summary.failed, summary.usd, summary.service_failed) == (1, 0.0, True)


@pytest.mark.parametrize("parts", [1, 5])
def test_a_stream_that_the_service_cuts_is_cut_for_the_agent(tmp_path: Path, parts: int) -> None:
    script = lambda a: a.stream(anthropic_stream(1000, 50)[:parts], end=False)  # noqa: E731
    broken = pytest.raises((http.client.IncompleteRead, OSError))
    with service(script) as (url, _), gatewayed(tmp_path / "log", url) as running, broken:
        post(running, "/anthropic/v1/messages", MESSAGE)
    summary = summarise(tmp_path / "log")
    assert (summary.done, summary.cut, summary.service_failed) == (0, 1, True)
    assert summary.cut_tokens == Tokens(prompt=1000, output=1 if parts == 1 else 50)
    assert summary.tokens == Tokens()
    assert read_reply(tmp_path / "log", 1) == b"".join(anthropic_stream(1000, 50)[:parts])


def test_an_agent_that_goes_away_ends_the_call(tmp_path: Path) -> None:
    ended = threading.Event()

    def script(answer: Answer) -> None:
        def endless() -> Any:
            yield anthropic_stream(1000, 50)[0]
            while True:
                yield b": ping\n\n"
                time.sleep(0.02)

        try:
            answer.stream(endless())
        except OSError:
            ended.set()

    with service(script) as (url, _), gatewayed(tmp_path / "log", url) as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port or 0, timeout=20)
        connection.request("POST", "/anthropic/v1/messages", json.dumps(MESSAGE), {"x-api-key": TOKEN})
        connection.getresponse().read(10)
        connection.close()
        assert ended.wait(5)
    call = read_calls(tmp_path / "log")[0][0]
    assert (call.outcome, call.tokens) == ("cut_by_agent", Tokens(prompt=1000, output=1))


def test_the_deadline_cuts_what_is_under_way_and_refuses_what_comes(tmp_path: Path) -> None:
    def script(answer: Answer) -> None:
        def endless() -> Any:
            yield anthropic_stream(1000, 50)[0]
            while True:
                yield b": ping\n\n"
                time.sleep(0.02)

        answer.stream(endless())

    with service(script) as (url, calls), gatewayed(tmp_path / "log", url, seconds=1.0) as running:
        began = time.monotonic()
        with pytest.raises((http.client.IncompleteRead, OSError)):
            post(running, "/anthropic/v1/messages", MESSAGE)
        assert 0.5 < time.monotonic() - began < 3
        assert post(running, "/anthropic/v1/messages", MESSAGE)[0] == 403
    assert len(calls) == 1
    summary = summarise(tmp_path / "log")
    assert (summary.cut, summary.refused, summary.service_failed) == (1, {"deadline": 1}, False)
    assert summary.usd == pytest.approx((1000 * 1 + 1 * 10) / 1e6)
    assert summary.most_usd is not None
    assert summary.most_usd > summary.usd


def test_the_end_of_the_run_cuts_what_is_under_way(tmp_path: Path) -> None:
    def script(answer: Answer) -> None:
        answer.stream(iter(lambda: time.sleep(0.02) or b": ping\n\n", b""))

    def call() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            post(running, "/anthropic/v1/messages", MESSAGE)

    with service(script) as (url, calls):
        began = time.monotonic()
        with gatewayed(tmp_path / "log", url) as running:
            thread = threading.Thread(target=call)
            thread.start()
            while not calls:
                time.sleep(0.01)
        thread.join(5)
        assert not thread.is_alive()
        assert time.monotonic() - began < 5
    assert [event["event"] for event in read_events(tmp_path / "log")][-2:] == ["end", "close"]
    assert read_calls(tmp_path / "log")[0][0].outcome.startswith("cut_by")


def test_the_spend_limit_holds_by_reservation(tmp_path: Path) -> None:
    """Each call may cost up to 100 tokens of output, $0.001, and costs half of that: the limit lets three through.

    At once only one fits under the limit with its worst case, so that the others wait rather than overrun it.
    """
    script = lambda a: a.stream(anthropic_stream(0, 50))  # noqa: E731
    with service(script) as (url, calls), gatewayed(tmp_path / "log", url, usd=0.002) as running:
        statuses: list[int] = []
        threads = [
            threading.Thread(target=lambda: statuses.append(post(running, "/anthropic/v1/messages", MESSAGE)[0]))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    summary = summarise(tmp_path / "log")
    assert sorted(statuses) == [200, 200, 403, 403, 403, 403] or sorted(statuses) == [200, 200, 200, 403, 403, 403]
    assert summary.spend_refused
    assert summary.usd is not None
    assert summary.usd <= 0.002
    assert len(calls) == summary.done


def test_a_model_without_a_price_is_refused_under_a_limit_and_null_without(tmp_path: Path) -> None:
    script = lambda a: a.stream(anthropic_stream(10, 5))  # noqa: E731
    for name, usd, expected in (("a", 1.0, 403), ("b", None, 200)):
        with service(script) as (url, _), gatewayed(tmp_path / name, url, usd=usd, prices={}) as running:
            assert post(running, "/anthropic/v1/messages", MESSAGE)[0] == expected
    summary = summarise(tmp_path / "b")
    assert (summary.done, summary.usd, summary.tokens) == (1, None, Tokens(prompt=10, output=5))


def test_growing_conversations_are_kept_without_repeating_them(tmp_path: Path) -> None:
    picture = "QUJD" * 100_000
    bodies = []
    messages: list[dict[str, str]] = []
    for turn in range(20):
        messages = [*messages, {"role": "user", "content": f"{turn}{picture}"}]
        bodies.append(json.dumps({"model": "m1", "messages": messages, "tools": ["t" * 1000], "n": turn}).encode())
    with service(lambda a: a.stream(anthropic_stream(1, 1))) as (url, _), gatewayed(tmp_path / "log", url) as running:
        for body in bodies:
            post(running, "/anthropic/v1/messages", body)
    for number, body in enumerate(bodies, 1):
        assert read_request(tmp_path / "log", number) == body
    assert sum(path.stat().st_size for path in (tmp_path / "log").iterdir()) < len(bodies[-1]) / 10


def test_a_slow_reader_holds_the_service_back(tmp_path: Path) -> None:
    """The gateway's memory is bounded: what the agent does not read, the service cannot go on sending."""
    sent = 0

    def script(answer: Answer) -> None:
        def endless() -> Any:
            nonlocal sent
            while sent < 400 << 20:
                sent += 1 << 20
                yield b": " + bytes(1 << 20) + b"\n\n"

        answer.stream(endless())

    with service(script) as (url, _), gatewayed(tmp_path / "log", url) as running:
        connection = http.client.HTTPConnection("127.0.0.1", running.port or 0, timeout=20)
        connection.request("POST", "/anthropic/v1/messages", json.dumps(MESSAGE), {"x-api-key": TOKEN})
        connection.getresponse().read(10)
        time.sleep(1.5)
        stuck = sent
        time.sleep(0.5)
        assert sent == stuck < 60 << 20
        connection.close()


def test_settings_reach_another_process_whole() -> None:
    made = GatewaySettings(
        wire="gemini",
        key=KEY,
        token=TOKEN,
        models=frozenset({"m1", "m2"}),
        deadline=1.5,
        endpoint="http://x",
        usd=2.0,
        hosted_tools=frozenset({"web_search"}),
        prices={"m1": PRICE},
    )
    assert GatewaySettings.from_json(json.loads(json.dumps(made.as_json()))) == made
    assert KEY not in repr(made)
    assert TOKEN not in repr(made)


def test_a_storm_leaves_one_end_for_each_call(tmp_path: Path) -> None:
    """200 calls, 24 at once; a quarter go away, a quarter meet a broken stream: nothing is lost or doubled."""
    seen = itertools.count()

    def script(answer: Answer) -> None:
        broken = next(seen) % 4 == 0
        answer.stream(anthropic_stream(1000, 50)[: 3 if broken else 6], end=not broken)

    def call(number: int) -> None:
        if number % 4:
            with contextlib.suppress(OSError, http.client.HTTPException):
                post(running, "/anthropic/v1/messages", {**MESSAGE, "n": number})
            return
        connection = http.client.HTTPConnection("127.0.0.1", running.port or 0, timeout=20)
        connection.request("POST", "/anthropic/v1/messages", json.dumps(MESSAGE), {"x-api-key": TOKEN})
        connection.close()

    with service(script) as (url, _), gatewayed(tmp_path / "log", url) as running, ThreadPoolExecutor(24) as pool:
        list(pool.map(call, range(200)))
    events = read_events(tmp_path / "log")
    asked = sorted(event["call"] for event in events if event["event"] == "request")
    ended = sorted(event["call"] for event in events if event["event"] == "end")
    assert asked == ended == list(range(1, len(asked) + 1))
    calls, refused = read_calls(tmp_path / "log")
    assert refused == {}
    assert 150 <= len(calls) <= 200  # one that went away before it was read was never a call
    summary = summarise(tmp_path / "log")
    assert summary.done + summary.cut + summary.failed == len(calls)
    assert summary.done >= 50
    assert summary.tokens == Tokens(prompt=1000 * summary.done, output=50 * summary.done)
    assert summary.usd == pytest.approx(sum(call.usd or 0 for call in calls))
    assert {call.outcome for call in calls} <= {"done", "cut_by_service", "cut_by_agent", "cut_by_end"}
