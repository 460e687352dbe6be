"""TOWER: four blocks fall into place at fixed instants; each landing is heard and counted."""

from __future__ import annotations

from dataclasses import dataclass

import skia
from kit import synth
from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.fonts import supplied_font
from kit.motion import ease_in, ease_out, mix, progress
from kit.sheets import Cue

from vector.script import length, line_cues, reached, read_lines
from vector.stage import Stage, paint
from vector.style import Colour, Style, blend, rgb

GROUND = rgb("#FAF6EC")
FALL = 0.9  # seconds from the first sight of a block to its landing
HEIGHT = 0.125  # of a block, as a share of the picture height
WIDTHS = (0.40, 0.32, 0.24, 0.16)  # of the blocks from below, as shares of the picture width
FLOOR = 0.9
COLUMN, LETTERS = 0.71, 0.25  # where tower and lettering stand, shares of the picture width
LETTER_SIZE = 0.18  # font size as a share of the picture height; a glyph is about 0.9 of it


@dataclass(frozen=True)
class Block:
    """A block at rest: centre and top in pixels, size, colour, and the instant it lands."""

    x: float
    top: float
    width: float
    height: float
    colour: Colour
    land: float


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt; colours, instants and strings come from its tables, the font from inputs."""
    stage = Stage(brief.width, brief.height, supplied_font(brief.inputs), embolden=True)
    lines = read_lines(brief)
    w, h, end = float(brief.width), float(brief.height), length(lines)
    blocks = [
        Block(
            COLUMN * w,
            (FLOOR - HEIGHT * (k + 1)) * h,
            WIDTHS[k] * w,
            HEIGHT * h,
            rgb(row["colour"]),
            float(row["land_s"]),
        )
        for k, row in enumerate(brief.table("layer", "colour", "land_s"))
    ]

    def floor(s: Stage) -> None:
        s.canvas.clear(GROUND)
        s.canvas.drawRect(skia.Rect.MakeLTRB(0, FLOOR * h, w, h), paint(rgb("#D9CDB4")))
        s.canvas.drawRect(skia.Rect.MakeLTRB(0, FLOOR * h, w, FLOOR * h + 5), paint(rgb("#B9A985")))

    ground = stage.still(floor)

    def draw(t: float) -> Frame:
        stage.lay(ground)
        for block in blocks:
            if t <= block.land - FALL:
                continue
            fallen = 1.0 if reached(t, block.land) else ease_in(progress(t, block.land - FALL, block.land))
            brick(stage, block, mix(-block.height - 2, block.top, fallen))
            if reached(t, block.land):
                dust(stage, block, t - block.land)
        for line in lines:
            if line.on(t):
                # The titles come at once: the last one falls into the seconds in which nothing may move.
                fade = ease_out(progress(t, line.start - 0.05, line.start + 0.15)) if line.stage == 2 else 1.0
                stage.text(line.text, LETTERS * w, 0.52 * h, LETTER_SIZE * h, style.ink, alpha=fade)
        return stage.pixels

    sound = synth.Mix(end)
    for k, block in enumerate(blocks):
        sound.add(synth.knock(170 + 35 * k, 0.3), block.land, 1.0, 0.2)
    cues = [Cue(block.land - FALL, block.land, f"block {k + 1} falls") for k, block in enumerate(blocks)]
    cues += [Cue(block.land, block.land + 0.3, f"knock {k + 1}", "effects") for k, block in enumerate(blocks)]
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=sound.render(),
        cues=[*cues, *line_cues(lines)],
        made=["Drawn with Skia and the supplied font; every block reaches its place on the frame of its landing."],
        pixels="bgra",
    )


def brick(stage: Stage, block: Block, top: float) -> None:
    """A wooden block whose upper edge is `top` pixels below the picture's."""
    left = block.x - block.width / 2
    stage.panel((left, top, block.width, block.height), 7, block.colour)
    dark, light = blend(block.colour, 0xFF000000, 0.16), blend(block.colour, 0xFFFFFFFF, 0.16)
    stage.panel((left, top + block.height - 9, block.width, 9), 5, dark)
    stage.panel((left + 6, top + 5, block.width - 12, 5), 2.5, light)
    for k in range(2):
        y = top + block.height * (0.4 + 0.24 * k)
        stage.line((left + 0.14 * block.width, y), (left + (0.66 + 0.2 * k) * block.width, y), dark, 2, alpha=0.6)


def dust(stage: Stage, block: Block, since: float) -> None:
    """Two small puffs at the lower corners, gone 0.4 s after the landing."""
    gone = progress(since, 0.0, 0.4)
    if gone >= 1:
        return
    for side in (-1, 1):
        for k in range(3):
            x = block.x + side * (block.width / 2 + 5 + (14 + 9 * k) * ease_out(gone))
            y = block.top + block.height - 5 - 6 * k * gone
            stage.disc((x, y), 7 - 1.5 * k, rgb("#CBBD9C"), alpha=0.7 * (1 - gone))
