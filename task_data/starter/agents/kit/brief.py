"""What an agent finds in its work folder, as values: the brief, the prompt's tables, the deadline."""

from __future__ import annotations

import csv
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

Row = dict[str, str]

_DEADLINE = re.compile(r"Deadline \(Unix time\):\**\s*`?([0-9]+(?:\.[0-9]+)?)")
_FENCE = re.compile(r"^(`{3,}|~{3,})([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_RULE_CELL = re.compile(r":?-+:?")


@dataclass(frozen=True)
class Brief:
    """One task as its agent sees it. Sizes in pixels, times in seconds."""

    root: Path
    id: str
    title: str
    language: str
    kind: str
    width: int
    height: int
    fps: float
    shortest: float
    longest: float
    exact_frames: int | None
    audio: dict[str, str]
    prompt: str
    deadline: float
    tables: list[list[Row]] = field(default_factory=list)

    @property
    def inputs(self) -> Path:
        """Folder of the supplied assets (read-only)."""
        return self.root / "inputs"

    @property
    def delivery(self) -> Path:
        """Folder whose content is the delivery."""
        return self.root / "delivery"

    @property
    def tmp(self) -> Path:
        """Scratch folder."""
        return self.root / "tmp"

    def frames(self, seconds: float) -> int:
        """Number of frames of a film of `seconds`: the exact count if the spec names one."""
        return self.exact_frames if self.exact_frames is not None else round(seconds * self.fps)

    def seconds_left(self) -> float:
        """Seconds of wall-clock until the deadline; infinite if none was told."""
        return self.deadline - time.time()

    def table(self, *columns: str) -> list[Row]:
        """Rows of the first table of the prompt that has all `columns` (header texts, case-insensitive).

        Raises LookupError, naming the headers that exist, when there is none.
        """
        wanted = {c.casefold() for c in columns}
        for rows in self.tables:
            if rows and wanted <= {name.casefold() for name in rows[0]}:
                return [{name.casefold(): value for name, value in row.items()} for row in rows]
        found = "; ".join(", ".join(rows[0]) for rows in self.tables if rows) or "no table"
        raise LookupError(f"prompt.txt: no table with columns {', '.join(columns)} (found: {found})")


def read_brief(root: Path | None = None) -> Brief:
    """Read spec.json, prompt.txt and ENVIRONMENT.md in `root` (default: the current folder).

    Raises FileNotFoundError for a missing file and KeyError for a field spec.json lacks.
    """
    root = (root or Path.cwd()).resolve()
    spec = json.loads((root / "spec.json").read_text(encoding="utf-8"))
    prompt = (root / "prompt.txt").read_text(encoding="utf-8")
    delivery = spec["delivery"]
    environment = root / "ENVIRONMENT.md"
    return Brief(
        root=root,
        id=spec["id"],
        title=spec["title"],
        language=spec["language"],
        kind=spec["kind"],
        width=int(delivery["width"]),
        height=int(delivery["height"]),
        fps=float(delivery["fps"]),
        shortest=float(delivery["duration"]["min"]),
        longest=float(delivery["duration"]["max"]),
        exact_frames=delivery.get("frames"),
        audio=dict(spec["audio"]),
        prompt=prompt,
        deadline=read_deadline(environment.read_text(encoding="utf-8")) if environment.exists() else float("inf"),
        tables=prompt_tables(prompt),
    )


def read_deadline(environment: str) -> float:
    """The deadline in Unix seconds from the text of ENVIRONMENT.md; infinite if it names none."""
    found = _DEADLINE.search(environment)
    return float(found.group(1)) if found else float("inf")


def prompt_tables(text: str) -> list[list[Row]]:
    """Every table of a Markdown text in order: pipe tables, and fenced blocks of comma-separated lines with a header.

    A table is a list of rows, a row maps header to cell, both stripped of blanks, backquotes and emphasis. Lines with
    more or fewer cells than the header end the table.
    """
    found: list[tuple[int, list[Row]]] = []
    for fence in _FENCE.finditer(text):
        lines = [line for line in fence.group(3).splitlines() if line.strip()]
        separator = "\t" if lines and "\t" in lines[0] else ","
        table = list(csv.reader(lines, delimiter=separator, skipinitialspace=True))
        if len(table) > 1 and len(table[0]) > 1 and all(len(row) == len(table[0]) for row in table):
            found.append(
                (fence.start(), [dict(zip(map(_bare, table[0]), map(_bare, row), strict=True)) for row in table[1:]])
            )
    lines = text.splitlines(keepends=True)
    offset = 0
    for number, line in enumerate(lines):
        if (
            number + 1 < len(lines)
            and _is_rule(lines[number + 1])
            and len(_cells(line)) == len(_cells(lines[number + 1]))
        ):
            header = _cells(line)
            rows: list[Row] = []
            for body in lines[number + 2 :]:
                cells = _cells(body)
                if "|" not in body or len(cells) != len(header):
                    break
                rows.append(dict(zip(header, cells, strict=True)))
            found.append((offset, rows))
        offset += len(line)
    return [rows for _, rows in sorted(found, key=lambda item: item[0])]


def read_csv(path: Path) -> list[Row]:
    """Rows of a CSV file with a header line; lines that start with '#' are comments."""
    lines = [
        line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip() and not line.startswith("#")
    ]
    return list(csv.DictReader(lines))


def _cells(line: str) -> list[str]:
    return [_bare(cell) for cell in line.strip().strip("|").split("|")]


def _is_rule(line: str) -> bool:
    return "|" in line and all(_RULE_CELL.fullmatch(cell.strip()) for cell in line.strip().strip("|").split("|"))


def _bare(cell: str) -> str:
    return cell.strip().strip("`*").strip()
