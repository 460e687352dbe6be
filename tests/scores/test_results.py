"""The results format: what is read back, and what is refused with file, row and reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.scores.naive import Rows
from tests.scores.sets import hand_made, to_results
from vvb_assets.leaderboards.score import score_results
from vvb_assets.scores import results as reading
from vvb_assets.scores.results import Results, read_results, write_results
from vvb_assets.scores.statistics import run_statistics
from vvb_resources.errors import ResultsError


def whole() -> Results:
    """The hand-made set with every optional file."""
    return to_results(
        hand_made(),
        tasks=pl.DataFrame(
            {
                "task": ["t1", "t2"],
                "category": ["C01", "C02"],
                "kind": ["core", "lesson"],
                "subcategories": [["S1", "D2"], []],
            }
        ),
        systems=pl.DataFrame(
            {"system": ["up", "half"], "name": ["Up", "Half"], "lab": ["x", None], "harness": ["h", "h"]}
        ),
        panels=pl.DataFrame({"panel": ["P", "Q"], "judge_system": [None, "up"], "dims": [["VQ", "AQ"], None]}),
        l1=pl.DataFrame(
            {"system": ["up"], "task": ["t1"], "check": ["container"], "applies": [True], "verdict": ["pass"]}
        ),
        votes=pl.DataFrame({"task": ["t1"], "system_a": ["up"], "system_b": ["half"], "choice": ["both_bad"]}),
    ).validate()


@pytest.mark.parametrize("csv", [False, True])
@pytest.mark.parametrize("name", ["results", "[1] odd *?"])
def test_written_results_read_back(tmp_path: Path, csv: bool, name: str) -> None:
    results, folder = whole(), tmp_path / name
    write_results(results, folder, csv=csv)
    back = read_results(folder)
    for key, frame in results.frames().items():
        other = getattr(back, key)
        if csv and key in ("tasks", "panels"):  # an empty list and an absent one are the same text
            frame, other = (
                f.with_columns(pl.col(pl.List(pl.String)).list.join("|").fill_null("")) for f in (frame, other)
            )
        assert_frame_equal(frame, other)
    assert_frame_equal(run_statistics(results), run_statistics(back))


def test_order_and_numbers_of_ids_survive_csv(tmp_path: Path) -> None:
    (tmp_path / "checks.csv").write_text("check,core,task,note\n001,1,07,ignored\n")
    (tmp_path / "runs.csv").write_text("system,task,delivered\nb,07,TRUE\na,07,false\n")
    (tmp_path / "verdicts.csv").write_text("panel,system,task,check,verdict\nJ,b,07,001,pass\n")
    (tmp_path / "scores.csv").write_text("panel,system,task,dim,score\nJ,b,07,VQ,\nJ,b,07,VA,3\nJ,a,07,VA,\n")
    results = read_results(tmp_path)
    assert (results.task_ids, results.system_ids, results.panel_ids) == (["07"], ["b", "a"], ["J"])
    assert results.scores["score"].to_list() == [None, 3.0]  # the empty score of a run without a video says nothing
    assert "note" not in results.checks.columns


def edit(name: str, row: int, **values: object) -> Callable[[Rows], object]:
    return lambda rows: rows[name][row].update(values)


FAULTS: list[tuple[str, Callable[[Rows], object], str]] = [
    ("unknown verdict", edit("verdicts", 3, verdict="maybe"), r"verdicts.csv, row 4: verdict 'maybe' is not allowed"),
    ("no verdict", edit("verdicts", 3, verdict=None), r"verdicts.csv, row 4: verdict is empty"),
    ("score out of range", edit("scores", 2, score=6), r"scores.csv, row 3: score '6.0' is not allowed"),
    ("score 0", edit("scores", 0, score=0), r"scores.csv, row 1: score '0.0' is not allowed"),
    ("unknown dimension", edit("scores", 1, dim="XX"), r"scores.csv, row 2: dim 'XX' is not allowed"),
    ("unknown system", edit("verdicts", 0, system="nobody"), r"verdicts.csv, row 1: system 'nobody' is not known"),
    ("unknown task", edit("scores", 0, task="t9"), r"scores.csv, row 1: task 't9' is not known"),
    ("unknown check", edit("verdicts", 0, check="zz"), r"verdicts.csv, row 1: check 'zz' is not known"),
    ("another task's check", edit("verdicts", 3, check="b"), r"verdicts.csv, row 4: task t2 has no check b"),
    ("negative cost", edit("runs", 1, usd=-1.0), r"runs.csv, row 2: usd '-1.0' is not allowed"),
    ("infinite cost", edit("runs", 1, usd=float("inf")), r"runs.csv, row 2: usd 'inf' is not allowed"),
    ("not a number", edit("runs", 1, usd=float("nan")), r"runs.csv, row 2: usd 'NaN' is not allowed"),
    (
        "duplicate verdict",
        edit("verdicts", 1, check="a"),
        r"verdicts.csv, row 2: duplicate key panel P, .*check a",
    ),
    ("duplicate score", edit("scores", 1, dim="VQ"), r"scores.csv, row 2: duplicate key"),
    ("duplicate run", lambda rows: rows["runs"].append(rows["runs"][0]), r"runs.csv, row 5: duplicate key"),
    ("duplicate check", lambda rows: rows["checks"].append(rows["checks"][0]), r"checks.csv, row 5: duplicate key"),
    ("missing run", lambda rows: rows["runs"].pop(), r"runs.csv, row 4: no row for system half, task t2"),
    (
        "verdict without a video",
        edit("runs", 0, delivered=False),
        r"verdicts.csv, row 1: a verdict on a run that is not delivered: system up, task t1",
    ),
    (
        "score without a video",
        lambda rows: rows["scores"].append({"panel": "P", "system": "half", "task": "t2", "dim": "VQ", "score": 3}),
        r"scores.csv, row 31: a score of a run that is not delivered: system half, task t2",
    ),
]


@pytest.mark.parametrize(("fault", "message"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_faults_are_refused_with_file_row_and_reason(
    tmp_path: Path, fault: Callable[[Rows], object], message: str
) -> None:
    rows = hand_made()
    fault(rows)
    write_results(to_results(rows), tmp_path, csv=True)
    with pytest.raises(ResultsError, match=message):
        read_results(tmp_path)
    with pytest.raises(ResultsError):
        to_results(rows).validate()


def test_unreadable_folders(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="is not a folder"):
        read_results(tmp_path / "none")
    with pytest.raises(ResultsError, match=r"checks.parquet or checks.csv is missing"):
        read_results(tmp_path)
    write_results(to_results(hand_made()), tmp_path)
    (tmp_path / "runs.parquet").write_bytes(b"not a table")
    with pytest.raises(ResultsError, match=r"runs.parquet: cannot be read"):
        read_results(tmp_path)
    (tmp_path / "runs.parquet").unlink()
    (tmp_path / "runs.csv").write_text("system,task\nup,t1\n")
    with pytest.raises(ResultsError, match=r"runs.csv: column delivered is missing"):
        read_results(tmp_path)
    (tmp_path / "runs.csv").write_bytes(b"")
    with pytest.raises(ResultsError, match=r"runs.csv: the file is empty"):
        read_results(tmp_path)


def test_optional_files_are_checked_too(tmp_path: Path) -> None:
    l1 = pl.DataFrame({"system": ["up"], "task": ["t1"], "check": ["fps"], "applies": [True], "verdict": ["good"]})
    with pytest.raises(ResultsError, match=r"l1, row 1: verdict 'good' is not allowed"):
        to_results(hand_made(), l1=l1).validate()
    votes = pl.DataFrame({"task": ["t2"], "system_a": ["up"], "system_b": ["half"], "choice": ["A"]})
    with pytest.raises(ResultsError, match=r"votes, row 1: the run system_b half, task t2 is not delivered"):
        to_results(hand_made(), votes=votes).validate()


def test_headers_alone_are_results_without_runs(tmp_path: Path) -> None:
    empty = to_results({"checks": [], "runs": [], "verdicts": [], "scores": []})
    write_results(empty, tmp_path, csv=True)
    tables = score_results(read_results(tmp_path))
    assert all(len(t) == 1 and t["reason"][0] for t in tables.values())


def test_check_ids_unique_over_tasks_are_held_to_their_task() -> None:
    """Ids such as C0001 that no two tasks share take another path than ids such as V01 that many do."""
    rows = hand_made()
    for name in ("checks", "verdicts"):
        rows[name] = [{**r, "check": f"{r['task']}-{r['check']}"} for r in rows[name]]
    plain = run_statistics(to_results(hand_made()).validate())
    assert_frame_equal(run_statistics(to_results(rows).validate()), plain)
    rows["verdicts"][3]["check"] = "t1-a"
    with pytest.raises(ResultsError, match="row 4: task t2 has no check t1-a"):
        to_results(rows).validate()


def test_read_in_parts_without_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three verdicts at a time and none kept: the same figures, faults at the same rows, and no export without rows."""
    write_results(whole(), tmp_path)
    kept = read_results(tmp_path)
    monkeypatch.setattr(reading, "PART_ROWS", 3)
    lean = read_results(tmp_path, keep_verdicts=False)
    assert kept.verdicts.height > 6
    assert lean.verdicts.height == 0
    assert_frame_equal(read_results(tmp_path).verdicts, kept.verdicts)
    for name, table in score_results(kept, resamples=50).items():
        assert_frame_equal(score_results(lean, resamples=50)[name], table)
    with pytest.raises(ResultsError, match="read for their counts only"):
        write_results(lean, tmp_path / "again")
    verdicts = pl.read_parquet(tmp_path / "verdicts.parquet")
    places = {"duplicate key": verdicts.row(0), "has no check": ("P", "up", "t1", "d9", "pass")}
    for reason, row in places.items():
        added = pl.concat([verdicts, pl.DataFrame([row], schema=verdicts.schema, orient="row")])
        added.write_parquet(tmp_path / "verdicts.parquet")
        with pytest.raises(ResultsError, match=rf"row {added.height}: .*({reason}|not known)"):
            read_results(tmp_path, keep_verdicts=False)
