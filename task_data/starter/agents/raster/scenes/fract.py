"""FRACT: equal fractions, adding and a common mistake, on bars that are coloured part by part."""

from __future__ import annotations

from kit.brief import Brief
from kit.fonts import latin_font
from kit.sheets import Cue
from kit.speech import say
from kit.synth import RATE, Mix
from PIL import Image, ImageDraw

from raster.finish import Piece
from raster.press.easing import mix, out, overshoot, smooth, span
from raster.press.inks import Ink, blend, ink
from raster.press.stamps import Stamp, Type, cut

PAPER, INK, ORANGE = ink("#FBFAF5"), ink("#28304A"), ink("#F28C28")
GREEN, RED, PALE = ink("#2E8B57"), ink("#C0392B"), ink("#E4E1D6")
WHOLE, THICK, LEFT = 960, 92, 160
TITLE, TITLE_AT = 58, 84

# planted fault: lines were written for the first two stages only, so the voice covers well under half of the video
LINES = (
    (0.5, "Cut each half in two: one half equals two quarters."),
    (5.5, "One quarter and two quarters make three quarters."),
)


def make(brief: Brief) -> Piece:
    """The lesson of the FRACT brief: strings and their times come from its table."""
    width, height = brief.width, brief.height
    strings = [(float(r["start_s"]), float(r["end_s"]), r["text"]) for r in brief.table("stage", "text")]
    seconds = max(end for _, end, _ in strings)
    letters = Type(str(latin_font(bold=True)))
    paper = _paper(width, height)
    part = {count: _part(WHOLE / count, False) for count in (2, 4, 6)}
    full = {count: _part(WHOLE / count, True) for count in (2, 4, 6)}
    cross, tick = _cross(), _tick()

    def bar(sheet: Image.Image, y: float, count: int, filled: list[float], shown: float) -> None:
        """A whole cut into `count` parts; `filled` gives how far each of the first parts is coloured."""
        step = WHOLE / count
        for n in range(count):
            x = LEFT + step * (n + 0.5)
            part[count].press(sheet, x, y, opacity=shown)
            if n < len(filled) and filled[n] > 0:
                full[count].press(sheet, x, y, opacity=shown * filled[n])

    def coloured(t: float, *instants: float) -> list[float]:
        return [smooth(span(t, at, at + 0.4)) for at in instants]

    def text(sheet: Image.Image, which: str, t: float, x: float, y: float, size: float, colour: Ink) -> None:
        start, end, _ = next(row for row in strings if row[2] == which)
        shown = _shown(t, start, end, seconds)
        letters.set(which, size, colour).press(sheet, x, y + 16 * (1 - out(span(t, start, start + 0.4))), opacity=shown)

    def equal(sheet: Image.Image, t: float) -> None:
        shown = _shown(t, 0.0, 5.0, seconds)
        bar(sheet, 250, 2, coloured(t, 0.9), shown)
        bar(sheet, 392, 4, coloured(t, 1.9, 2.3), shown)
        _drop_line(sheet, LEFT + WHOLE / 2, 180, mix(180, 462, smooth(span(t, 2.9, 3.5))), blend(PAPER, INK, shown))
        text(sheet, "1/2 = 2/4", t, width / 2, 580, 84, INK)

    def adding(sheet: Image.Image, t: float) -> None:
        bar(sheet, 300, 4, coloured(t, 5.6, 6.9, 7.5), _shown(t, 5.0, 10.0, seconds))
        text(sheet, "1/4 + 2/4 = 3/4", t, width / 2, 540, 84, INK)

    def mistake(sheet: Image.Image, t: float) -> None:
        shown = _shown(t, 10.0, 15.0, seconds)
        bar(sheet, 216, 6, coloured(t, 10.4, 10.6), shown)
        bar(sheet, 330, 2, coloured(t, 11.0), shown)
        _drop_line(sheet, LEFT + WHOLE / 3, 158, mix(158, 390, smooth(span(t, 11.3, 11.7))), blend(PAPER, INK, shown))
        text(sheet, "1/2 + 1/4 = 2/6 WRONG", t, width / 2 + 30, 480, 54, RED)
        text(sheet, "1/2 + 1/4 = 3/4 RIGHT", t, width / 2 + 30, 610, 54, GREEN)
        for stamp, start, y in ((cross, 10.5, 480), (tick, 12.1, 610)):
            grown = overshoot(span(t, start, start + 0.35))
            if grown > 0.05:
                (stamp if abs(grown - 1) < 1e-3 else stamp.scaled(grown)).press(sheet, 126, y, opacity=shown)

    def remember(sheet: Image.Image, t: float) -> None:
        text(sheet, "SAME PARTS FIRST", t, width / 2, height / 2 - 10, 66, INK)
        reach = 440 * out(span(t, 15.3, 16.0))
        if reach > 1:
            ImageDraw.Draw(sheet).rectangle((640 - reach, 430, 640 + reach, 441), fill=ORANGE)

    stages = ((0.0, equal, "EQUAL FRACTIONS"), (5.0, adding, "ADDING FRACTIONS"), (10.0, mistake, "COMMON MISTAKE"))

    def draw(t: float) -> Image.Image:
        sheet = paper.copy()
        if t >= 15.0 - 1e-6:
            remember(sheet, t)
            return sheet
        _, stage, title = max((row for row in stages if row[0] <= t + 1e-6), key=lambda row: row[0])
        text(sheet, title, t, width / 2, TITLE_AT, TITLE, INK)
        stage(sheet, t)
        return sheet

    sound, spoken = Mix(seconds), []
    for start, line in LINES:
        voice = say(line, brief.tmp / "voice", voice="en", words_per_minute=150)
        sound.add(voice, start, 0.9)
        spoken.append(Cue(start, start + len(voice) / RATE, line, "narration"))
    script = brief.tmp / "narration.txt"
    script.write_text("\n".join(line for _, line in LINES) + "\n", encoding="utf-8")
    cues = [*spoken, *(Cue(start, end, string, "text") for start, end, string in strings)]
    made = ["Bars are one whole, 960 pixels, cut into equal parts (PIL); the voice is espeak-ng through `tts`."]
    return Piece(seconds, draw, sound.render(), cues, made, keep=[script])


def _shown(t: float, start: float, end: float, seconds: float) -> float:
    """Opacity of something of a stage: the last stage's stays to the end."""
    shown = smooth(span(t, start, start + 0.35))
    return shown if end >= seconds else min(shown, smooth(span(t, end, end - 0.25)))


def _part(wide: float, coloured: bool) -> Stamp:
    def draw(pen: ImageDraw.ImageDraw, k: float) -> None:
        box = (0, 0, wide * k, THICK * k)
        pen.rectangle(box, fill=ORANGE if coloured else PALE, outline=INK, width=round(4 * k))

    return cut(wide, THICK, draw)


def _cross() -> Stamp:
    def draw(pen: ImageDraw.ImageDraw, k: float) -> None:
        for a, b in (((8, 8), (56, 56)), ((8, 56), (56, 8))):
            pen.line((a[0] * k, a[1] * k, b[0] * k, b[1] * k), fill=RED, width=round(12 * k))

    return cut(64, 64, draw)


def _tick() -> Stamp:
    points = (6, 34, 26, 54, 60, 10)
    return cut(64, 64, lambda pen, k: pen.line([v * k for v in points], fill=GREEN, width=round(12 * k), joint="curve"))


def _drop_line(sheet: Image.Image, x: float, top: float, bottom: float, colour: Ink) -> None:
    """A dashed plumb line that shows equal or unequal lengths."""
    pen = ImageDraw.Draw(sheet)
    y = top
    while y < bottom - 1:
        pen.rectangle((x - 2, y, x + 2, min(y + 14, bottom)), fill=colour)
        y += 24


def _paper(width: int, height: int) -> Image.Image:
    """Near-white paper with a margin line, as in an exercise book."""
    sheet = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((60, 0, 62, height), fill=blend(PAPER, RED, 0.25))
    return sheet
