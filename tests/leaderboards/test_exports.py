"""Tables as text and files, and the picture of the ranking."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from polars.testing import assert_frame_equal

from tests.scores.sets import hand_made, to_results
from vvb_assets.leaderboards.columns import TABLES
from vvb_assets.leaderboards.main import HUMAN_COLUMNS, LEADERBOARD_COLUMNS
from vvb_assets.leaderboards.pictures import NV0, ranking_picture
from vvb_assets.leaderboards.score import score_results
from vvb_resources.errors import StoreError
from vvb_resources.store.tables import TableSpec, read_table, render, to_latex, to_markdown, write_table

FRAME = pl.DataFrame(
    {
        "system": ["a|b", "c_d"],
        "strict_pct": [12.345, None],
        "strict_low_pct": [12.345, 10.0],
        "strict_high_pct": [12.345, 22.5],
        "mean_usd": [0.5, None],
        "overall_nv0": [3.14159, None],
        "complete": [True, False],
    }
)
SPEC = TableSpec("T", {}, {"strict_pct": "Strict %"}, ("system", "strict_pct", "mean_usd", "overall_nv0", "complete"))


def test_markdown() -> None:
    assert to_markdown(FRAME, SPEC).splitlines() == [
        "| system | Strict % | mean_usd | overall_nv0 | complete |",
        "| :--- | ---: | ---: | ---: | :--- |",
        "| a\\|b | 12.3 | 0.50 | 3.142 | yes |",
        "| c_d | 10.0–22.5 | – | – | no |",
    ]


def test_latex_escapes() -> None:
    lines = to_latex(FRAME, SPEC).splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrl}"
    assert lines[2] == r"system & Strict \% & mean\_usd & overall\_nv0 & complete \\"
    assert lines[5] == r"c\_d & 10.0--22.5 & -- & -- & no \\"


def test_programs_get_full_precision_and_null(tmp_path: Path) -> None:
    assert json.loads(render(FRAME, "json"))[1]["overall_nv0"] is None
    files = write_table(FRAME, tmp_path, "t", ("parquet", "csv", "markdown", "latex", "json"), SPEC)
    assert [f.name for f in files] == ["t.parquet", "t.csv", "t.md", "t.tex", "t.json"]
    assert_frame_equal(read_table(tmp_path, "t"), FRAME)
    assert pl.read_csv(tmp_path / "t.csv")["overall_nv0"].to_list() == [3.14159, None]


def test_nan_and_unknown_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="column x holds NaN"):
        write_table(pl.DataFrame({"x": [float("nan")]}), tmp_path, "t")
    with pytest.raises(StoreError, match="no text format 'html'"):
        render(FRAME, "html")
    with pytest.raises(StoreError, match="is not there"):
        read_table(tmp_path, "none")


def test_every_column_of_every_table_is_described() -> None:
    tables = score_results(to_results(hand_made()).validate())
    assert tables.keys() == TABLES.keys()
    for name, frame in tables.items():
        assert frame.columns == list(TABLES[name].columns)
        assert set(TABLES[name].shown) <= set(frame.columns)
    assert set(TABLES["leaderboard"].columns) == {*LEADERBOARD_COLUMNS, *HUMAN_COLUMNS}


def test_picture_draws_each_score_to_scale() -> None:
    """The blue bars' lengths are in the proportion of the scores; the same table gives the same bytes."""
    board = score_results(to_results(hand_made()).validate())["leaderboard"]
    png = ranking_picture(board)
    assert png == ranking_picture(board)
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    assert pixels.shape[1] == 1200
    blue = np.abs(pixels - [int(NV0[i : i + 2], 16) for i in (1, 3, 5)]).sum(axis=2) < 12
    lengths = blue[:-90].sum(axis=1)  # the legend's square is in the last rows
    first, second = sorted({int(x) for x in lengths if x > 50}, reverse=True)[:2]
    scores = board["overall_nv0"].to_list()
    assert first / second == pytest.approx(scores[0] / scores[1], rel=0.02)


def test_picture_of_an_incomplete_board() -> None:
    """A row without figures is drawn, not dropped: the picture is one row higher than with one system."""
    board = score_results(to_results(hand_made()).validate())["leaderboard"]
    empty = board.with_columns(pl.lit(None, pl.Float64).alias(c) for c in ("overall_nv0", "overall_deliv"))
    heights = [Image.open(io.BytesIO(ranking_picture(b))).height for b in (empty, empty.head(1))]
    assert heights[0] - heights[1] == 66
