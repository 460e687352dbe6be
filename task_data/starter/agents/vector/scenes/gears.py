"""GEARS: two involute gears in mesh, counted turn by turn, then the ratio."""

from __future__ import annotations

import math

import skia
from kit import synth
from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.motion import clamp
from kit.sheets import Cue

from vector.script import Line, length, line_cues, reached, read_lines
from vector.stage import Point, Stage, paint
from vector.style import Style, blend

LARGE, SMALL = 20, 10  # teeth, checked against the prompt's labels
PRESSURE = math.radians(20)
BEGIN, STOP, SMALL_TURN = 2.0, 8.0, 1.5  # seconds
ADDENDUM, DEDENDUM, BACKLASH = 0.88, 1.12, 0.06  # in modules


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt; strings, counts and tick instants come from its tables."""
    stage = Stage(brief.width, brief.height)
    lines = read_lines(brief)
    ticks = [float(row["time_s"]) for row in brief.table("event", "time_s")]
    w, h = float(brief.width), float(brief.height)
    end = length(lines)
    module = h * 0.0265
    y = 0.455 * h
    big, little = (w / 2 - 5 * module, y), (w / 2 + 10 * module, y)
    large, small = gear(LARGE, module), gear(SMALL, module)
    columns = {"LARGE": 0.3 * w, "20": 0.3 * w, "SMALL": 0.7 * w, "10": 0.7 * w}
    steel, brass = style.second, style.accent

    def ground(s: Stage) -> None:
        s.canvas.clear(style.paper)
        s.panel((0.115 * w, 0.76 * h, 0.37 * w, 0.215 * h), 16, steel, alpha=0.16)
        s.panel((0.515 * w, 0.76 * h, 0.37 * w, 0.215 * h), 16, brass, alpha=0.2)

    plate = stage.still(ground)

    def turning(at: Point, path: skia.Path, teeth: int, angle: float, colour: int) -> None:
        """One gear, turned by `angle` radians clockwise from rest, with its dot."""
        c, radius = stage.canvas, teeth / 2 * module
        c.save()
        c.translate(*at)
        c.rotate(math.degrees(angle))
        c.drawPath(path, paint(colour))
        stage.disc((0, 0), radius * 0.74, blend(colour, style.bright, 0.18))
        for k in range(5 if teeth == LARGE else 0):
            turn = 2 * math.pi * (k + 0.5) / 5
            stage.disc(
                (radius * 0.42 * math.sin(turn), -radius * 0.42 * math.cos(turn)),
                radius * 0.13,
                blend(colour, style.ink, 0.3),
            )
        stage.disc((0, 0), radius * 0.16, style.ink)
        stage.disc((0, module * 2 - radius), module * 1.15, style.bright)
        stage.disc((0, module * 2 - radius), module * 0.9, style.third)
        c.restore()

    def draw(t: float) -> Frame:
        stage.lay(plate)
        run = clamp(t, BEGIN, STOP) - BEGIN
        turn = 2 * math.pi * run / SMALL_TURN
        turning(big, large, LARGE, -turn * SMALL / LARGE, steel)
        turning(little, small, SMALL, turn, brass)
        for line in lines:
            key = line.text.split()[0]
            if key in columns and line.on(t):
                row = 0.855 if key.isdigit() else 0.952
                stage.text(line.text, columns[key], row * h, stage.em(0.067), style.ink, bold=True)
            elif key not in columns:
                stage.text(line.text, w / 2, 0.125 * h, stage.em(0.085), style.ink, alpha=line.alpha(t, end, 0.2))
        for name, first in first_counts(lines).items():
            if not reached(t, first):
                stage.text(f"{name} 0", columns[name], 0.952 * h, stage.em(0.067), style.ink)
        return stage.pixels

    sound = synth.Mix(end)
    for at in ticks:
        sound.add(synth.tick(), at, 1.0, 0.25)
        sound.add(synth.knock(900, 0.1), at, 0.6, 0.25)
    cues = [
        Cue(0, BEGIN, "both gears at rest"),
        Cue(BEGIN, STOP, "gears run"),
        Cue(STOP, end, "both gears at rest, ratio"),
    ]
    cues += [Cue(at, at, f"tick: small gear completes turn {k + 1}", "effects") for k, at in enumerate(ticks)]
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=sound.render(),
        cues=[*cues, *line_cues(lines)],
        made=[
            f"Involute gears of {LARGE} and {SMALL} teeth of one module; the turn of each is a function of time alone."
        ],
        pixels="bgra",
    )


def first_counts(lines: list[Line]) -> dict[str, float]:
    """Instant of each counter's first count; before it the counter reads 0."""
    firsts: dict[str, float] = {}
    for line in lines:
        name, _, count = line.text.partition(" ")
        if name in {"SMALL", "LARGE"} and count == "1":
            firsts[name] = line.start
    return firsts


def gear(teeth: int, module: float) -> skia.Path:
    """Outline of a spur gear about the origin, in pixels.

    Involute flanks of 20 degrees, radial below the base circle. The 20-tooth gear has a tooth on the line to its
    partner at the right, the 10-tooth gear a gap on the line to its partner at the left, so that they mesh.
    """
    pitch = teeth * module / 2
    base, root, tip = pitch * math.cos(PRESSURE), pitch - DEDENDUM * module, pitch + ADDENDUM * module
    half = (math.pi / 2 - BACKLASH) / teeth

    def involute(radius: float) -> float:
        pressure = math.acos(min(1.0, base / radius))
        return math.tan(pressure) - pressure

    radii = [root, *(max(root, base) + (tip - max(root, base)) * k / 8 for k in range(9))]
    flank = [(r, half + involute(pitch) - involute(max(r, base))) for r in radii]
    step = 2 * math.pi / teeth
    phase = 0.0 if teeth == LARGE else step / 2
    points: list[skia.Point] = []
    for k in range(teeth):
        middle = phase + k * step
        side = [(r, middle - a) for r, a in flank] + [(r, middle + a) for r, a in reversed(flank)]
        points += [skia.Point(r * math.cos(a), r * math.sin(a)) for r, a in side]
    return skia.Path.Polygon(points, True)
