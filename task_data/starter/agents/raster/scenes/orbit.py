"""ORBIT: three discs on three orbits become one still light, pressed as cut paper on night blue."""

from __future__ import annotations

import math

import numpy as np
from kit.brief import Brief
from kit.fonts import latin_font
from kit.sheets import Cue
from PIL import Image

from raster.finish import Piece
from raster.press.easing import mix, smooth, span
from raster.press.inks import halftone, ink
from raster.press.stamps import Type, disc

NIGHT, IVORY = ink("#0B1026"), ink("#FFF4D6")
SPIRAL, MERGED, STILL = 6.0, 7.0, 7.5
DISC_SHARE, LIGHT_SHARE = 0.062, 0.125
ECHOES = 14

# planted fault: half of the frame rate that the prompt and the spec ask for (30 instead of 60 frames a second)
HASTY_RATE = 30.0


def make(brief: Brief) -> Piece:
    """The film of the ORBIT brief: orbits, colours and times come from its tables."""
    width, height = brief.width, brief.height
    middle = (width / 2, height / 2)
    word = brief.table("stage", "text")[0]
    word_start, seconds = float(word["start_s"]), float(word["end_s"])
    lettering = Type(str(latin_font(bold=True))).set(word["text"], 0.115 * height, IVORY, spacing=8)
    discs = [
        (
            disc(DISC_SHARE * height, ink(row["colour"])),
            disc(2.2, ink(row["colour"])),
            float(row["joins_s"]),
            float(row["turn_s"]),
            float(row["orbit_radius_share_of_height"]) * height,
        )
        for row in brief.table("disc", "joins_s")
    ]
    lights = [disc(max(1.0, LIGHT_SHARE * height * k / 24), IVORY) for k in range(25)]
    night = Image.new("RGB", (width, height), NIGHT)
    halo = _halo(width, height, middle)

    def place(joins: float, turn: float, radius: float, t: float) -> tuple[float, float]:
        inward = smooth(span(t, SPIRAL, MERGED))
        # The spiral gains speed on its way in, as water does towards a drain.
        angle = 2 * math.pi * ((t - joins) / turn + 0.6 * inward**2) - math.pi / 2
        reach = radius * (1 - inward)
        return middle[0] + reach * math.cos(angle), middle[1] + reach * math.sin(angle)

    def draw(t: float) -> Image.Image:
        sheet = night.copy()
        bloom = smooth(span(t, MERGED - 0.4, STILL))
        if bloom > 0:
            sheet.paste(halo, (0, 0), halo.getchannel("A").point([round(v * bloom) for v in range(256)]))
        if t < MERGED:
            for _, dot, joins, turn, radius in discs:
                for k in range(1, ECHOES):
                    then = t - 0.045 * k
                    if then >= joins:
                        dot.press(sheet, *place(joins, turn, radius, then), opacity=0.6 * (1 - k / ECHOES))
            for stamp, _, joins, turn, radius in discs:
                if t >= joins:
                    shown = smooth(span(t, joins, joins + 0.25)) if joins > 0 else 1.0
                    stamp.press(sheet, *place(joins, turn, radius, t), opacity=shown)
        grown = smooth(span(t, MERGED - 0.35, MERGED + 0.25))
        if grown > 0:
            lights[round(mix(0, 24, grown))].press(sheet, *middle)
        lettering.press(sheet, middle[0], height * 0.86, opacity=smooth(span(t, word_start, word_start + 0.35)))
        return sheet

    cues = [Cue(float(r["joins_s"]), MERGED, f"{r['disc']} disc orbits") for r in brief.table("disc", "joins_s")]
    cues += [Cue(SPIRAL, MERGED, "discs spiral inwards and merge"), Cue(word_start, seconds, word["text"], "text")]
    made = ["Discs cut as stamps and pressed at quarter pixels (PIL).", "No sound: the film is silent on purpose."]
    return Piece(seconds, draw, None, cues, made, rate=HASTY_RATE)


def _halo(width: int, height: int, middle: tuple[float, float]) -> Image.Image:
    """A ring of fine dots close around the light, thinning outwards."""
    y, x = np.mgrid[0:height, 0:width]
    far = np.hypot(x - middle[0], y - middle[1]) / height
    weight = 0.22 * np.clip(1 - (far - LIGHT_SHARE) / 0.12, 0, 1) * (far > LIGHT_SHARE + 0.012)
    return halftone((width, height), IVORY, 6, weight)
