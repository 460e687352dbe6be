"""Tables as files and text: Parquet and CSV for programs, Markdown, LaTeX and JSON for people and pages.

Parquet, CSV and JSON carry full precision. Markdown and LaTeX print percentages with one decimal, USD with two, Elo
whole, other figures with three, counts whole, and a dash for a value that does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from vvb_resources.errors import StoreError
from vvb_resources.store.atomic import write_parquet, write_text

DASH = "–"
FORMATS = ("parquet", "csv", "markdown", "latex", "json")
ENDINGS = {"parquet": "parquet", "csv": "csv", "markdown": "md", "latex": "tex", "json": "json"}
LATEX_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    DASH: "--",
}


@dataclass(frozen=True)
class TableSpec:
    """What a table is: its title, and each column's unit or meaning, in the order the columns stand.

    `headers` are short names for people's formats; `shown` the columns printed there (all, if empty).
    """

    title: str
    columns: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)
    shown: tuple[str, ...] = ()


def check_finite(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return `frame`; raise StoreError if a float column holds NaN or infinity (a missing value is null)."""
    for column in frame.columns:
        if frame.schema[column].is_float() and not frame[column].drop_nulls().is_finite().all():
            raise StoreError(f"column {column} holds NaN or infinity", where=f"table {name}", remedy="report it")
    return frame


def format_value(column: str, value: Any) -> str:
    """A cell for people; the column's name says its unit (`_pct`, `_pts`: percent; `usd`: dollars)."""
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if column.endswith(("_pct", "_pts")):
        return f"{value:.1f}"
    if "usd" in column.split("_") and not column.endswith("per_usd"):
        return f"{value:.2f}"
    if "elo" in column.split("_"):
        return f"{value:.0f}"
    if column in {"wins", "losses", "games"}:  # halves where a tie is half a win
        return f"{value:g}"
    return f"{value:.3f}"


def cells(frame: pl.DataFrame, spec: TableSpec | None = None) -> tuple[list[str], list[list[str]]]:
    """Header and rows as text, the columns `spec` shows. An open share `x_pct` prints its range, if that is known."""
    columns = [c for c in (spec.shown if spec and spec.shown else frame.columns) if c in frame.columns]
    headers = [spec.headers.get(c, c) if spec else c for c in columns]
    return headers, [[_cell(c, row) for c in columns] for row in frame.iter_rows(named=True)]


def _cell(column: str, row: Mapping[str, Any]) -> str:
    stem = column.removesuffix("_pct")
    low, high = row.get(f"{stem}_low_pct"), row.get(f"{stem}_high_pct")
    if row[column] is None and stem != column and low is not None and high is not None:
        return f"{low:.1f}{DASH}{high:.1f}"
    return format_value(column, row[column])


def to_csv(frame: pl.DataFrame, spec: TableSpec | None = None) -> str:
    """All columns, full precision; null is empty."""
    return frame.write_csv()


def to_json(frame: pl.DataFrame, spec: TableSpec | None = None) -> str:
    """A list of objects, one a row, full precision; null is null. Raises ValueError on NaN or infinity."""
    return json.dumps(frame.to_dicts(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def to_markdown(frame: pl.DataFrame, spec: TableSpec | None = None) -> str:
    """A GitHub table; numbers flush right."""
    headers, rows = cells(frame, spec)
    right = _numeric(frame, spec)
    lines = [headers, ["---:" if r else ":---" for r in right], *rows]
    escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "".join("| " + " | ".join(line) + " |\n" for line in escaped)


def to_latex(frame: pl.DataFrame, spec: TableSpec | None = None) -> str:
    """A `tabular` with booktabs rules, special characters escaped."""
    headers, rows = cells(frame, spec)
    align = "".join("r" if r else "l" for r in _numeric(frame, spec))
    lines = [" & ".join(_latex(cell) for cell in line) + r" \\" for line in [headers, *rows]]
    body = [rf"\begin{{tabular}}{{{align}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}", ""])


def _latex(text: str) -> str:
    return "".join(LATEX_SPECIAL.get(character, character) for character in text)


def _numeric(frame: pl.DataFrame, spec: TableSpec | None) -> list[bool]:
    columns = [c for c in (spec.shown if spec and spec.shown else frame.columns) if c in frame.columns]
    return [frame.schema[c].is_numeric() for c in columns]


WRITERS: Mapping[str, Callable[[pl.DataFrame, TableSpec | None], str]] = {
    "csv": to_csv,
    "markdown": to_markdown,
    "latex": to_latex,
    "json": to_json,
}


def render(frame: pl.DataFrame, form: str, spec: TableSpec | None = None) -> str:
    """The table as text: form is csv, markdown, latex or json. Raises StoreError on another one."""
    if form not in WRITERS:
        raise StoreError(f"no text format {form!r}", remedy="choose " + ", ".join(WRITERS))
    return WRITERS[form](frame, spec)


def write_table(
    frame: pl.DataFrame,
    folder: Path,
    name: str,
    forms: Sequence[str] = ("parquet", "csv"),
    spec: TableSpec | None = None,
) -> list[Path]:
    """Write `<folder>/<name>.<ending>` durably in each of FORMATS asked for; return the files.

    Raises StoreError on an unknown format or on NaN or infinity.
    """
    check_finite(frame, name)
    written = []
    for form in forms:
        path = folder / f"{name}.{ENDINGS.get(form, form)}"
        if form == "parquet":
            write_parquet(path, frame)
        else:
            write_text(path, render(frame, form, spec))
        written.append(path)
    return written


# Polars takes `[`, `*` and `?` of a path for a pattern unless told otherwise, and a folder may be called anything: the
# linter refuses its readers everywhere else (pyproject.toml).


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """One Parquet file as a frame, all its columns or some. Raises OSError or PolarsError when it cannot be read."""
    return pl.read_parquet(path, columns=columns, glob=False)


def scan_parquet(path: Path | list[Path]) -> pl.LazyFrame:
    """One Parquet file, or several of the same columns one after another, to be read later and in parts."""
    return pl.scan_parquet(path, glob=False)


def read_csv(path: Path) -> pl.DataFrame:
    """One CSV file as text columns: ids such as 007 stay as they are. Raises OSError or PolarsError."""
    return pl.read_csv(path, infer_schema=False, glob=False)


def scan_csv(path: Path) -> pl.LazyFrame:
    """The same, to be read later and in parts."""
    return pl.scan_csv(path, infer_schema=False, glob=False)


def read_table(folder: Path, name: str) -> pl.DataFrame:
    """Read a table written as Parquet. Raises StoreError if it is not there or cannot be read."""
    path = folder / f"{name}.parquet"
    try:
        return read_parquet(path)
    except FileNotFoundError as error:
        raise StoreError("the table is not there", where=str(path), remedy="make it first") from error
    except pl.exceptions.PolarsError as error:
        raise StoreError("the table cannot be read", where=str(path), remedy="make it again") from error
