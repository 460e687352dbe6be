"""A full-size synthetic set that was made to match the paper's table of panels gives that table back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from vvb_assets.leaderboards.main import per_panel
from vvb_assets.scores.figures import panel_figures
from vvb_assets.scores.results import read_results
from vvb_assets.scores.statistics import run_statistics

PAPER = Path(__file__).parents[1] / "data" / "paper"


@pytest.mark.skipif("VVB_REFERENCE" not in os.environ, reason="VVB_REFERENCE is not set")
def test_per_panel_equals_the_paper(tmp_path: Path) -> None:
    simulate = Path(os.environ["VVB_REFERENCE"]).resolve() / "simulate" / "simulate.py"
    subprocess.run([sys.executable, str(simulate), "--out", str(tmp_path / "set")], check=True, capture_output=True)
    found = per_panel(panel_figures(run_statistics(read_results(tmp_path / "set"))))
    paper = pl.read_csv(PAPER / "e2_per_panel.csv").rename({"system": "name", "key": "system"})
    both = paper.join(found, on=["panel", "system"], suffix="_found")
    assert len(both) == 27
    limits = {"l2_pass_deliv_pct": 0.07, "l2_pass_nv0_pct": 0.6, "all_core_pct": 0.07, "strict_pct": 0.07}
    limits |= {"unknown_pct": 0.07}
    limits |= dict.fromkeys(("VQ", "VA", "CL", "TM", "AQ", "overall_deliv", "overall_nv0"), 0.006)
    for column, limit in limits.items():
        worst = (both[column] - both[f"{column}_found"]).abs().max()
        assert worst is not None, column
        assert float(worst) <= limit, column  # type: ignore[arg-type]
    order = found.sort("panel", "rank")["system"].to_list()
    assert order == paper.sort("panel", "pos")["system"].to_list()
