"""Make the delivery of the task in the current folder: `python main.py`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from kit.brief import read_brief  # noqa: E402

from raster.finish import hand_over  # noqa: E402
from raster.scenes import scene_for  # noqa: E402


def main() -> None:
    """Read the brief, press every frame, encode, read back, write the sheets."""
    brief = read_brief()
    make = scene_for(brief.id)
    print(f"{brief.id}: {brief.width}x{brief.height}, {brief.fps:g} frames a second", flush=True)
    found = hand_over(brief, make(brief), [HERE, HERE.parent / "kit"], "python project/raster/main.py")
    print(f"{brief.id}: {found.frames} frames at {found.fps:g} a second, peak {found.peak_dbfs} dBFS", flush=True)


if __name__ == "__main__":
    main()
