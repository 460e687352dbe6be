"""`vvb score` with people's votes: the human study's tables come out with the others."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.commands.test_cli import vvb

FILES = {
    "checks.csv": "task,check,core\nT1,c1,true\nT2,c1,true\n",
    "runs.csv": "system,task,delivered\n" + "".join(f"{s},{t},true\n" for s in "ab" for t in ("T1", "T2")),
    "verdicts.csv": "panel,system,task,check,verdict\n"
    + "".join(f"J1,{s},{t},c1,{'pass' if s == 'a' else 'fail'}\n" for s in "ab" for t in ("T1", "T2")),
    "scores.csv": "panel,system,task,dim,score\n"
    + "".join(
        f"J1,{s},{t},{d},{4 if s == 'a' else 3}\n"
        for s in "ab"
        for t in ("T1", "T2")
        for d in ("VQ", "VA", "CL", "TM", "AQ")
    ),
    # three decisive votes, two of them for a; a tie and a "both bad" are not decisive
    "votes.csv": "task,system_a,system_b,choice\nT1,a,b,A\nT1,b,a,B\nT2,a,b,B\nT2,a,b,tie\nT2,a,b,both_bad\n",
}


def test_votes_become_ratings_and_agreement(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    done = vvb("score", str(folder), "--out", str(tmp_path / "out"), home=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "bradley_terry.csv").open() as file:
        rows = {row["system"]: row for row in csv.DictReader(file)}
    assert (float(rows["a"]["wins"]), float(rows["a"]["games"])) == (2, 3)
    assert float(rows["a"]["elo"]) > 1000 > float(rows["b"]["elo"])
    with (tmp_path / "out" / "human_judge_agreement.csv").open() as file:
        agreement = {row["panel"]: row for row in csv.DictReader(file)}
    agreed = (float(agreement["J1"]["decisive"]), float(agreement["J1"]["agreed"]))
    assert agreed == (3, 2), "the judges prefer a each time"
    with (tmp_path / "out" / "leaderboard.csv").open() as file:
        first = next(csv.DictReader(file))
    assert (first["system"], first["human_rank"], first["human_reason"]) == ("a", "1", "")
    assert first["human_elo"] == rows["a"]["elo"]
    assert (tmp_path / "out" / "human_elo.png").read_bytes().startswith(b"\x89PNG")
