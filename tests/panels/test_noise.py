"""A judge's agreement with itself, on answers whose figures can be counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from vvb_assets.panels.repeats import noise


def test_figures_by_hand() -> None:
    """Check a: pass pass fail (1 same of 2, 1 flip of 2); b: unknown fail fail (1 same of 2, 0 flips of 1)."""
    verdicts = {"a": ("pass", "pass", "fail"), "b": ("unknown", "fail", "fail")}
    scores = {"VQ": (3, 4, 5), "AQ": (2, None, 2)}
    rows = [
        {"sample": n, "run": "s|t", "judge": "j", "item": item, "verdict": value, "score": None}
        for item, values in verdicts.items()
        for n, value in enumerate(values)
    ]
    rows += [
        {"sample": n, "run": "s|t", "judge": "j", "item": item, "verdict": None, "score": number}
        for item, numbers in scores.items()
        for n, number in enumerate(numbers)
    ]
    (row,) = noise(pl.DataFrame(rows, infer_schema_length=None)).to_dicts()
    assert (row["videos"], row["samples"]) == (1, 3)
    assert row["same_verdict_pct"] == pytest.approx(50.0)
    assert row["flip_pct"] == pytest.approx(100 / 3)
    assert row["score_sd"] == pytest.approx(0.5)  # of 3, 4, 5: 1; of 2, 2: 0
