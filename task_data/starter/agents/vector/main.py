"""Make the delivery of the task in the current folder: `python main.py`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from kit.brief import read_brief  # noqa: E402
from kit.deliver import deliver  # noqa: E402

from vector.scenes import scene_of  # noqa: E402
from vector.style import SKETCHER  # noqa: E402


def main() -> None:
    """Read the brief, draw, encode, read back, write the sheets."""
    brief = read_brief()
    make, _ = scene_of(brief)
    print(f"{brief.id}: drawing at {brief.width}x{brief.height}, {brief.fps:g} frames a second", flush=True)
    found = deliver(
        brief,
        make(brief, SKETCHER),
        name=f"{brief.id.lower()}.mp4",
        sources=[HERE, HERE.parent / "kit"],
        rerun="python project/vector/main.py",
    )
    print(f"{brief.id}: delivered {found.frames} frames, peak {found.peak_dbfs} dBFS", flush=True)


if __name__ == "__main__":
    main()
