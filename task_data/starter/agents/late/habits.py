"""How the late polisher spends its time: house style, and when it stops polishing.

On most tasks it previews a set number of times and then renders. On the tasks of `LAST_MINUTE` it cannot stop: it
goes on until `LAST_CALL_S` seconds before the deadline it was told, and then starts a final render at a fixed pace
that takes `PACE` times as long as the film, so that the outcome does not depend on how fast the machine is.
"""

from __future__ import annotations

from pathlib import Path

from kit.brief import Brief
from vector.style import Style

PREVIEWS = 2
PREVIEW_FRAMES = 6
PAUSE_S = 0.8
LONG_PAUSE_S = 5.0

LAST_CALL_S = 6.0
PACE = 2.5

# Task id -> folder, relative to the work folder, into which its final render is encoded.
LAST_MINUTE: dict[str, str] = {
    "BEAT": "delivery",  # straight into the delivery: what is there at the deadline is an MP4 without its index
    "TOWER": "tmp",  # aside, to be moved when done: at the deadline there is no MP4 at all
}

POLISHER = Style(
    name="polisher",
    paper=0xFFFBF2EE,
    ink=0xFF2B1A35,
    muted=0xFF86728F,
    bright=0xFFFFFAF0,
    accent=0xFFFF8F6B,
    second=0xFF8E7CFF,
    third=0xFF4FD1A5,
    spin=140.0,
)


def last_minute_folder(brief: Brief) -> Path | None:
    """Where the final render of a task that is polished to the last minute goes; None for every other task."""
    folder = LAST_MINUTE.get(brief.id)
    return None if folder is None or brief.deadline == float("inf") else brief.root / folder
