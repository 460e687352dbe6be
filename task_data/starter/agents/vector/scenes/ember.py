"""EMBER: a launch card in four stages, held together by one leaf-shaped flame."""

from __future__ import annotations

import math

import skia
from kit import synth
from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.motion import ease_in_out, ease_out, mix, overshoot, progress
from kit.sheets import Cue

from vector.scenes import ember_props as props
from vector.script import Line, length, line_cues, read_lines
from vector.stage import Stage, paint
from vector.style import Style, blend, rgb

CHARCOAL, EMBER = rgb("#1E1A18"), rgb("#F26A1B")
# Foot of the flame (shares of width and height) and its height (share of height) in each stage.
PLACES = [(0.5, 0.52, 0.42), (0.5, 0.79, 0.4), (0.16, 0.66, 0.42), (0.17, 0.78, 0.56)]
TRAVEL = 0.5  # seconds from one place to the next
# One chord each 2.75 s (D, B minor, G, A) and the notes plucked over it, in Hz.
CHORDS = [(146.83, 220.0, 369.99), (123.47, 185.0, 293.66), (98.0, 196.0, 246.94), (110.0, 220.0, 277.18)]
NOTES = [(440.0, 587.33, 739.99), (369.99, 493.88, 587.33), (392.0, 493.88, 587.33), (440.0, 554.37, 659.25)]


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt; strings and times come from its table."""
    stage = Stage(brief.width, brief.height)
    lines = read_lines(brief)
    w, h, end = float(brief.width), float(brief.height), length(lines)
    starts = sorted({line.start for line in lines})
    cream = blend(style.bright, EMBER, 0.06)
    layout = {line: place(stage, line, lines) for line in lines}

    def draw(t: float) -> Frame:
        stage.canvas.clear(CHARCOAL)
        x, foot, tall = flame_place(t, starts)
        for k, start in enumerate(starts[1:3]):
            shown = ease_out(progress(t, start, start + 0.4)) * (1 - progress(t, starts[k + 2] - 0.3, starts[k + 2]))
            if shown > 0:
                (props.pot if k == 0 else props.balance)(stage, t - start, shown, style)
        lit = overshoot(progress(t, -0.3, 0.4))
        sparks(stage, (x * w, foot * h, tall * h * lit), t)
        flame(stage, (x * w, foot * h, tall * h * lit), t)
        for line in lines:
            alpha = line.alpha(t, end)
            x, y, size, button = layout[line]
            rise = (1 - ease_out(progress(t, line.start, line.start + 0.4))) * 0.025 * h
            if button:
                wide = stage.measure(line.text, size) + 0.07 * w
                stage.panel((x - wide / 2, y - 0.124 * h, wide, 0.164 * h), 0.04 * h, style.accent, alpha=alpha)
            stage.text(line.text, x, y + rise, size, CHARCOAL if button else cream, alpha=alpha)
        return stage.pixels

    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=music(end).render(),
        cues=[
            *(Cue(a, b, f"stage {k + 1}") for k, (a, b) in enumerate(zip(starts, [*starts[1:], end], strict=True))),
            Cue(0, end, "one calm piece, fades in the last second", "music"),
            *line_cues(lines),
        ],
        made=["Drawn with Skia; the flame's outline is a function of time.", "The music is synthesised."],
        pixels="bgra",
    )


def place(stage: Stage, line: Line, lines: list[Line]) -> tuple[float, float, float, bool]:
    """Centre, baseline and font size in pixels of a string, and whether it is set in a button."""
    w, h = stage.width, stage.height
    peers = [other for other in lines if other.stage == line.stage]
    rank = peers.index(line)
    if line.stage == 1:
        return (w / 2, (0.71, 0.87)[min(rank, 1)] * h, stage.em((0.13, 0.074)[min(rank, 1)]), False)
    if line.stage in (2, 3):
        return (w / 2, 0.94 * h if line.stage == 2 else 0.18 * h, stage.em(0.1), False)
    x = 0.645 * w
    return (x, (0.735, 0.51, 0.31)[min(rank, 2)] * h, stage.em((0.084, 0.076, 0.076)[min(rank, 2)]), rank == 0)


def flame_place(t: float, starts: list[float]) -> tuple[float, float, float]:
    """Foot (x, y) and height of the flame at `t`, in shares of the picture; it glides between the stages' places."""
    here = PLACES[0]
    for start, there in zip(starts[1:], PLACES[1:], strict=True):
        p = ease_in_out(progress(t, start - 0.1, start - 0.1 + TRAVEL))
        here = (mix(here[0], there[0], p), mix(here[1], there[1], p), mix(here[2], there[2], p))
    return here


def flame(stage: Stage, box: tuple[float, float, float], t: float) -> None:
    """The leaf: an ember outline, a bright heart, a vein; `box` is foot x, foot y and height in pixels."""
    x, y, tall = box
    if tall <= 1:
        return
    flicker = 1 + 0.04 * math.sin(13.1 * t) + 0.03 * math.sin(7.3 * t + 1)
    sway = 0.09 * math.sin(5.2 * t) + 0.05 * math.sin(8.7 * t + 2)
    stage.canvas.drawPath(leaf(x, y, tall * flicker, sway), paint(EMBER))
    stage.canvas.drawPath(leaf(x, y - 0.02 * tall, tall * 0.5 * flicker, sway * 1.4), paint(rgb("#FFB454")))
    vein = skia.Path()
    vein.moveTo(x, y + 0.05 * tall)
    vein.quadTo(x, y - 0.4 * tall, x + sway * 0.7 * tall, y - 0.72 * tall * flicker)
    stage.canvas.drawPath(vein, paint(CHARCOAL, 0.75, max(2.0, 0.016 * tall)))


def leaf(x: float, y: float, tall: float, sway: float) -> skia.Path:
    """Outline of a leaf that stands on (x, y), `tall` pixels high, its tip moved sideways by `sway` of its height."""
    wide, tip = 0.42 * tall, x + sway * tall
    path = skia.Path()
    path.moveTo(x, y)
    path.cubicTo(x - wide * 1.25, y - 0.12 * tall, x - wide * 0.75 + sway * 0.4 * tall, y - 0.62 * tall, tip, y - tall)
    path.cubicTo(x + wide * 0.75 + sway * 0.4 * tall, y - 0.62 * tall, x + wide * 1.25, y - 0.12 * tall, x, y)
    path.close()
    return path


def sparks(stage: Stage, box: tuple[float, float, float], t: float) -> None:
    """A few glowing specks that rise from the flame and go out."""
    x, y, tall = box
    for k in range(9):
        age = (t * (0.45 + 0.05 * (k % 4)) + k * 0.381) % 1.0
        if t < 0.5 or tall <= 1:
            return
        drift = math.sin(3 * t + 2.1 * k) * 0.06 + (k / 8 - 0.5) * 0.45 * (0.4 + age)
        stage.disc(
            (x + drift * tall, y - (0.45 + 0.75 * age) * tall), 4.5 * (1 - age) + 1, EMBER, alpha=0.9 * (1 - age)
        )


def music(end: float) -> synth.Mix:
    """Four warm chords with slow plucked notes, from the first instant, faded within the last 0.9 s."""
    song = synth.Mix(end)
    each = end / len(CHORDS)
    for k, (chord, notes) in enumerate(zip(CHORDS, NOTES, strict=True)):
        attack = 0.06 if k == 0 else 0.45
        song.add(synth.pad(chord, each + 0.6, attack=attack, release=0.7), k * each, 0.55)
        for n in range(4):
            song.add(
                synth.pluck(notes[(0, 1, 2, 1)[n]], 1.4, half_life=0.3), k * each + n * each / 4, 0.4, 0.35 * (-1) ** n
            )
    song.duck(end, end + 1.0, 0.0, ramp=0.9)
    return song
