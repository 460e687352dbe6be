"""The results format: its files and columns, and how a raw column becomes a checked, typed one.

A file's columns are cast once, lazily, so that a large Parquet file is never held as text. A value that does not fit is
reported with its file, its row (counted from 1, a CSV header not counted) and the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl
from polars.exceptions import PolarsError

from vvb_resources.benchmark.models import DIMENSIONS
from vvb_resources.errors import ResultsError

Kind = Literal["id", "text", "bool", "choice", "score", "usd", "list"]

VERDICTS = ("pass", "fail", "unknown", "na", "judge_error")
L1_VERDICTS = ("pass", "fail", "na", "unmeasured")
CHOICES = ("A", "B", "tie", "both_bad")
MODALITY_NAMES = ("visual", "audio", "audio_visual")


@dataclass(frozen=True)
class Column:
    """One column. `ids` names the set an id must come from; `values` the set a choice must come from."""

    kind: Kind
    required: bool = True
    nullable: bool = False
    ids: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """One file of the folder: its columns, its key, and whether the folder must have it."""

    columns: Mapping[str, Column]
    key: tuple[str, ...]
    required: bool = False


def _optional_text() -> Column:
    return Column("text", required=False, nullable=True)


FORMAT: Mapping[str, File] = {
    "tasks": File(
        {
            "task": Column("id"),
            "category": _optional_text(),
            "language": _optional_text(),
            "kind": Column("choice", required=False, nullable=True, values=("core", "lesson", "paper")),
            "subcategories": Column("list", required=False, nullable=True),
        },
        ("task",),
    ),
    "systems": File(
        {"system": Column("id"), **{c: _optional_text() for c in ("name", "lab", "harness", "family")}},
        ("system",),
    ),
    "panels": File(
        {
            "panel": Column("id"),
            "judge_system": _optional_text(),
            "judge_family": _optional_text(),
            "dims": Column("list", required=False, nullable=True, values=DIMENSIONS),
            "judge": _optional_text(),
            "modalities": Column("list", required=False, nullable=True, values=MODALITY_NAMES),
        },
        (),  # a row a judge of the panel
    ),
    "checks": File(
        {
            "task": Column("id", ids="task"),
            "check": Column("id"),
            "core": Column("bool"),
            "modality": Column("choice", required=False, values=MODALITY_NAMES),
        },
        ("task", "check"),
        required=True,
    ),
    "runs": File(
        {
            "system": Column("id", ids="system"),
            "task": Column("id", ids="task"),
            "delivered": Column("bool"),
            "spec_pass": Column("bool", required=False, nullable=True),
            "usd": Column("usd", required=False, nullable=True),
        },
        ("system", "task"),
        required=True,
    ),
    "verdicts": File(
        {
            "panel": Column("id", ids="panel"),
            "system": Column("id", ids="system"),
            "task": Column("id", ids="task"),
            "check": Column("id", ids="check"),
            "verdict": Column("choice", values=VERDICTS),
        },
        ("panel", "system", "task", "check"),
        required=True,
    ),
    "scores": File(
        {
            "panel": Column("id", ids="panel"),
            "system": Column("id", ids="system"),
            "task": Column("id", ids="task"),
            "dim": Column("choice", values=DIMENSIONS),
            "score": Column("score", nullable=True),
        },
        ("panel", "system", "task", "dim"),
        required=True,
    ),
    "l1": File(
        {
            "system": Column("id", ids="system"),
            "task": Column("id", ids="task"),
            "check": Column("id"),
            "applies": Column("bool"),
            "verdict": Column("choice", values=L1_VERDICTS),
        },
        ("system", "task", "check"),
    ),
    "votes": File(
        {
            "vote": Column("id", required=False),
            "annotator": _optional_text(),
            "task": Column("id", ids="task"),
            "system_a": Column("id", ids="system"),
            "system_b": Column("id", ids="system"),
            "choice": Column("choice", values=CHOICES),
        },
        ("vote",),
    ),
}

_TRUE, _FALSE = ("true", "1"), ("false", "0")


def conform(name: str, raw: pl.LazyFrame, ids: Mapping[str, pl.Enum], where: str, first_row: int = 0) -> pl.DataFrame:
    """Check and type one file's rows; columns the format does not know are dropped.

    `ids` gives the known ids of 'task', 'system', 'panel' and 'check'. `where` names the file in messages, `first_row`
    says how many of its rows stand before those of `raw`.
    Raises ResultsError: unreadable file, missing column, or the first value that does not fit.
    """
    spec = FORMAT[name]
    try:
        schema = raw.collect_schema()
    except (PolarsError, OSError) as error:
        raise _unreadable(where, error) from error
    missing = [c for c, column in spec.columns.items() if column.required and c not in schema]
    if missing:
        raise ResultsError(
            f"column {', '.join(missing)} is missing", where=where, remedy=f"it needs {', '.join(_required(spec))}"
        )
    columns = {c: column for c, column in spec.columns.items() if c in schema}
    casts = [_cast(c, column, schema[c], ids) for c, column in columns.items()]
    lost = [  # a nullable column hides a failed cast among its honest nulls, so those are counted apart
        (pl.col(c).is_not_null() & _cast(c, column, schema[c], ids).is_null()).alias(f"{c}__lost")
        for c, column in columns.items()
        if column.nullable and column.kind != "text"
    ]
    try:
        frame = raw.select(casts + lost).collect(engine="streaming")
    except (PolarsError, OSError) as error:
        raise _unreadable(where, error) from error
    for c, column in columns.items():
        bad = frame[f"{c}__lost"] if f"{c}__lost" in frame.columns else None
        if bad is None and not column.nullable and frame[c].null_count():
            bad = frame[c].is_null()
        if bad is not None and bad.any():
            row = int(bad.arg_max() or 0)
            value = raw.select(c).slice(row, 1).collect().item()
            raise ResultsError(
                _complaint(c, column, value), where=f"{where}, row {first_row + row + 1}", remedy=_remedy(column)
            )
    return frame.select(list(columns))


def conform_in_parts(
    name: str, raw: pl.LazyFrame, ids: Mapping[str, pl.Enum], where: str, rows: int
) -> Iterator[pl.DataFrame]:
    """`conform` in frames of `rows` rows (the last may be shorter, a file without rows gives one empty frame)."""
    first = 0
    while True:
        part = conform(name, raw.slice(first, rows), ids, where, first)
        if len(part) or not first:
            yield part
        if len(part) < rows:
            return
        first += rows


def _required(spec: File) -> list[str]:
    return [c for c, column in spec.columns.items() if column.required]


def _unreadable(where: str, error: Exception) -> ResultsError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ResultsError(f"cannot be read: {reason}", where=where, remedy="write it as Parquet or UTF-8 CSV")


def _cast(name: str, column: Column, dtype: pl.DataType, ids: Mapping[str, pl.Enum]) -> pl.Expr:
    """Expression for the typed column; null where a value does not fit."""
    raw = pl.col(name)
    if column.kind == "id" and column.ids is not None:
        known = ids[column.ids]
        typed = raw if dtype == known else raw.cast(pl.String).cast(known, strict=False)
    elif column.kind == "id":
        text = raw.cast(pl.String)
        typed = pl.when(text.str.len_chars() > 0).then(text)
    elif column.kind == "text":
        typed = raw.cast(pl.String)
    elif column.kind == "choice":
        known = pl.Enum(column.values)
        typed = raw if dtype == known else raw.cast(pl.String).cast(known, strict=False)
    elif column.kind == "bool":
        typed = raw if dtype == pl.Boolean else _to_bool(raw.cast(pl.String))
    elif column.kind == "list":
        typed = _to_list(raw, dtype, column.values)
    else:
        number = raw.cast(pl.Float64, strict=False)
        fits = number.is_between(1, 5) if column.kind == "score" else (number.is_finite() & (number >= 0))
        typed = pl.when(fits).then(number)
    return typed.alias(name)


def _to_bool(text: pl.Expr) -> pl.Expr:
    lower = text.str.to_lowercase()
    return pl.when(lower.is_in(_TRUE)).then(pl.lit(True)).when(lower.is_in(_FALSE)).then(pl.lit(False))


def _to_list(raw: pl.Expr, dtype: pl.DataType, values: tuple[str, ...]) -> pl.Expr:
    """Lists come as Parquet lists, or as text with items parted by '|', ';', ',' or spaces."""
    if isinstance(dtype, pl.List | pl.Array):
        items = raw.cast(pl.List(pl.String))
    else:
        items = raw.cast(pl.String).str.extract_all(r"[^|;,\s]+")
    if not values:
        return items
    return pl.when(items.list.eval(pl.element().is_in(values)).list.all()).then(items)


def _complaint(name: str, column: Column, value: object) -> str:
    if value is None or value == "":
        return f"{name} is empty"
    if column.ids:
        return f"{name} {value!r} is not known"
    return f"{name} {value!r} is not allowed"


def _remedy(column: Column) -> str:
    if column.ids:
        where = {"task": "tasks, checks or runs", "system": "systems or runs", "panel": "panels", "check": "checks"}
        return f"name only a {column.ids} that is in {where[column.ids]}"
    if column.values:
        return "allowed are " + ", ".join(column.values)
    return {
        "bool": "write true or false",
        "score": "write a number from 1 to 5, or leave it empty for unknown",
        "usd": "write a finite amount of at least 0, or leave it empty where there is no price",
    }.get(column.kind, "fill it in")
