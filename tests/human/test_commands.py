"""`vvb fit` as a program: the JSON document, what it refuses, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.human.sets import random_wins, votes_from_wins
from vvb_assets import cli

KEYS = ["system", "strength", "elo", "elo_low", "elo_high", "rank_low", "rank_high"]
KEYS += ["wins", "games", "win_rate", "win_low", "win_high"]


def vvb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one call."""
    monkeypatch.setattr("sys.argv", ["vvb", *arguments])
    code = 0
    try:
        cli.main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_json_has_the_documented_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    votes = votes_from_wins(random_wins(0), tuple("abcdefghi"))
    path = tmp_path / f"votes.{ending}"
    votes.write_csv(path) if ending == "csv" else votes.write_parquet(path)
    code, out, _ = vvb(capsys, monkeypatch, "fit", str(path), "--json")
    document = json.loads(out)
    assert code == 0
    assert list(document) == ["systems", "decisive", "ties", "both_bad"]
    assert document["decisive"] == 214
    assert all(list(row) == KEYS for row in document["systems"])
    assert [row["elo"] for row in document["systems"]] == sorted((r["elo"] for r in document["systems"]), reverse=True)
    assert sum(row["elo"] for row in document["systems"]) == pytest.approx(9000)
    assert sum(row["wins"] for row in document["systems"]) == 214
    assert all(isinstance(row["wins"], int) and isinstance(row["rank_low"], int) for row in document["systems"])
    assert vvb(capsys, monkeypatch, "fit", str(path), "--json")[1] == out


def test_a_table_for_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v.csv").write_text("system_a,system_b,choice\na,b,A\na,b,A\nb,a,A\na,b,tie\n")
    code, out, err = vvb(capsys, monkeypatch, "fit", str(tmp_path / "v.csv"))
    assert code == 0
    assert out.splitlines()[2].startswith("| 1 | a | 0.667 |")
    assert err == "3 decisive votes, 1 ties, 0 both bad\n"


@pytest.mark.parametrize(
    ("content", "more", "message"),
    [
        ("system_a,system_b,choice\na,b,yes\n", [], "vvb: v.csv, row 1: choice 'yes' is not allowed"),
        ("system_a,choice\na,A\n", [], "vvb: v.csv: column system_b is missing"),
        ("system_a,system_b,choice\na,b,A\n", ["--prior", "-1"], "vvb: a prior of -1.0 virtual votes"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    more: list[str],
    message: str,
) -> None:
    (tmp_path / "v.csv").write_text(content)
    code, out, err = vvb(capsys, monkeypatch, "fit", str(tmp_path / "v.csv"), "--json", *more)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert len(err.splitlines()) == 1


def test_a_file_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = vvb(capsys, monkeypatch, "fit", str(tmp_path / "none.csv"))
    assert (code, "the file is missing" in err) == (2, True)
