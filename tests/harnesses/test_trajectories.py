"""Logs as they are, cut, mixed and damaged. The four logs' totals come from independent parsers (expected.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from vvb_assets.commands.trajectory import command
from vvb_resources.benchmark.models import Price
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.trajectory.reading import parser_ids, read_trajectory
from vvb_resources.harnesses.trajectory.types import Trajectory

LOGS = Path(__file__).parents[1] / "data" / "trajectories"
EXPECTED: dict[str, Any] = json.loads((LOGS / "expected.json").read_text())
FOUR = ("claude_code", "codex", "gemini_cli", "dsh")


def lines_of(harness: str) -> list[bytes]:
    return (LOGS / f"{harness}.jsonl").read_bytes().splitlines(keepends=True)


def read(harness: str, content: bytes, folder: Path) -> Trajectory:
    path = folder / "log.jsonl"
    path.write_bytes(content)
    return read_trajectory(harness, path)


@pytest.mark.parametrize("harness", FOUR)
def test_totals_are_those_of_independent_parsers(harness: str) -> None:
    done = CliRunner().invoke(command, [harness, str(LOGS / f"{harness}.jsonl"), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    expected = EXPECTED[harness]
    assert {kind: document["totals"][kind] for kind in expected["totals"]} == expected["totals"]
    for model, tokens in expected.get("models", {}).items():
        assert {kind: document["models"][model][kind] for kind in tokens} == tokens
    assert set(document["totals"]) == {
        *("prompt_tokens", "cached_tokens", "cache_creation_tokens", "output_tokens", "reasoning_tokens", "usd")
    }
    assert document["complete"] is True
    assert document["totals"]["usd"] is None  # none of these models has a price
    if "assistant_messages" in expected:
        assert sum(step["requests"] for step in document["steps"]) == expected["assistant_messages"]


@pytest.mark.parametrize("harness", FOUR)
def test_a_log_cut_inside_a_line_is_a_part_at_every_line(harness: str, tmp_path: Path) -> None:
    lines = lines_of(harness)
    whole = read(harness, b"".join(lines), tmp_path).totals
    for number in range(len(lines)):
        cut = read(harness, b"".join(lines[:number]) + lines[number][: len(lines[number]) // 2], tmp_path)
        assert not cut.complete
        assert cut.problems
        for kind in type(whole).model_fields:
            assert getattr(cut.totals, kind) <= getattr(whole, kind)


@pytest.mark.parametrize("harness", FOUR)
def test_a_log_without_one_of_its_lines_never_says_more(harness: str, tmp_path: Path) -> None:
    lines = lines_of(harness)
    whole = read(harness, b"".join(lines), tmp_path).totals
    for number in range(len(lines)):
        part = read(harness, b"".join(lines[:number] + lines[number + 1 :]), tmp_path).totals
        for kind in type(whole).model_fields:
            assert getattr(part, kind) <= getattr(whole, kind)


@pytest.mark.parametrize("harness", FOUR)
def test_half_a_log_is_not_complete(harness: str, tmp_path: Path) -> None:
    lines = lines_of(harness)
    assert not read(harness, b"".join(lines[: len(lines) // 2]), tmp_path).complete


@pytest.mark.parametrize("harness", FOUR)
@pytest.mark.parametrize("other", FOUR)
def test_two_logs_in_one_file_are_noticed(harness: str, other: str, tmp_path: Path) -> None:
    mine, theirs = lines_of(harness), lines_of(other)
    if harness == other:  # a second session of the same harness: other ids, a day later
        text = b"".join(mine).replace(b'"id0', b'"jd0').replace(b"2025-", b"2027-").replace(b"2026-", b"2028-")
        theirs = text.replace(b": 17867", b": 17868").splitlines(keepends=True)
    mixed = [line for pair in zip(mine, theirs, strict=False) for line in pair]
    found = read(harness, b"".join(mixed), tmp_path)
    assert not found.complete
    assert found.totals.prompt > 0


@pytest.mark.parametrize("harness", FOUR)
def test_what_two_writers_put_on_one_line_is_read_and_noticed(harness: str, tmp_path: Path) -> None:
    lines = lines_of(harness)
    for number in range(len(lines) - 1):
        joined = [*lines[:number], lines[number].rstrip(b"\n") + lines[number + 1], *lines[number + 2 :]]
        found = read(harness, b"".join(joined), tmp_path)
        assert found.totals == read(harness, b"".join(lines), tmp_path).totals
        assert found.problems == (f"log.jsonl:{number + 1}: 2 objects on one line; several writers may be mixed",)


def test_a_log_is_found_by_file_by_folder_and_by_its_older_form(tmp_path: Path) -> None:
    """Gemini CLI once wrote one document a session, with the messages in a list."""
    records = [json.loads(line) for line in lines_of("gemini_cli_scripted")]
    whole = {**records[0], "messages": [record for record in records if "type" in record]}
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "session-1.json").write_text(json.dumps(whole, indent=1))
    for path in (tmp_path, tmp_path / "chats", tmp_path / "chats" / "session-1.json"):
        assert read_trajectory("gemini_cli", path).totals.prompt == 10000
    (tmp_path / "chats" / "session-1.json").write_bytes(b"".join(lines_of("gemini_cli_scripted")))
    assert read_trajectory("gemini_cli", tmp_path).totals.prompt == 10000
    (tmp_path / "chats" / "session-1.json").write_text(json.dumps(whole, indent=1)[:-500])
    assert not read_trajectory("gemini_cli", tmp_path).complete


@pytest.mark.parametrize("harness", parser_ids())
def test_nothing_is_never_a_silent_zero(harness: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for content in (b"", b"\n\n", b"\xff\xfe\x00", b"[]\n1\nnull\n", b"{}\n", b'{"type": "x"}\n', b"[" * 100_000):
        found = read(harness, content, tmp_path)
        assert (found.totals.prompt, found.complete) == (0, False)
        assert found.usd({}) is None
    found = read_trajectory(harness, tmp_path / "empty")
    assert (found.complete, found.steps) == (False, ())


# Two answers each, billed by tests/standin/scripted.py: (prompt, cached, cache writes, output, reasoning).
SCRIPTED = {
    "claude_code": (2 * 3240 - 200, 3000, 3200, 120, 0),
    "codex": (2 * 4200, 4000, 0, 180, 50),
    "gemini_cli": (2 * 5000, 4500, 0, 180, 40),
    "kimi_code": (2 * 2000, 1500, 0, 100, 0),
    "qwen_code": (2 * 2000, 1500, 0, 100, 20),
}


@pytest.mark.parametrize("harness", SCRIPTED)
def test_logs_of_todays_programs_show_every_cut(harness: str, tmp_path: Path) -> None:
    """Whole, with the tokens that were billed; and not complete after any of their lines but the last that matters."""
    lines = lines_of(f"{harness}_scripted")
    found = read(harness, b"".join(lines), tmp_path)
    assert tuple(getattr(found.totals, kind) for kind in type(found.totals).model_fields) == SCRIPTED[harness]
    assert (found.complete, found.problems, found.tool_calls) == (True, (), 1)
    agent = [step for step in found.steps if step.source == "agent"]
    assert [step.requests for step in agent] == [1, 1]
    assert [result.error for result in agent[0].results] == [False]
    assert agent[1].message == "The video lies in delivery/; it was rendered and not looked at."
    answer = max(number for number, line in enumerate(lines) if b"rendered and not looked at" in line)
    assert [n for n in range(answer) if read(harness, b"".join(lines[:n]), tmp_path).complete] == []


def test_antigravity_adds_what_was_read_from_the_cache(tmp_path: Path) -> None:
    """The largest usage of a step counts; cache reads are not in the input. 100+900, 150+1000 in; 20, 30 out."""
    call = {"name": "run_command", "args": {"command": "ls"}}
    small, one = ({"input_tokens": 100, "cache_read_tokens": 900, "output_tokens": n} for n in (5, 20))
    two = {"input_tokens": 150, "cache_read_tokens": 1000, "output_tokens": 30}
    events = [
        {"step_update": {"step_index": 0, "type": "USER_INPUT", "content": "Do it."}},
        {"step_update": {"step_index": 1, "type": "PLANNER_RESPONSE", "usage": small}},
        {
            "step_update": {
                "step_index": 1,
                "type": "PLANNER_RESPONSE",
                "content": "a",
                "tool_calls": [call],
                "usage": one,
            }
        },
        {"step_update": {"step_index": 2, "type": "PLANNER_RESPONSE", "content": "done", "usage": two}},
        {"type": "result", "result": {"usage": {"input_tokens": 250, "cache_read_tokens": 1900, "output_tokens": 50}}},
    ]
    lines = [json.dumps(event).encode() + b"\n" for event in events]
    found = read("antigravity", b"".join(lines), tmp_path)
    assert (found.totals.prompt, found.totals.cached, found.totals.output) == (2150, 1900, 50)
    assert (found.complete, found.problems, found.tool_calls) == (True, (), 1)
    assert [step.source for step in found.steps] == ["user", "agent", "agent"]
    for number in range(len(lines)):
        assert not read("antigravity", b"".join(lines[:number]), tmp_path).complete
    lost = read("antigravity", b"".join(lines[:3] + lines[4:]), tmp_path)
    assert lost.problems == ("the total of tokens differs from the sum over the steps",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def paths_of(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, part in inner for path in paths_of(part, (*at, key)))]


@pytest.mark.parametrize("log", [*FOUR, *(f"{harness}_scripted" for harness in SCRIPTED)])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_value_of_any_other_type_is_no_crash(
    log: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    harness = log.removesuffix("_scripted")
    lines = [json.loads(line) for line in lines_of(log)]
    for number in data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, max_size=4)):
        path = data.draw(st.sampled_from(paths_of(lines[number])))
        junk = data.draw(JSON)
        if not path:
            lines[number] = junk
            continue
        place = lines[number]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = junk
    text = "\n".join(json.dumps(line) for line in lines)
    found = read(harness, text.encode(), tmp_path_factory.mktemp("log"))
    assert found.totals.prompt >= 0
    found.model_dump_json()


def test_a_session_over_two_models_is_priced_by_model(tmp_path: Path) -> None:
    found = read_trajectory("gemini_cli", LOGS / "gemini_cli.jsonl")
    flash, pro = Price(input=1.0, cached=0.1, output=2.0), Price(input=10.0, output=20.0)
    prices = {"gemini-3-flash-preview": flash, "gemini-3.1-pro-preview": pro}
    by_hand = ((162348 - 48951) * 1 + 48951 * 0.1 + 3575 * 2 + 40238 * 10 + 718 * 20) / 1e6
    assert found.usd(prices) == pytest.approx(by_hand, rel=1e-12)
    assert found.usd({"gemini-3-flash-preview": flash}) is None


def test_unknown_harness_and_log_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="use one of: antigravity, claude_code, codex, dsh"):
        read_trajectory("nonesuch", LOGS / "codex.jsonl")
    with pytest.raises(SandboxError, match="there is no such log"):
        read_trajectory("codex", tmp_path / "nothing.jsonl")


def test_atif_holds_the_same_totals() -> None:
    for harness in FOUR:
        done = CliRunner().invoke(command, [harness, str(LOGS / f"{harness}.jsonl"), "--atif"])
        assert done.exit_code == 0, done.output
        document = json.loads(done.stdout)
        totals, final = EXPECTED[harness]["totals"], document["final_metrics"]
        assert final["total_prompt_tokens"] == totals["prompt_tokens"]
        assert final["total_completion_tokens"] == totals["output_tokens"]
        assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
        agent = [step["metrics"] for step in document["steps"] if "metrics" in step]
        assert sum(metrics["prompt_tokens"] for metrics in agent) == totals["prompt_tokens"]
