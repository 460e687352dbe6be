"""Votes of the human study in a benchmark folder: what is read, and what is refused with file, row and reason."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from vvb_resources.benchmark.digests import votes_digest
from vvb_resources.benchmark.linter import lint
from vvb_resources.benchmark.loader import BenchmarkProblems, load_benchmark
from vvb_resources.benchmark.votes import read_votes, vote_faults
from vvb_resources.errors import ResultsError

GOOD = "task,system_a,system_b,choice,annotator,note\nBRIDGE,painter,writer,A,ann,x\nLESSON,writer,painter,both_bad,,\n"


def put(folder: Path, text: str, name: str = "first.csv") -> Path:
    path = folder / "votes" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_parquet_are_the_same(tmp_path: Path) -> None:
    votes = read_votes(put(tmp_path, GOOD, "[1] *?.csv"))
    assert votes.to_dicts() == [
        {"vote": "1", "annotator": "ann", "task": "BRIDGE", "system_a": "painter", "system_b": "writer", "choice": "A"},
        {"vote": "2", "annotator": None, "task": "LESSON", "system_a": "writer", "system_b": "painter",
         "choice": "both_bad"},
    ]  # fmt: skip
    votes.write_parquet(tmp_path / "same [1].parquet")
    assert read_votes(tmp_path / "same [1].parquet").equals(votes)


def test_numbers_as_ids_become_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"task": [7], "system_a": [0], "system_b": [1], "choice": ["B"]})
    frame.write_parquet(tmp_path / "v.parquet")
    assert read_votes(tmp_path / "v.parquet").row(0)[2:5] == ("7", "0", "1")


HEAD = "vote,task,system_a,system_b,choice\n1,BRIDGE,painter,writer,A\n"
BAD = [
    ("2,BRIDGE,painter,writer,a\n", "row 2: choice 'a' is not allowed -- allowed are A, B, tie, both_bad"),
    ("2,BRIDGE,painter,painter,A\n", "row 2: system painter is compared with itself"),
    ("2,BRIDGE,painter,,A\n", "row 2: system_b is empty -- fill it in"),
    ("2,,painter,writer,A\n", "row 2: task is empty"),
    ("2,BRIDGE,painter,writer,\n", "row 2: choice is empty"),
    ("1,LESSON,painter,writer,A\n", "row 2: duplicate vote '1' -- keep one row a vote"),
    ("2,BRIDE,painter,writer,A\n", "row 2: task 'BRIDE' is not known"),
    (
        "2,BRIDGE,nobody,writer,A\n3,BRIDGE,none,writer,A\n",
        r"row 2: system_a 'nobody' is not known \(and 1 more rows\)",
    ),
]


@pytest.mark.parametrize(("row", "message"), BAD)
def test_a_bad_row_is_named(small: Path, row: str, message: str) -> None:
    path = put(small, HEAD + row)
    with pytest.raises(ResultsError, match=f"first.csv, {message}"):
        read_votes(path, tasks=["BRIDGE", "LESSON"], systems=["painter", "writer"])
    problems = [p for p in lint(small) if p.file == "votes/first.csv"]
    assert [(p.line, p.what.split(":")[0]) for p in problems] == [(3, "row 2")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", b"", "v.csv: the file is empty"),
        ("v.csv", b"task,system_a,choice\n", "v.csv: column system_b is missing"),
        ("v.csv", b"task,system_a,system_b,choice\n\xff\xfe,a,b,A\n", "v.csv: cannot be read"),
        ("v.parquet", b"no parquet", "v.parquet: cannot be read"),
        ("v.xlsx", b"", "v.xlsx: a votes file ends in .csv or .parquet"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ResultsError, match=message) as caught:
        read_votes(tmp_path / name)
    assert len(str(caught.value).splitlines()) == 1
    assert vote_faults(tmp_path / name, [], [])[0].row is None


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="the file is missing"):
        read_votes(tmp_path / "none.csv")


def test_a_fit_needs_no_task(tmp_path: Path) -> None:
    path = put(tmp_path, "system_a,system_b,choice\na,b,tie\n")
    assert read_votes(path, need_task=False)["task"].to_list() == [None]
    with pytest.raises(ResultsError, match="column task is missing"):
        read_votes(path)


def test_the_loader_lists_the_files(small: Path) -> None:
    assert load_benchmark(small).votes == ()
    put(small, GOOD, "second.csv")
    put(small, GOOD)
    put(small, "how we voted", "README.md")
    assert [path.name for path in load_benchmark(small).votes] == ["first.csv", "second.csv"]
    assert lint(small) == []


def test_other_files_and_links_are_refused(small: Path, tmp_path: Path) -> None:
    put(small, GOOD)
    put(small, "x", "more.xlsx")
    (tmp_path / "outside.csv").write_text(GOOD)
    os.symlink(tmp_path / "outside.csv", small / "votes" / "linked.csv")
    (small / "votes" / "first.parquet").write_bytes(b"x")
    with pytest.raises(BenchmarkProblems) as caught:
        load_benchmark(small)
    assert [(p.file, p.what.split(":")[0]) for p in caught.value.problems] == [
        ("votes/first.parquet", "has the same name as first.csv"),
        ("votes/linked.csv", "is a link that leaves the folder"),
        ("votes/more.xlsx", "is no votes file"),
    ]


def test_the_digest_is_that_of_the_bytes_and_the_known_ids(small: Path) -> None:
    without = votes_digest(load_benchmark(small))
    path = put(small, GOOD)
    first = votes_digest(load_benchmark(small))
    path.write_text(GOOD.replace("painter,writer,A", "painter,writer,B"))
    second = votes_digest(load_benchmark(small))
    assert len({without, first, second}) == 3
    path.write_text(GOOD)
    assert votes_digest(load_benchmark(small)) == first
    (small / "systems" / "writer.yaml").unlink()
    assert votes_digest(load_benchmark(small)) not in {first, without}
    path.unlink()
    assert votes_digest(load_benchmark(small)) == without
