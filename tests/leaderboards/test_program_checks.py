"""The L1 table: denominators belong to the tasks, a missing video fails, an unmeasured check stays open."""

from __future__ import annotations

import polars as pl

from vvb_assets.leaderboards.program_checks import l1_check_count, l1_table

CORE = ("container", "decode", "resolution", "fps", "duration", "source_project")
LESSON = ("container", "decode", "resolution", "fps", "duration", "audible", "narration_coverage", "narration_language",
          "black", "frozen")  # fmt: skip


def l1_frame(rows: list[tuple[str, str, str, bool, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["system", "task", "check", "applies", "verdict"], orient="row")


def test_counts_of_the_papers_shape() -> None:
    """205 core tasks, 54 with an exact frame count, 98 with the audible check; 34 lessons and papers: 1,177 + 272."""
    rows = []
    for i in range(205):
        names = {**dict.fromkeys(CORE, True), "frames": i < 54, "audible": i < 98, "black": False}
        rows += [("a", f"core{i}", name, applies, "pass") for name, applies in names.items()]
    assert l1_check_count(l1_frame(rows)) == 1177
    lessons = [("a", f"lesson{i}", name, True, "pass") for i in range(34) for name in LESSON]
    assert l1_check_count(l1_frame(lessons)) == 272
    assert l1_check_count(l1_frame(rows + lessons)) == 1449


def test_table_by_hand() -> None:
    l1 = l1_frame(
        [
            ("a", "t1", "container", True, "pass"),
            ("a", "t1", "decode", True, "pass"),
            ("a", "t1", "fps", True, "fail"),
            ("a", "t1", "black", False, "fail"),
            ("a", "t2", "container", True, "pass"),
            ("a", "t2", "decode", True, "pass"),
            ("a", "t2", "fps", True, "unmeasured"),
            ("b", "t1", "container", True, "pass"),
            ("b", "t1", "decode", True, "na"),
            ("b", "t1", "fps", True, "pass"),
        ]
    )
    runs = pl.DataFrame(
        [("a", "t1", True), ("a", "t2", True), ("b", "t1", True), ("b", "t2", False)],
        schema=["system", "task", "delivered"],
        orient="row",
    )
    table = {(r["system"], r["check"]): r for r in l1_table(l1, runs).to_dicts()}
    assert list(table) == [(s, c) for s in "ab" for c in ("playable", "fps", "every")]
    assert table["a", "playable"]["pass_pct"] == 100.0
    assert (table["a", "fps"]["failed"], table["a", "fps"]["open"], table["a", "fps"]["pass_pct"]) == (1, 1, None)
    assert table["a", "fps"]["reason"] == "1 task open"
    assert (table["a", "every"]["failed"], table["a", "every"]["open"]) == (1, 1)
    assert table["b", "playable"]["pass_pct"] == 0.0  # n/a fails it, and so does no video
    assert table["b", "fps"]["pass_pct"] == 50.0
    assert table["b", "every"]["pass_pct"] == 0.0
