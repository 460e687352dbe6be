"""GEARS: a gear of 20 teeth and one of 10 in mesh, cut from board and laid on squared paper."""

from __future__ import annotations

import math

from kit.brief import Brief
from kit.fonts import latin_font
from kit.sheets import Cue
from kit.synth import Mix, tick
from PIL import Image, ImageDraw

from raster.finish import Piece
from raster.press.inks import Ink, blend, ink
from raster.press.stamps import Stamp, Type, cut, disc

PAPER, INK = ink("#F3EBD8"), ink("#23303D")
LARGE_INK, SMALL_INK, DOT = ink("#2F6F8F"), ink("#C8553D"), ink("#FFD166")
LARGE_TEETH, SMALL_TEETH = 20, 10
MODULE = 15.0  # pitch diameter / teeth, in pixels
PRESSURE = math.radians(25)
TALL = 37  # capitals, pixels


def make(brief: Brief) -> Piece:
    """The clip of the GEARS brief: turns, ticks and strings come from its tables."""
    width, height = brief.width, brief.height
    turns = [float(row["time_s"]) for row in brief.table("event", "time_s")]
    strings = [(float(r["start_s"]), float(r["end_s"]), r["text"]) for r in brief.table("stage", "text")]
    seconds = max(end for _, end, _ in strings)
    period = turns[1] - turns[0]
    start, stop = turns[0] - period, turns[-1]
    large_at, small_at = (405.0, 268.0), (405.0 + MODULE * (LARGE_TEETH + SMALL_TEETH) / 2, 268.0)
    places = {
        "20 TEETH": (300, 486),
        "10 TEETH": (735, 486),
        "LARGE": (300, 56),
        "SMALL": (735, 56),
    }
    letters = Type(str(latin_font(bold=True)))
    table = _squared(width, height)
    gears: dict[tuple[int, int], Stamp] = {}
    dot, rim = disc(9, DOT), disc(12, INK)

    def gear(teeth: int, step: int, offset: float, colour: Ink) -> Stamp:
        """The gear after `step` frames of running; pictures are kept."""
        if (teeth, step) not in gears:
            gears[teeth, step] = _gear(teeth, offset, colour)
        return gears[teeth, step]

    def wheel(sheet: Image.Image, t: float, teeth: int, at: tuple[float, float], colour: Ink, way: int) -> None:
        turn = (min(max(t, start), stop) - start) / period * SMALL_TEETH / teeth
        angle = way * 2 * math.pi * turn
        # Teeth of the one stand where the other has gaps on the line between the two centres.
        offset = angle + (math.pi + math.pi / teeth if teeth == SMALL_TEETH else 0.0)
        frames = round(turn * period * brief.fps * teeth / SMALL_TEETH)
        # Teeth and holes look the same after a fifth of a turn (the dot is printed apart).
        fifth = round(period * brief.fps * teeth / SMALL_TEETH / 5)
        stamp = gear(teeth, frames % fifth, offset, colour)
        stamp.press(sheet, *at)
        reach = MODULE * teeth / 2 - 34
        spot = (at[0] + reach * math.sin(angle), at[1] - reach * math.cos(angle))
        rim.press(sheet, *spot)
        dot.press(sheet, *spot)

    def draw(t: float) -> Image.Image:
        sheet = table.copy()
        wheel(sheet, t, LARGE_TEETH, large_at, LARGE_INK, -1)
        wheel(sheet, t, SMALL_TEETH, small_at, SMALL_INK, 1)
        for counter in ("SMALL", "LARGE"):
            colour = SMALL_INK if counter == "SMALL" else LARGE_INK
            letters.set(_count(counter, strings, t), TALL, colour).press(sheet, *places[counter])
        # planted fault: the last stage's statement, RATIO 2:1, is dropped; only counters and tooth labels are set
        for label in ("20 TEETH", "10 TEETH"):
            letters.set(label, TALL, INK).press(sheet, *places[label])
        return sheet

    sound = Mix(seconds)
    for at in turns:
        sound.add(tick(1900), at, 0.9)
    cues = [Cue(at, at, f"small gear completes turn {n + 1}, tick", "picture and sound") for n, at in enumerate(turns)]
    cues += [Cue(begin, end, text, "text") for begin, end, text in strings if not text.startswith("RATIO")]
    made = [
        "Tooth flanks are involutes of a circle; both gears are drawn at the same module, so that they mesh (PIL).",
        "The ticks are synthesised with numpy.",
    ]
    return Piece(seconds, draw, sound.render(), cues, made)


def _count(counter: str, strings: list[tuple[float, float, str]], t: float) -> str:
    """What `counter` reads at `t`: its last string that has begun, 0 before the first."""
    begun = [text for begin, _, text in strings if text.startswith(counter) and begin <= t + 1e-6]
    return begun[-1] if begun else f"{counter} 0"


def _outline(teeth: int, offset: float) -> list[tuple[float, float]]:
    """Points of a spur gear's edge about (0, 0); `offset` is the angle of one tooth's middle (y down)."""
    pitch, tip, root = MODULE * teeth / 2, MODULE * (teeth / 2 + 0.85), MODULE * (teeth / 2 - 1.05)
    base = pitch * math.cos(PRESSURE)

    def roll(radius: float) -> float:
        """The involute's polar angle at `radius`; below the base circle the flank runs straight to the centre."""
        lean = math.acos(min(1.0, base / max(base, radius)))
        return math.tan(lean) - lean

    half = math.pi / (2 * teeth) * 0.94  # a little play, so that flanks do not overlap in the raster
    flank = [root + (tip - root) * k / 7 for k in range(8)]
    points = []
    for n in range(teeth):
        middle = offset + 2 * math.pi * n / teeth
        rising = [(r, middle - half - roll(pitch) + roll(r)) for r in flank]
        falling = [(r, middle + half + roll(pitch) - roll(r)) for r in reversed(flank)]
        points += [(r * math.cos(a), r * math.sin(a)) for r, a in rising + falling]
    return points


def _gear(teeth: int, offset: float, colour: Ink) -> Stamp:
    """A gear of board with a bored hub, the large one with five holes."""
    side = MODULE * (teeth + 2)
    edge = [(side / 2 + x, side / 2 + y) for x, y in _outline(teeth, offset)]
    holes, pitch = (5, MODULE * teeth / 2) if teeth == LARGE_TEETH else (0, MODULE * teeth / 2)

    def draw(pen: ImageDraw.ImageDraw, k: float) -> None:
        pen.polygon(
            [(x * k, y * k) for x, y in edge], fill=colour, outline=blend(colour, INK, 0.6), width=round(1.5 * k)
        )

        def ring(x: float, y: float, radius: float, fill: Ink) -> None:
            pen.ellipse(((x - radius) * k, (y - radius) * k, (x + radius) * k, (y + radius) * k), fill=fill)

        for n in range(holes):
            angle = offset + math.pi / 10 + 2 * math.pi * n / holes
            ring(side / 2 + pitch * 0.5 * math.cos(angle), side / 2 + pitch * 0.5 * math.sin(angle), 20, PAPER)
        ring(side / 2, side / 2, 22, blend(colour, INK, 0.5))
        ring(side / 2, side / 2, 11, PAPER)

    return cut(side, side, draw)


def _squared(width: int, height: int) -> Image.Image:
    """Squared exercise paper."""
    sheet = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    rule = blend(PAPER, LARGE_INK, 0.14)
    for x in range(0, width, 30):
        pen.line((x, 0, x, height), fill=rule)
    for y in range(0, height, 30):
        pen.line((0, y, width, y), fill=rule)
    return sheet
