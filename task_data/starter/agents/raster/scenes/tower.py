"""TOWER: four wooden blocks fall, land with a knock and make a tower; lettering in Chinese."""

from __future__ import annotations

import numpy as np
from kit.brief import Brief
from kit.fonts import supplied_font
from kit.sheets import Cue
from kit.synth import Mix, knock
from PIL import Image, ImageDraw

from raster.finish import Piece
from raster.press.easing import into, mix, out, span
from raster.press.inks import Ink, blend, halftone, ink
from raster.press.stamps import SCALE, Stamp, Type, block, disc

CREAM, INK, GROUND = ink("#FAF6EC"), ink("#3B332B"), ink("#D9CBB0")
TALL, WIDTHS = 76, (350, 280, 212, 148)
FLOOR, MIDDLE, TEXT_AT = 490, 640, (215, 210)
FALL, DUST = 0.75, 0.35


def make(brief: Brief) -> Piece:
    """The clip of the TOWER brief: blocks, landings and lettering come from its tables."""
    width, height = brief.width, brief.height
    letters = Type(str(supplied_font(brief.inputs)), capital="四")
    strings = [(float(r["start_s"]), float(r["end_s"]), r["text"]) for r in brief.table("start_s", "text")]
    seconds = strings[-1][1]
    blocks = [(float(r["land_s"]), ink(r["colour"])) for r in brief.table("layer", "land_s")]
    wood = [_plank(wide, TALL, colour) for wide, (_, colour) in zip(WIDTHS, blocks, strict=True)]
    puff = disc(7, blend(GROUND, INK, 0.15))
    ground = _ground(width, height)

    def draw(t: float) -> Image.Image:
        sheet = ground.copy()
        for n, (land, _) in enumerate(blocks):
            rest = FLOOR - TALL * (n + 0.5)
            if t < land - FALL:
                continue
            wood[n].press(sheet, MIDDLE, mix(-TALL / 2, rest, into(span(t, land - FALL, land))))
            age = span(t, land, land + DUST)
            if 0 < age < 1:
                for side in (-1, 1):
                    for k in range(3):
                        x = MIDDLE + side * (WIDTHS[n] / 2 + 8 + (14 + 16 * k) * out(age))
                        y = rest + TALL / 2 - 8 - 7 * k * out(age)
                        puff.press(sheet, x, y, opacity=0.8 * (1 - age))
        for start, end, text in strings:
            if start <= t + 1e-6 and (t < end - 1e-6 or end >= seconds):
                letters.set(text, 68, INK).press(sheet, *TEXT_AT)
        return sheet

    sound = Mix(seconds)
    for n, (land, _) in enumerate(blocks):
        sound.add(knock(170 + 35 * n), land, 0.9)
    cues = [Cue(land, land, f"第{n + 1}块积木落地", "picture and sound") for n, (land, _) in enumerate(blocks)]
    cues += [Cue(start, end, text, "text") for start, end, text in strings]
    made = ["Blocks are cut as stamps with a printed grain (PIL); the knocks are synthesised with numpy."]
    return Piece(seconds, draw, sound.render(), cues, made)


def _plank(wide: float, tall: float, colour: Ink) -> Stamp:
    """A block with a lighter top edge and a grain of printed dots at its foot."""
    stamp = block(wide, tall, colour, radius=9, edge=blend(colour, (0, 0, 0), 0.35), line=3)
    size = stamp.cut.size
    weight = np.tile(np.linspace(0, 0.34, size[1])[:, None] ** 1.3, (1, size[0]))
    weight[: 8 * SCALE] = weight[-8 * SCALE :] = 0
    weight[:, : 10 * SCALE] = weight[:, -10 * SCALE :] = 0
    grain = halftone(size, blend(colour, (0, 0, 0), 0.22), 9 * SCALE, weight)
    stamp.cut.paste(grain, (0, 0), grain.getchannel("A"))
    pen = ImageDraw.Draw(stamp.cut)
    shine = (14 * SCALE, 9 * SCALE, size[0] - 14 * SCALE, 13 * SCALE)
    pen.rounded_rectangle(shine, 2 * SCALE, fill=blend(colour, (255, 255, 255), 0.35))
    return stamp


def _ground(width: int, height: int) -> Image.Image:
    sheet = Image.new("RGB", (width, height), CREAM)
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((0, FLOOR, width, height), fill=GROUND)
    pen.rectangle((0, FLOOR, width, FLOOR + 3), fill=blend(GROUND, INK, 0.5))
    return sheet
