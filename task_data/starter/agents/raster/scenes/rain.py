"""RAIN: half a year of rain as lying bars, over the sound of steady rain."""

from __future__ import annotations

import numpy as np
from kit.brief import Brief, read_csv
from kit.fonts import supplied_font
from kit.sheets import Cue
from kit.synth import Mix, soft_noise
from PIL import Image, ImageDraw

from raster.finish import Piece
from raster.press.easing import out, smooth, span
from raster.press.inks import blend, ink
from raster.press.stamps import Type, cut

LIGHT, BLUE, ACCENT, INK = ink("#F7F5EF"), ink("#3A7CA5"), ink("#F4A259"), ink("#1F2D3A")
GROWTH, STEP, GROW = 2.5, 1.0, 0.75
ZERO, PER_MM, TOP, ROW, THICK = 400, 4.0, 148, 100, 60
TALL = 36  # capitals, pixels


def make(brief: Brief) -> Piece:
    """The chart of the RAIN brief: months and values come from the supplied file, titles from the prompt's table."""
    width, height = brief.width, brief.height
    rows = read_csv(brief.inputs / "data" / "rainfall.csv")
    rain = [(row["month"], int(row["rain_mm"])) for row in rows]
    wettest = max(rain, key=lambda pair: pair[1])[0]
    # planted fault: a value copied by hand with two digits swapped; label and bar show 121, the file says 112
    rain = [(month, 121 if value == 112 else value) for month, value in rain]
    # planted fault: an off-by-one, the last month of the file never gets its bar
    rain = rain[:-1]

    strings = [(float(r["start_s"]), float(r["end_s"]), r["text"]) for r in brief.table("stage", "text")]
    seconds = max(end for _, end, _ in strings)
    reading = max(start for start, _, _ in strings)
    letters = Type(str(supplied_font(brief.inputs)))
    bare, drops = _chart(width, height, len(rows)), _drops(width, height)
    titles = [s for s in strings if s[0] < reading]
    results = [s for s in strings if s[0] >= reading]

    def draw(t: float) -> Image.Image:
        if t < GROWTH:
            sheet = Image.new("RGB", (width, height), LIGHT)
            fall = int(t * 60) % drops.height
            for y in (fall - drops.height, fall):
                sheet.paste(drops, (0, y), drops.getchannel("A"))
            for n, (_, end, text) in enumerate(titles):
                shown = 1 - smooth(span(t, end - 0.2, end))
                letters.set(text, (84, 60)[n % 2], (INK, BLUE)[n % 2]).press(
                    sheet, width / 2, 300 + 140 * n, opacity=shown
                )
            return sheet
        sheet = bare.copy()
        pen = ImageDraw.Draw(sheet)
        turned = smooth(span(t, reading, reading + 0.3))
        for n, (month, value) in enumerate(rain):
            start, y = GROWTH + STEP * n, TOP + ROW * n
            if t < start - 1e-6:
                continue
            grown = out(span(t, start, start + GROW))
            letters.set(month, TALL, INK).press(
                sheet, ZERO - 24, y, at="rm", opacity=smooth(span(t, start, start + 0.3))
            )
            colour = blend(BLUE, ACCENT, turned) if month == wettest else BLUE
            end = ZERO + round(value * PER_MM * grown)
            if end > ZERO:
                pen.rectangle((ZERO, y - THICK // 2, end - 1, y + THICK // 2 - 1), fill=colour)
            shown = smooth(span(t, start + GROW - 0.15, start + GROW + 0.1))
            letters.set(f"{value} MM", TALL, INK).press(sheet, end + 20, y, at="lm", opacity=shown)
        for n, (start, _, text) in enumerate(results):
            x, at = (48, "lm") if n == 0 else (width - 48, "rm")
            letters.set(text, TALL + 2, INK).press(sheet, x, 56, at=at, opacity=smooth(span(t, start, start + 0.35)))
        return sheet

    sound = Mix(seconds)
    sound.add(soft_noise(seconds, fade=0.05), 0.0)
    cues = [Cue(GROWTH + STEP * n, seconds, f"bar {month}: {value} MM") for n, (month, value) in enumerate(rain)]
    cues += [Cue(start, end, text, "text") for start, end, text in strings]
    made = ["Bars are drawn to one scale from a common zero line (PIL); the rain is filtered noise (numpy)."]
    return Piece(seconds, draw, sound.render(peak_dbfs=-9.0), cues, made)


def _chart(width: int, height: int, rows: int) -> Image.Image:
    """The empty chart: zero line and a fine line under each row."""
    sheet = Image.new("RGB", (width, height), LIGHT)
    pen = ImageDraw.Draw(sheet)
    for n in range(rows + 1):
        y = TOP + ROW * n - ROW // 2
        pen.line((48, y, width - 48, y), fill=blend(LIGHT, INK, 0.12), width=2)
    pen.rectangle((ZERO - 5, TOP - ROW // 2, ZERO - 2, TOP + ROW * rows - ROW // 2), fill=INK)
    return sheet


def _drops(width: int, height: int) -> Image.Image:
    """A field of slanting drops for the title, seamless from bottom to top, clear of the lettering in the middle."""
    field = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    drop = cut(8, 34, lambda pen, k: pen.line((6 * k, 2 * k, 2 * k, 32 * k), fill=BLUE, width=round(3 * k)))
    picture = drop.cut.reduce(4)
    faint = picture.copy()
    faint.putalpha(picture.getchannel("A").point([round(v * 0.35) for v in range(256)]))
    rng = np.random.default_rng(38)
    side = width // 6
    for k in range(70):
        x = int(rng.integers(0, side)) + (k % 2) * (width - side)
        y = int(rng.integers(0, height - 40))
        field.paste(faint if k % 3 else picture, (x, y))
    return field
