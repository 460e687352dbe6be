"""The strings of a prompt with their times, as the scenes use them."""

from __future__ import annotations

from dataclasses import dataclass

from kit.brief import Brief
from kit.motion import appear
from kit.sheets import Cue

EPSILON = 1e-6  # a frame's time n / fps may fall a rounding error short of the instant it stands for


@dataclass(frozen=True)
class Line:
    """A string shown from `start` to `end` seconds in `stage`."""

    stage: int
    start: float
    end: float
    text: str

    def on(self, t: float) -> bool:
        """Is it shown at `t`, when it comes and goes at once."""
        return self.start <= t + EPSILON < self.end

    def alpha(self, t: float, length: float, fade: float = 0.25) -> float:
        """Opacity at `t` of a film of `length` seconds: fades within its times, and stays if it ends with the film."""
        last = self.end >= length - EPSILON
        return appear(t, self.start, float("inf") if last else self.end, fade)


def read_lines(brief: Brief) -> list[Line]:
    """The prompt's table of strings, in its order."""
    rows = brief.table("stage", "start_s", "end_s", "text")
    return [Line(int(r["stage"]), float(r["start_s"]), float(r["end_s"]), r["text"]) for r in rows]


def length(lines: list[Line]) -> float:
    """Seconds of the film: the end of its last string."""
    return max(line.end for line in lines)


def line_cues(lines: list[Line]) -> list[Cue]:
    """Lines of the timing sheet for the strings."""
    return [Cue(line.start, line.end, line.text, f"text, stage {line.stage}") for line in lines]


def reached(t: float, instant: float) -> bool:
    """Has the frame at `t` come to `instant`."""
    return t + EPSILON >= instant
