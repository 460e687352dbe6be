"""RAIN: six months grow as bars from the supplied figures; the wettest one and the total are read off."""

from __future__ import annotations

import math

import numpy as np
from kit import synth
from kit.brief import Brief, read_csv
from kit.deliver import Film, Frame
from kit.fonts import supplied_font
from kit.motion import ease_out, progress
from kit.sheets import Cue

from vector.script import length, line_cues, reached, read_lines
from vector.stage import Stage
from vector.style import Style, blend, rgb

GROUND, BLUE, ORANGE = rgb("#F7F5EF"), rgb("#3A7CA5"), rgb("#F4A259")
FIRST_BAR, EVERY, GROW = 2.5, 1.0, 0.75  # seconds
RAIN_DBFS = -27.0


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt; months and values come from inputs/data/rainfall.csv.

    Raises ValueError if the strings of the prompt contradict the data.
    """
    stage = Stage(brief.width, brief.height, supplied_font(brief.inputs))
    lines = read_lines(brief)
    rows = read_csv(brief.inputs / "data" / "rainfall.csv")
    months = [(row["month"], int(row["rain_mm"])) for row in rows]
    wettest = max(months, key=lambda month: month[1])[0]
    total = f"TOTAL {sum(value for _, value in months)} MM"
    shown = {line.text for line in lines}
    if total not in shown or not any(text.endswith(wettest) for text in shown):
        raise ValueError(f"the data say {wettest} and {total}, the prompt's strings {', '.join(sorted(shown))}")
    w, h, end = float(brief.width), float(brief.height), length(lines)
    reading = next(line.start for line in lines if line.text == total)
    title = [line for line in lines if line.stage == 1]
    closing = [line for line in lines if line.stage != 1]
    zero, unit = 0.3 * w, 0.48 * w / max(value for _, value in months)
    pitch, top, thick = 0.128 * h, 0.055 * h, 0.085 * h
    ink = style.ink

    def draw(t: float) -> Frame:
        stage.canvas.clear(GROUND)
        heading = title[0].alpha(t, end)
        if heading > 0:
            drops(stage, t, heading)
        for k, line in enumerate(title):
            size = stage.em((0.12, 0.075)[min(k, 1)])
            stage.text(
                line.text, w / 2, (0.47, 0.63)[min(k, 1)] * h, size, ink if k == 0 else BLUE, alpha=line.alpha(t, end)
            )
        if reached(t, FIRST_BAR):
            axis = ease_out(progress(t, FIRST_BAR, FIRST_BAR + 0.4))
            stage.line((zero, top), (zero, top + ((len(months) - 1) * pitch + thick) * axis), ink, 4, alpha=0.5 * axis)
        for k, (month, value) in enumerate(months):
            start = FIRST_BAR + k * EVERY
            if not reached(t, start):
                continue
            grown = ease_out(progress(t, start, start + GROW))
            y = top + pitch * k
            turned = ease_out(progress(t, reading, reading + 0.4)) if month == wettest and reached(t, reading) else 0.0
            stage.panel((zero, y, unit * value * grown, thick), 0, blend(BLUE, ORANGE, turned))
            base = y + thick / 2 + 0.024 * h
            name = ease_out(progress(t, start, start + 0.3))
            stage.text(month, zero - 0.018 * w, base, stage.em(0.048), ink, alpha=name, align=1.0)
            number = ease_out(progress(t, start + GROW - 0.2, start + GROW))
            stage.text(
                f"{value} MM",
                zero + unit * value * grown + 0.015 * w,
                base,
                stage.em(0.048),
                ink,
                alpha=number,
                align=0.0,
            )
        for k, line in enumerate(closing):
            x, align = ((0.04 * w, 0.0), (0.96 * w, 1.0))[min(k, 1)]
            stage.text(line.text, x, 0.945 * h, stage.em(0.051), ink, alpha=line.alpha(t, end), align=align)
        return stage.pixels

    cues = [
        Cue(FIRST_BAR + k * EVERY, FIRST_BAR + k * EVERY + GROW, f"bar {month} grows to {value} MM")
        for k, (month, value) in enumerate(months)
    ]
    cues += [Cue(reading, end, f"bar {wettest} in the accent colour"), Cue(0, end, "soft rain", "ambience")]
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=rain(end),
        cues=[*cues, *line_cues(lines)],
        made=["Bars are drawn from inputs/data/rainfall.csv with the supplied font.", "The rain is filtered noise."],
        pixels="bgra",
    )


def rain(seconds: float) -> np.ndarray:
    """Soft steady rain, (samples, 2): two independent noises, left and right."""
    sides = [synth.soft_noise(seconds, seed=seed, fade=0.05) for seed in (7, 11)]
    return synth.at_level(np.stack(sides, axis=1), RAIN_DBFS)


def drops(stage: Stage, t: float, alpha: float) -> None:
    """Drifting drops behind the title, kept away from its two lines."""
    for k in range(46):
        column = (k * 0.618034) % 1.0
        speed = 0.16 + 0.1 * ((k * 0.377) % 1.0)
        y = ((k * 0.2713) % 1.0 + speed * t) % 1.15 - 0.08
        near = min(1.0, max(0.0, abs(y - 0.5) / 0.16 - 1.0))
        x, size = column * stage.width, 9 + 8 * ((k * 0.731) % 1.0)
        top = y * stage.height
        stage.line(
            (x, top), (x - size * 0.6 * math.sin(0.3), top + size * 3), BLUE, size * 0.5, alpha=0.4 * alpha * near
        )
