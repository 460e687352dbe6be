"""A copy of the small hand-made benchmark to break."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = Path(__file__).parents[1] / "data" / "benchmark" / "small"
Edit = Callable[[str, str, str], int]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The small benchmark, free to change."""
    return Path(shutil.copytree(SMALL, tmp_path / "small"))


@pytest.fixture
def edit(small: Path) -> Edit:
    """Replace a text that occurs once in a file; returns the 1-based line the replacement starts on."""

    def replace(name: str, old: str, new: str) -> int:
        path = small / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    return replace
