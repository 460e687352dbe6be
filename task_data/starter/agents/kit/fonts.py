"""Font files that exist wherever the toolchain does, found without a font service."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def latin_font(bold: bool = False) -> Path:
    """The DejaVu file that ships inside the matplotlib wheel (the package itself is not imported: that takes a second).

    Raises FileNotFoundError if matplotlib is not installed.
    """
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    package = importlib.util.find_spec("matplotlib")
    if package is None or package.origin is None:
        raise FileNotFoundError(f"{name}: matplotlib, which carries it, is not installed")
    return _existing(Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / name)


def supplied_font(inputs: Path) -> Path:
    """The first font file below `inputs` (the task's assets), by name. Raises FileNotFoundError if there is none."""
    fonts = sorted(p for p in inputs.rglob("*") if p.suffix.lower() in {".ttf", ".otf", ".ttc"})
    if not fonts:
        raise FileNotFoundError(f"{inputs}: no font was supplied")
    return fonts[0]


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(str(path))
    return path
