"""Small pieces of UI metadata: tables as Markdown, pictures inline. (Dagster shows Markdown with data URLs.)"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

PREVIEW_ROWS = 60


def markdown_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dg.MetadataValue:
    """Rows as a Markdown table, at most PREVIEW_ROWS of them (the count of the rest is said)."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(c)) for c in columns) + " |" for row in rows[:PREVIEW_ROWS]]
    if len(rows) > PREVIEW_ROWS:
        lines.append(f"\n{len(rows) - PREVIEW_ROWS} more rows are in the file.")
    return dg.MetadataValue.md("\n".join(lines))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(str(value).split()).replace("|", "\\|")


def picture(path: Path, alt: str) -> dg.MetadataValue:
    """An image file inline."""
    kind = {"jpg": "jpeg"}.get(path.suffix[1:], path.suffix[1:])
    data = base64.b64encode(path.read_bytes()).decode()
    return dg.MetadataValue.md(f"![{alt}](data:image/{kind};base64,{data})")


def schema(described: Mapping[str, tuple[str, str]]) -> dg.TableSchema:
    """Column schema from name -> (type, description)."""
    return dg.TableSchema(
        columns=[dg.TableColumn(name, kind, description=text) for name, (kind, text) in described.items()]
    )
