"""Reading replies: bodies of `tests/data/judges/faults.json` as far as the text alone decides, then the corners."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vvb_resources.judges.reading import read_reply

FAULTS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "judges" / "faults.json").read_text())


def text_of(body: dict[str, Any]) -> str | None:
    """The model's text in the three services' envelopes; None where there is no text part."""
    if "candidates" in body:
        parts = body["candidates"][0].get("content", {}).get("parts", [])
        return parts[0]["text"] if parts else None
    for item in body.get("output", body.get("content", [])):
        for part in item.get("content", [item]):
            if part.get("type") in ("output_text", "text"):
                return str(part["text"])
    return None


BY_TEXT = {
    name: (text, fault["expect"])
    for name, fault in FAULTS.items()
    if fault["status"] == 200 and (text := text_of(fault["body"])) is not None and fault["expect"] != "blocked"
}


def test_the_text_decides_these_faults() -> None:
    assert len(FAULTS) == 39
    assert sorted(BY_TEXT) == sorted(
        [
            "a_max_tokens",
            "g_4/5",
            "g_NA",
            "g_bad_enum",
            "g_dup_conflict",
            "g_fence",
            "g_invented",
            "g_loop",
            "g_max_tokens_cut",
            "g_missing",
            "g_mmss",
            "g_ok",
            "g_score_4.5",
            "g_score_repeat",
            "g_stop_empty_text",
            "g_unknown_finish",
            "o_incomplete",
        ]
    )


@pytest.mark.parametrize("name", sorted(BY_TEXT))
def test_fault(name: str) -> None:
    text, expected = BY_TEXT[name]
    assert read_reply(text, ("c1", "c2"), ("q",)).outcome == expected


MISSING = {
    "g_missing": (("c2",), ()),
    "g_dup_conflict": (("c1",), ()),
    "g_bad_enum": (("c1",), ()),
    "g_score_4.5": ((), ("q",)),
    "g_score_repeat": ((), ("q",)),
    "g_max_tokens_cut": (("c2",), ("q",)),
    "g_loop": (("c2",), ("q",)),
}


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_asked_again(name: str) -> None:
    reading = read_reply(BY_TEXT[name][0], ("c1", "c2"), ("q",))
    assert (reading.missing_checks, reading.missing_dims) == MISSING[name]
    assert not any(verdict.check in reading.missing_checks for verdict in reading.verdicts)


def test_values_of_the_lenient_cases() -> None:
    assert read_reply(BY_TEXT["g_4/5"][0], ("c1", "c2"), ("q",)).scores[0].score == 4
    assert read_reply(BY_TEXT["g_NA"][0], ("c1", "c2"), ("q",)).verdicts[0].status == "na"
    verdict = read_reply(BY_TEXT["g_mmss"][0], ("c1", "c2"), ("q",)).verdicts[0]
    assert (verdict.start_s, verdict.end_s) == (7.0, 62.0)
    reading = read_reply(BY_TEXT["g_invented"][0], ("c1", "c2"), ("q",))
    assert [verdict.check for verdict in reading.verdicts] == ["c1", "c2"]
    assert "'c9' was not asked" in reading.problems


def reply(**row: Any) -> str:
    return json.dumps({"checks": [{"id": "c1", "status": "pass", **row}], "scores": []})


@pytest.mark.parametrize(
    ("score", "expected"),
    [(1, 1), (5.0, 5), ("3", 3), ("4/5", 4), (" 2 / 5 ", 2), (None, None)],
)
def test_scores_that_count(score: object, expected: int | None) -> None:
    reading = read_reply(json.dumps({"scores": [{"name": "VQ", "score": score}]}), (), ("VQ",))
    assert reading.outcome == "ok"
    assert reading.scores[0].score == expected


@pytest.mark.parametrize("score", [0, 6, 4.5, 4444444, -1, "4/10", "four", True, [4], "4.5", "44"])
def test_scores_that_are_asked_again_and_never_clamped(score: object) -> None:
    reading = read_reply(json.dumps({"scores": [{"name": "VQ", "score": score}]}), (), ("VQ",))
    assert (reading.outcome, reading.missing_dims, reading.scores) == ("partial", ("VQ",), ())


def test_a_repeated_row_that_agrees_counts_once() -> None:
    row = {"id": "c1", "status": "fail"}
    assert read_reply(json.dumps({"checks": [row, row]}), ("c1",), ()).outcome == "ok"


def test_a_key_given_twice_in_a_row_is_no_answer() -> None:
    text = '{"checks": [{"id": "c1", "status": "fail", "status": "pass"}]}'
    assert read_reply(text, ("c1",), ()).missing_checks == ("c1",)


def test_a_bad_interval_or_channel_is_dropped_and_the_verdict_kept() -> None:
    reading = read_reply(reply(start_s=9, end_s=2, channel="smell"), ("c1",), ())
    verdict = reading.verdicts[0]
    assert (verdict.status, verdict.start_s, verdict.end_s, verdict.channel) == ("pass", None, None, None)
    assert len(reading.problems) == 1
    assert read_reply(reply(start_s="NaN", end_s=-1), ("c1",), ()).verdicts[0].start_s is None


def test_rows_inside_a_reason_are_text() -> None:
    reading = read_reply(reply(reason='see {"id": "c2", "status": "pass"}'), ("c1", "c2"), ())
    assert reading.missing_checks == ("c2",)


def test_unparseable_is_never_a_verdict() -> None:
    for text in ("I cannot judge this.", "[1, 2]", "{", "null", "{" * 100_000, '{"checks": "none"}'):
        reading = read_reply(text, ("c1",), ("VQ",))
        assert reading.verdicts == ()
        assert reading.scores == ()
        assert reading.outcome in ("partial", "truncated")


def test_envelopes_without_an_answer() -> None:
    assert read_reply("{}", ("c1",), (), outcome="blocked").outcome == "blocked"
    assert read_reply("", ("c1",), (), outcome="truncated").outcome == "truncated"
    assert read_reply(" \n", ("c1",), ()).outcome == "empty"


WHOLE = json.dumps(
    {
        "checks": [
            {"id": f"c{i}", "status": "fail" if i % 2 else "pass", "reason": 'say "}, {" [x]'} for i in range(4)
        ],
        "scores": [{"name": "VQ", "score": 3}],
    }
)


@given(st.integers(0, len(WHOLE)))
@settings(max_examples=200, deadline=None)
def test_a_cut_anywhere_keeps_exactly_the_whole_rows(at: int) -> None:
    """The rows that are whole in the first `at` characters are those whose closing brace is among them."""
    ends = [found.end() for found in re.finditer(r'\[x\]"}', WHOLE)]
    reading = read_reply(WHOLE[:at], ("c0", "c1", "c2", "c3"), ("VQ",))
    kept = [verdict.check for verdict in reading.verdicts]
    assert kept == [f"c{i}" for i, end in enumerate(ends) if end <= at]
    whole = WHOLE[:at].count('"score": 3}')  # the last row; what is cut after it loses nothing
    assert reading.outcome == ("empty" if at == 0 else "ok" if whole else "truncated")


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_text_raises(text: str) -> None:
    reading = read_reply(text, ("c1",), ("VQ",))
    assert set(reading.missing_checks) | {v.check for v in reading.verdicts} == {"c1"}
