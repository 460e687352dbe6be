"""EMBER: a launch card in four stages around one flame, printed in ember and bone on charcoal."""

from __future__ import annotations

import math

import numpy as np
from kit.brief import Brief
from kit.fonts import latin_font
from kit.sheets import Cue
from kit.synth import Mix, pad, pluck
from PIL import Image, ImageDraw

from raster.finish import Piece
from raster.press.easing import clamp, mix, out, overshoot, smooth, span
from raster.press.flame import Flame
from raster.press.inks import blend, halftone, ink
from raster.press.stamps import Stamp, Type, block, cut, disc

CHARCOAL, EMBER, BONE, STEEL = ink("#1E1A18"), ink("#F26A1B"), ink("#F3E4CC"), ink("#8C8580")
DIM = blend(CHARCOAL, EMBER, 0.16)
# Foot of the flame (x, y) and its scale in each stage, and the seconds it takes to move on.
FLAME_AT = ((640.0, 420.0, 1.0), (235.0, 640.0, 0.9), (1010.0, 470.0, 0.95), (270.0, 560.0, 1.15))
GLIDE = 0.55

# planted fault: the call to action comes within the last second of its stage (its start is 3.5 s before the end)
CALL_AT = 10.05


def make(brief: Brief) -> Piece:
    """The card of the EMBER brief: strings and their times come from its table."""
    width, height = brief.width, brief.height
    rows = [(int(r["stage"]), float(r["start_s"]), float(r["end_s"]), r["text"]) for r in brief.table("stage", "text")]
    stages = sorted({start for _, start, _, _ in rows})
    seconds = max(end for _, _, end, _ in rows)
    letters = Type(str(latin_font(bold=True)))
    flame = Flame(300, EMBER, blend(EMBER, CHARCOAL, 0.55))
    ground = _ground(width, height)
    pot, balance = _Pot(), _Balance()
    button = block(744, 136, EMBER, radius=26)
    button_shadow = block(744, 136, blend(EMBER, CHARCOAL, 0.6), radius=26)

    def put(sheet: Image.Image, stage: int, start: float, end: float, text: str, t: float) -> None:
        """One string in its place, risen a little as it comes."""
        call = text == "ORDER TODAY"
        begin = CALL_AT if call else start
        shown = smooth(span(t, begin, begin + 0.3))
        if end < seconds:
            shown = min(shown, smooth(span(t, end, end - 0.25)))
        if shown <= 0:
            return
        rise = 22 * (1 - out(span(t, begin, begin + 0.45)))
        if call:
            button_shadow.press(sheet, 848, 560 + 12, opacity=shown)
            button.press(sheet, 848, 560 + rise / 2, opacity=shown)
        size, colour, x, y = _setting(stage, text)
        letters.set(text, size, colour).press(sheet, x, y + rise / (2 if call else 1), opacity=shown)

    def draw(t: float) -> Image.Image:
        sheet = ground.copy()
        stage = max(n for n, start in enumerate(stages) if start <= t + 1e-6)
        if stage == 1:
            pot.press(sheet, 235, 350, t, span(t, stages[1], stages[2]), _shown(t, stages[1], stages[2]))
        if stage == 2:
            balance.press(sheet, 455, 150, t - stages[2], _shown(t, stages[2], stages[3]))
        moved = smooth(span(t, stages[stage], stages[stage] + GLIDE))
        before, now = FLAME_AT[max(0, stage - 1)], FLAME_AT[stage]
        x, foot, scale = (mix(a, b, moved) for a, b in zip(before, now, strict=True))
        if stage == 0:
            scale *= overshoot(clamp(0.35 + 0.65 * span(t, 0.0, 0.6)))
        flame.press(sheet, x, foot, t, scale)
        for row in rows:
            if row[1] <= t + 1e-6 and (t < row[2] or row[2] >= seconds):
                put(sheet, *row, t)
        return sheet

    cues = [Cue(CALL_AT if text == "ORDER TODAY" else start, end, text, "text") for _, start, end, text in rows]
    made = ["The flame's outline is drawn anew for every frame (PIL); the music is synthesised with numpy."]
    return Piece(seconds, draw, _music(seconds).render(peak_dbfs=-6.0), cues, made)


def _shown(t: float, start: float, end: float) -> float:
    """Opacity of a stage's picture."""
    return min(smooth(span(t, start + 0.15, start + 0.5)), smooth(span(t, end, end - 0.25)))


def _setting(stage: int, text: str) -> tuple[float, tuple[int, int, int], float, float]:
    """Capital height, colour and place of a string."""
    if stage == 1:
        return (98, BONE, 640, 524) if text == "EMBERLEAF" else (54, EMBER, 640, 646)
    if stage == 2:
        return 55, BONE, 812, 330
    if stage == 3:
        return 66, BONE, 600, 620
    places = {
        "ORDER TODAY": (58, CHARCOAL, 848, 560),
        "49 EUROS": (92, EMBER, 848, 370),
        "EMBERLEAF": (58, BONE, 848, 200),
    }
    return places[text]


def _music(seconds: float) -> Mix:
    """Four warm chords with a slow plucked figure over them; the last second fades."""
    chords = ((110, 165, 220, 277), (92.5, 138.6, 220, 277), (73.4, 147, 220, 294), (82.4, 165, 208, 247))
    figure = (1, 2, 3, 2, 1, 3)
    recording = Mix(seconds)
    each = seconds / len(chords)
    for n, chord in enumerate(chords):
        start = max(0.0, n * each - 0.35)
        recording.add(pad(chord, each + 0.8, attack=0.05 if n == 0 else 0.45, release=0.8), start, 0.6)
        for k, voice in enumerate(figure):
            recording.add(
                pluck(2 * chord[voice], 1.2, half_life=0.3), n * each + k * each / 6, 0.22, pan=0.4 * (-1) ** k
            )
    clock = np.linspace(0, seconds, len(recording.track))
    recording.track *= np.clip((seconds - clock) / 0.9, 0, 1)[:, None]
    return recording


class _Pot:
    """A pot of water over the flame: bubbles rise, more and more of them, and steam follows."""

    def __init__(self) -> None:
        self.body = cut(236, 132, self._body)
        self.bubble, self.steam = disc(9, None, edge=BONE, line=3), disc(15, STEEL)

    @staticmethod
    def _body(pen: ImageDraw.ImageDraw, k: float) -> None:
        pen.rectangle((18 * k, 6 * k, 218 * k, 34 * k), fill=STEEL)
        pen.rounded_rectangle((18 * k, 6 * k, 218 * k, 126 * k), 20 * k, fill=STEEL)
        pen.rectangle((30 * k, 6 * k, 206 * k, 112 * k), fill=blend(CHARCOAL, ink("#4F8FA8"), 0.55))
        pen.rectangle((30 * k, 6 * k, 206 * k, 26 * k), fill=CHARCOAL)
        for x in (0, 218):
            pen.rounded_rectangle((x * k, 30 * k, (x + 18) * k, 48 * k), 6 * k, fill=STEEL)

    def press(self, sheet: Image.Image, x: float, bottom: float, t: float, heat: float, shown: float) -> None:
        """Print with the middle of its bottom at (x, bottom); `heat` 0 to 1 tells how far the water has come."""
        self.body.press(sheet, x, bottom, at="mb", opacity=shown)
        for n in range(14):
            if n / 14 > heat * 1.3:
                continue
            age = (0.9 * t + 0.37 * n) % 1
            aside = 74 * math.sin(2.1 * n) + 4 * math.sin(9 * age)
            self.bubble.press(sheet, x + aside, bottom - 28 - 66 * age, opacity=shown * min(1, 4 * (1 - age)))
        for n in range(7):
            age = (0.45 * t + n / 7) % 1
            strength = shown * smooth(span(heat, 0.3, 0.75)) * 0.75 * math.sin(math.pi * age)
            self.steam.press(
                sheet,
                x + 60 * math.sin(1.9 * n) + 14 * math.sin(5 * age + n),
                bottom - 140 - 120 * age,
                opacity=strength,
            )


class _Balance:
    """A balance that swings and comes to rest level: the folded stove on one side, an apple on the other."""

    def __init__(self) -> None:
        self.stand = cut(220, 350, self._stand)
        self.knob = disc(16, BONE)
        self.stove, self.apple = self._stove(), cut(96, 104, self._apple)

    @staticmethod
    def _stand(pen: ImageDraw.ImageDraw, k: float) -> None:
        pen.rectangle((104 * k, 0, 116 * k, 330 * k), fill=BONE)
        pen.rounded_rectangle((30 * k, 322 * k, 190 * k, 346 * k), 12 * k, fill=BONE)

    @staticmethod
    def _stove() -> Stamp:
        def draw(pen: ImageDraw.ImageDraw, k: float) -> None:
            pen.rounded_rectangle((0, 6 * k, 116 * k, 60 * k), 10 * k, fill=STEEL)
            for x in range(18, 104, 20):
                pen.ellipse((x * k, 26 * k, (x + 11) * k, 37 * k), fill=CHARCOAL)

        return cut(116, 64, draw)

    @staticmethod
    def _apple(pen: ImageDraw.ImageDraw, k: float) -> None:
        red = ink("#B5382B")
        pen.ellipse((4 * k, 24 * k, 58 * k, 102 * k), fill=red)
        pen.ellipse((38 * k, 24 * k, 92 * k, 102 * k), fill=red)
        pen.line((48 * k, 34 * k, 54 * k, 8 * k), fill=BONE, width=round(5 * k))
        pen.ellipse((54 * k, 4 * k, 84 * k, 20 * k), fill=ink("#6E8B4E"))

    def press(self, sheet: Image.Image, x: float, top: float, age: float, shown: float) -> None:
        """Print with the beam's pivot at (x, top), `age` seconds after it was let go."""
        self.stand.press(sheet, x, top, at="mt", opacity=shown)
        lean = 0.16 * math.exp(-1.5 * max(0.0, age)) * math.cos(4.2 * age)
        reach = 250
        strings, beam = Image.new("L", (620 * 2, 330 * 2)), Image.new("L", (620 * 2, 330 * 2))
        thin, pen = ImageDraw.Draw(strings), ImageDraw.Draw(beam)
        ends = [(310 + s * reach * math.cos(lean), 60 + s * reach * math.sin(lean)) for s in (-1, 1)]
        pen.line([(2 * a, 2 * b) for a, b in ends], fill=255, width=20)
        for a, b in ends:
            for side in (-76, 76):
                thin.line((2 * a, 2 * b, 2 * (a + side), 2 * (b + 150)), fill=255, width=6)
            pen.chord((2 * (a - 86), 2 * (b + 118), 2 * (a + 86), 2 * (b + 184)), 0, 180, fill=255)
        left, up = round(x - 310), round(top - 60)
        for colour, layer in ((STEEL, strings), (BONE, beam)):
            mask = layer.reduce(2).point([round(v * shown) for v in range(256)])
            sheet.paste(colour, (left, up, left + mask.width, up + mask.height), mask)
        for stamp, (a, b) in ((self.stove, ends[0]), (self.apple, ends[1])):
            stamp.press(sheet, x - 310 + a, top - 60 + b + 152, at="mb", opacity=shown)
        self.knob.press(sheet, x, top, opacity=shown)


def _ground(width: int, height: int) -> Image.Image:
    """Charcoal with a dim printed glow rising from the lower edge."""
    y, x = np.mgrid[0:height, 0:width]
    weight = 0.34 * np.clip((y - 0.72 * height) / (0.28 * height), 0, 1) ** 1.5 * (1 - 0.35 * np.abs(x / width - 0.5))
    sheet = Image.new("RGB", (width, height), CHARCOAL)
    dots = halftone((width, height), DIM, 14, weight)
    sheet.paste(dots, (0, 0), dots.getchannel("A"))
    return sheet
