"""What is wrong with a benchmark folder: one `Problem` a mistake, all of a folder raised together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.errors import BenchmarkError


@dataclass(frozen=True)
class Problem:
    """One mistake: `file` relative to the benchmark's root, its 1-based `line` (None: the file as a whole)."""

    file: str
    line: int | None
    what: str
    remedy: str

    @property
    def where(self) -> str:
        """`file:line`, or `file` where no line is to blame."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return " ".join(f"{self.where}: {self.what} -- {self.remedy}".split())


class BenchmarkProblems(BenchmarkError):
    """Every problem of a folder at once, in the order of files and lines."""

    def __init__(self, root: Path, problems: Iterable[Problem]) -> None:
        self.root = root
        self.problems = sorted_problems(problems)
        first = self.problems[0]
        if len(self.problems) == 1:
            super().__init__(first.what, where=str(root / first.where), remedy=first.remedy)
        else:
            super().__init__(
                f"{len(self.problems)} problems, the first is {first}",
                where=str(root),
                remedy=f"`vvb lint {root}` lists them all",
            )


def sorted_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Without repeats, by file, then line (problems of the whole file first), then text."""
    return sorted(set(problems), key=lambda p: (p.file, p.line or 0, p.what, p.remedy))
