"""Small result sets: one by hand, and a strategy for arbitrary ones."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

from tests.scores.naive import DIMS, Rows
from vvb_assets.scores.results import Results
from vvb_assets.scores.schema import VERDICTS

SCHEMAS: dict[str, dict[str, Any]] = {
    "checks": {"task": pl.String, "check": pl.String, "core": pl.Boolean},
    "runs": {
        "system": pl.String,
        "task": pl.String,
        "delivered": pl.Boolean,
        "spec_pass": pl.Boolean,
        "usd": pl.Float64,
    },
    "verdicts": dict.fromkeys(("panel", "system", "task", "check", "verdict"), pl.String),
    "scores": {**dict.fromkeys(("panel", "system", "task", "dim"), pl.String), "score": pl.Float64},
}


def to_results(rows: Rows, **more: pl.DataFrame) -> Results:
    """Rows as frames, not yet validated."""
    return Results(**{n: pl.DataFrame(rows[n], schema=s, orient="row") for n, s in SCHEMAS.items()}, **more)


def hand_made() -> Rows:
    """Two panels, two systems, two tasks. Task t1: core a, core b, detail c. Task t2: core a.

    `up` delivers both; `half` delivers t1 alone. P: up t1 pass pass fail, t2 unknown; half t1 fail pass pass.
    Q: up t1 pass na pass, t2 pass; half t1 pass pass judge_error.
    """
    checks = [("t1", "a", True), ("t1", "b", True), ("t1", "c", False), ("t2", "a", True)]
    runs = [("up", "t1", True, True, 1.0), ("up", "t2", True, True, 3.0)]
    runs += [("half", "t1", True, False, 2.0), ("half", "t2", False, None, None)]
    verdicts = {
        ("P", "up", "t1"): ["pass", "pass", "fail"],
        ("P", "up", "t2"): ["unknown"],
        ("P", "half", "t1"): ["fail", "pass", "pass"],
        ("Q", "up", "t1"): ["pass", "na", "pass"],
        ("Q", "up", "t2"): ["pass"],
        ("Q", "half", "t1"): ["pass", "pass", "judge_error"],
    }
    scores = {
        ("P", "up", "t1"): [4, 4, 4, 4, None],
        ("P", "up", "t2"): [2, 4, 4, 4, 5],
        ("P", "half", "t1"): [3, 3, 3, 3, 3],
        ("Q", "up", "t1"): [5, 5, 5, 5, 5],
        ("Q", "up", "t2"): [5, 5, 5, 5, 4],
        ("Q", "half", "t1"): [2, 3, 4, 5, 1],
    }
    return {
        "checks": [dict(zip(("task", "check", "core"), c, strict=True)) for c in checks],
        "runs": [dict(zip(("system", "task", "delivered", "spec_pass", "usd"), r, strict=True)) for r in runs],
        "verdicts": [
            {"panel": p, "system": s, "task": t, "check": c, "verdict": v}
            for (p, s, t), values in verdicts.items()
            for c, v in zip("abc", values, strict=False)
        ],
        "scores": [
            {"panel": p, "system": s, "task": t, "dim": d, "score": v}
            for (p, s, t), values in scores.items()
            for d, v in zip(DIMS, values, strict=True)
        ],
    }


@st.composite
def result_rows(draw: st.DrawFn) -> Rows:
    """Arbitrary valid rows: missing runs, unknown scores, judge errors, unjudged runs, tasks without checks."""
    systems = [f"s{i}" for i in range(draw(st.integers(1, 3)))]
    tasks = [f"t{i}" for i in range(draw(st.integers(1, 4)))]
    panels = [f"p{i}" for i in range(draw(st.integers(1, 3)))]
    checks = [
        {"task": t, "check": f"c{i}", "core": draw(st.booleans())}
        for t in tasks
        for i in range(draw(st.integers(0, 3)))
    ]
    verdict = st.sampled_from(
        draw(st.sampled_from([VERDICTS, ("pass", "fail"), ("unknown",), ("pass", "judge_error")]))
    )
    score = st.sampled_from([None, 1, 2, 3, 4, 5]) if draw(st.booleans()) else st.integers(1, 5)
    rows: Rows = {"checks": checks, "runs": [], "verdicts": [], "scores": []}
    gaps = draw(st.booleans())
    for s in systems:
        delivers = draw(st.sampled_from([True, True, None, False]))
        for t in tasks:
            made = draw(st.booleans()) if delivers is None else delivers
            spec, usd = draw(st.sampled_from([True, False, None])), draw(st.sampled_from([None, 0.0, 0.5, 2.0]))
            rows["runs"].append({"system": s, "task": t, "delivered": made, "spec_pass": spec, "usd": usd})
            for p in panels:
                if not made or (gaps and draw(st.integers(0, 5)) == 0):
                    continue
                for c in checks:
                    if c["task"] == t and not (gaps and draw(st.integers(0, 7)) == 0):
                        key = {"panel": p, "system": s, "task": t}
                        rows["verdicts"].append({**key, "check": c["check"], "verdict": draw(verdict)})
                for d in DIMS:
                    rows["scores"].append({"panel": p, "system": s, "task": t, "dim": d, "score": draw(score)})
    return rows
