"""ORBIT: three discs on circles of their own spiral into one still light."""

from __future__ import annotations

import math

from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.motion import ease_in_out, ease_out, mix, overshoot, progress
from kit.sheets import Cue

from vector.script import length, line_cues, read_lines
from vector.stage import Point, Stage
from vector.style import Style, rgb

NIGHT = rgb("#0B1026")
IVORY = rgb("#FFF4D6")
GATHER = (6.0, 7.0)
DISC = 0.058  # radius as a share of the picture height
LIGHT = 0.125
# Starting angles in turns, such that no disc catches up with its neighbour before the gathering.
PHASES = {"amber": 0.0, "teal": -0.17, "magenta": -0.35}
TRAIL = 14


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt: silent, no sound track."""
    stage = Stage(brief.width, brief.height)
    lines = read_lines(brief)
    word = lines[0]
    discs = brief.table("disc", "colour", "joins_s", "turn_s")
    h, centre = brief.height, (brief.width / 2, brief.height / 2)
    end = length(lines)

    def place(disc: dict[str, str], t: float) -> Point:
        joins, turn = float(disc["joins_s"]), float(disc["turn_s"])
        angle = 2 * math.pi * (PHASES[disc["disc"]] + style.spin / 360 + (t - 2.0) / turn)
        gathered = ease_in_out(progress(t, *GATHER))
        # On the way in the turn quickens, as anything does whose orbit shrinks.
        angle += 2.2 * gathered * progress(t, *GATHER) if t > joins else 0.0
        radius = float(disc["orbit_radius_share_of_height"]) * h * (1 - gathered)
        return centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)

    def draw(t: float) -> Frame:
        stage.canvas.clear(NIGHT)
        for disc in discs:
            joins, colour = float(disc["joins_s"]), rgb(disc["colour"])
            if t < joins or t >= GATHER[1]:
                continue
            size = DISC * h * (overshoot(progress(t, joins - 0.1, joins + 0.25)) if joins > 0 else 1.0)
            for k in range(TRAIL, 0, -1):
                then = t - 0.018 * k
                if then > joins:
                    stage.disc(place(disc, then), size * (0.92 - 0.04 * k), colour, alpha=0.13 * (1 - k / (TRAIL + 1)))
            stage.disc(place(disc, t), size, colour)
        if t >= GATHER[1] - 0.3:
            born = progress(t, GATHER[1] - 0.3, GATHER[1])
            settle = ease_in_out(progress(t, GATHER[1], GATHER[1] + 0.5))
            radius = LIGHT * h * (ease_out(born) * mix(1.14, 1.0, settle) if t >= GATHER[1] else 1.14 * ease_out(born))
            for k in range(6):
                stage.disc(centre, radius * (1.08 + 0.07 * k), IVORY, alpha=0.035 * settle)
            stage.disc(centre, radius, IVORY)
        fade = ease_out(progress(t, word.start + 0.05, word.start + 0.5))
        stage.text(word.text, centre[0], 0.86 * h, stage.em(0.115), IVORY, alpha=fade)
        return stage.pixels

    cues = [Cue(float(d["joins_s"]), GATHER[1], f"{d['disc']} disc joins, one turn in {d['turn_s']} s") for d in discs]
    cues += [Cue(*GATHER, "the discs spiral inwards and merge"), Cue(GATHER[1], end, "one still ivory light")]
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=None,
        cues=[*cues, *line_cues(lines)],
        made=[
            "Drawn frame by frame with Skia at 60 frames a second.",
            "No sound track: the film is silent on purpose.",
        ],
        pixels="bgra",
    )
