"""The notebook runs from top to bottom, on a results folder and on a store, and shows figures known beforehand."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
import polars as pl
import pytest
from nbclient import NotebookClient

from tests.scores.sets import hand_made, to_results
from vvb_assets.panels.reading import VERDICT_SCHEMA
from vvb_assets.scores.results import write_results
from vvb_assets.settings import Settings
from vvb_resources.store.artifacts import ArtifactStore
from vvb_resources.store.atomic import write_parquet
from vvb_resources.store.home import CHECKOUT

NOTEBOOKS = sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
PNG = b"\x89PNG\r\n\x1a\n"


def run(path: Path) -> tuple[str, list[bytes]]:
    """All text that the notebook shows, and its pictures. An exception in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(CHECKOUT)}}
    ).execute()
    texts, pictures = [], []
    for output in (o for cell in notebook.cells for o in cell.get("outputs", [])):
        data: dict[str, Any] = output.get("data", {})
        if output.get("name") != "stderr":
            texts.append(output.get("text") or data.get("text/markdown") or data.get("text/plain") or "")
        if "image/png" in data:
            pictures.append(base64.b64decode(data["image/png"]))
    return "\n".join(texts), pictures


def test_there_is_a_notebook() -> None:
    assert [path.name for path in NOTEBOOKS] == ["leaderboard.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_cleared(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 4
    assert [(cell.outputs, cell.execution_count, dict(cell.metadata)) for cell in code] == [([], None, {})] * len(code)


def test_figures_of_a_results_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = pl.DataFrame({"task": ["t1", "t2"], "category": ["C01", "C04"]})
    write_results(to_results(hand_made(), tasks=tasks).validate(), tmp_path)
    monkeypatch.setenv("VVB_RESULTS", str(tmp_path))
    text, pictures = run(CHECKOUT / "notebooks" / "leaderboard.ipynb")
    assert "4 runs, 14 verdicts, 30 scores" in text
    board = _row(text, "| 1 | up |")
    # P gives `up` the dimension means 3 4 4 4 5, Q 5 5 5 5 4.5: overall (4.0 + 4.9) / 2; it misses no video
    assert board.count("4.450") == 2
    # P gives `half` 3, Q 3 on its one video, and one of its two is missing: 1.5 with it as 0
    assert "| 3.000 | 1.500 |" in _row(text, "half |")
    assert "4.900" in _row(text, "| Q | 1 | up |")
    assert "up on t1, check c" in text
    assert "it has no videos and no replies" in text
    assert [picture[:8] for picture in pictures] == [PNG, PNG]


def _row(text: str, start: str) -> str:
    """The first table row that contains `start`."""
    return next(line for line in text.splitlines() if line.startswith("|") and start in line)


def test_a_score_of_the_store_is_traced_to_what_the_panel_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VVB_RESULTS", raising=False)
    monkeypatch.delenv("VVB_BENCHMARK", raising=False)
    monkeypatch.setenv("VVB_HOME", str(tmp_path))
    workspace = Settings.resolve().open()
    check = workspace.benchmark.tasks["GEARS"].rubric.checks[0]
    keys = {"system": "raster", "task": "GEARS"}
    rows = {
        "checks": [{"task": "GEARS", "check": check.id, "core": True}],
        "runs": [{**keys, "delivered": True, "spec_pass": True, "usd": 1.0}],
        "verdicts": [{"panel": "dense", **keys, "check": check.id, "verdict": "fail"}],
        "scores": [{"panel": "dense", **keys, "dim": dim, "score": 2} for dim in ("VQ", "VA", "CL", "TM", "AQ")],
    }
    said = {
        "check": check.id,
        "core": True,
        "judge": "dense",
        "verdict": "fail",
        "reason": "the small wheel stands still",
    }
    with workspace.store.staging("results", None) as out:
        write_results(to_results(rows).validate(), out)
        _commit(workspace.store, out, "results", None)
    for asset, frame in (
        ("dense/l2_verdicts", pl.DataFrame([said], schema=VERDICT_SCHEMA)),
        ("blinded_media", pl.DataFrame()),
    ):
        with workspace.store.staging(asset, "raster|GEARS") as out:
            write_parquet(out / "verdicts.parquet", frame)
            _commit(workspace.store, out, asset, "raster|GEARS")
    text, _ = run(CHECKOUT / "notebooks" / "leaderboard.ipynb")
    assert "1 runs, 1 verdicts, 5 scores" in text
    assert "| 2.000 | 2.000 |" in _row(text, "| raster |")
    assert f"raster on GEARS, check {check.id}" in text
    assert f"{check.id}: {check.title}" in text
    assert "dense, dense: fail\n  the small wheel stands still" in text
    assert "sparse: not judged" in text


def _commit(store: ArtifactStore, staged: Path, asset: str, partition: str | None) -> None:
    store.commit(
        staged,
        asset=asset,
        partition=partition,
        data_version="0" * 32,
        code_version="1",
        inputs={},
        seconds=0.0,
        summary={"delivered": True},
        checks={},
        keep_old=False,
    )
