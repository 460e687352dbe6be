"""FRACT: a spoken lesson on fractions, each relation drawn with bars of one whole while it is spoken about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from kit import synth
from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.motion import appear, ease_in_out, ease_out, progress
from kit.sheets import Cue
from kit.speech import say

from vector.script import Line, length, line_cues, read_lines
from vector.stage import Box, Stage
from vector.style import Style, rgb

PAPER, ORANGE = rgb("#FBFAF5"), rgb("#F28C28")
WRONG, RIGHT = rgb("#B3261E"), rgb("#1F7A4D")
CALM = 160  # words a minute
FASTEST = 215  # words a minute; a line that does not fit its window at this speed is an error


@dataclass(frozen=True)
class Sentence:
    """A line of the narration and the window, in seconds, it has to fit."""

    start: float
    end: float
    text: str


NARRATION = (
    Sentence(0.25, 4.95, "One half equals two quarters: there are more parts, but the amount is the same."),
    Sentence(5.25, 9.95, "Parts of one size are simply counted: one quarter plus two quarters makes three quarters."),
    Sentence(10.15, 12.4, "Two sixths is less than one half."),
    Sentence(12.5, 14.95, "The right sum is three quarters."),
    Sentence(15.2, 17.7, "Make the parts the same, then add."),
)


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt; its strings come from the prompt's table, its mathematics from the note.

    Raises ValueError if a sum the prompt shows is not in the note, or a sentence does not fit its stage.
    """
    check_against_note(read_lines(brief), (brief.inputs / "note.md").read_text(encoding="utf-8"))
    stage = Stage(brief.width, brief.height)
    lines = read_lines(brief)
    w, h, end = float(brief.width), float(brief.height), length(lines)
    layout = {line: place(stage, line, lines) for line in lines}
    pictures = (equal, adding, mistake)
    starts = sorted({line.start for line in lines if line.stage in (1, 2, 3)})[:3]
    stops = [*starts[1:], max(line.end for line in lines if line.stage == 3)]

    def draw(t: float) -> Frame:
        stage.canvas.clear(PAPER)
        stage.panel((0, 0, w, 0.016 * h), 0, style.second)
        for line in lines:
            x, y, size, colour = layout[line]
            alpha = line.alpha(t, end)
            stage.text(line.text, x, y, size, colour if colour is not None else style.ink, alpha=alpha)
            if line.stage == 4:
                underline(stage, line, size, t, style)
        for picture, start, stop in zip(pictures, starts, stops, strict=True):
            shown = appear(t, start, stop, 0.25)
            if shown > 0 and start <= t < stop:
                picture(stage, t - start, shown, style)
        return stage.pixels

    sound, spoken = narrate(brief.tmp / "speech", end)
    script = brief.tmp / "narration.txt"
    script.write_text("\n".join(f"{s.start:.2f} s  {s.text}" for s in NARRATION) + "\n", encoding="utf-8")
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=sound.render(),
        cues=[*spoken, *line_cues(lines)],
        made=[
            "Drawn with Skia; all bars of a stage are the same whole.",
            "The narration is spoken by the tts program from project/narration.txt; "
            f"it sounds for {sum(cue.end - cue.start for cue in spoken):.1f} of {end:g} s.",
        ],
        pixels="bgra",
        keep=[script],
    )


def check_against_note(lines: list[Line], note: str) -> None:
    """Raise ValueError if a relation that is shown as right does not stand in the note."""
    flat = " ".join(note.split()).replace("1/2 + 1/4 = 2/4 + 1/4 = 3/4", "1/2 + 1/4 = 3/4")
    for line in lines:
        relation = line.text.removesuffix(" RIGHT").removesuffix(" WRONG")
        if "=" in relation and relation not in flat:
            raise ValueError(f"note.md does not say {relation}")


def narrate(folder: Path, end: float) -> tuple[synth.Mix, list[Cue]]:
    """The narration of `end` seconds and its cues; a sentence too long for its window is spoken again, faster."""
    sound, cues = synth.Mix(end), []
    for sentence in NARRATION:
        window, speed = sentence.end - sentence.start, CALM
        voice = say(sentence.text, folder, words_per_minute=speed)
        while voice.size / synth.RATE > window:
            speed = max(speed + 5, math.ceil(speed * voice.size / synth.RATE / window))
            if speed > FASTEST:
                raise ValueError(f"does not fit {window:.2f} s: {sentence.text}")
            voice = say(sentence.text, folder, words_per_minute=speed)
        sound.add(voice, sentence.start)
        cues.append(Cue(sentence.start, sentence.start + voice.size / synth.RATE, sentence.text, "narration"))
    return sound, cues


def place(stage: Stage, line: Line, lines: list[Line]) -> tuple[float, float, float, int | None]:
    """Centre, baseline and font size in pixels of a string, and its colour (None: ink)."""
    w, h = stage.width, stage.height
    if line.stage == 4:
        return w / 2, 0.53 * h, stage.em(0.098), None
    if line.text[0].isalpha():
        return w / 2, 0.15 * h, stage.em(0.078), None
    if line.stage in (1, 2):
        return w / 2, 0.34 * h, stage.em(0.105), None
    wrong = line.text.endswith("WRONG")
    return w / 2, (0.3 if wrong else 0.76) * h, stage.em(0.072), WRONG if wrong else RIGHT


def bar(stage: Stage, box: Box, parts: int, filled: list[float], style: Style, alpha: float) -> None:
    """A bar cut into `parts`; `filled[k]` is the share of part k that is coloured, 0 to 1."""
    x, y, w, h = box
    each = w / parts
    stage.panel(box, 0, style.bright, alpha=alpha)
    for k, share in enumerate(filled):
        stage.panel((x + k * each, y, each * share, h), 0, ORANGE, alpha=alpha)
    for k in range(1, parts):
        stage.line((x + k * each, y), (x + k * each, y + h), style.ink, 4, alpha=alpha)
    stage.panel(box, 0, style.ink, alpha=alpha, stroke=5)


def equal(stage: Stage, t: float, alpha: float, style: Style) -> None:
    """1/2 above 2/4, and a dashed line down the common end of the coloured lengths."""
    w, h = stage.width, stage.height
    x, wide, tall = 0.14 * w, 0.72 * w, 0.17 * h
    fill = ease_in_out(progress(t, 0.3, 1.2))
    bar(stage, (x, 0.43 * h, wide, tall), 2, [fill], style, alpha)
    second = ease_in_out(progress(t, 1.3, 2.3)) * 2
    bar(stage, (x, 0.7 * h, wide, tall), 4, [min(1.0, second), max(0.0, second - 1)], style, alpha)
    drop = ease_out(progress(t, 2.4, 3.0))
    for k in range(16):
        y = 0.405 * h + k * 0.032 * h
        if k / 16 < drop:
            stage.line((x + wide / 2, y), (x + wide / 2, y + 0.014 * h), style.third, 8, alpha=alpha)


def adding(stage: Stage, t: float, alpha: float, style: Style) -> None:
    """One bar of four parts: first one part, then two more."""
    w, h = stage.width, stage.height
    grown = [ease_in_out(progress(t, a, a + 0.6)) for a in (0.3, 2.2, 2.9)]
    box = (0.14 * w, 0.5 * h, 0.72 * w, 0.27 * h)
    bar(stage, box, 4, grown, style, alpha)
    each = box[2] / 4
    for first, last, begin in ((0, 1, 0.9), (1, 3, 3.5)):
        shown = ease_out(progress(t, begin, begin + 0.4)) * alpha
        brace(
            stage,
            (box[0] + first * each + 10, box[0] + last * each - 10),
            box[1] + box[3] + 0.03 * h,
            style.second,
            shown,
        )


def brace(stage: Stage, span: tuple[float, float], y: float, colour: int, alpha: float) -> None:
    """A bracket below `span` that opens upwards."""
    a, b = span
    drop = 0.04 * stage.height
    stage.shape([(a, y), (a, y + drop), (b, y + drop), (b, y)], colour, alpha=alpha, stroke=7)


def mistake(stage: Stage, t: float, alpha: float, style: Style) -> None:
    """2/6 beside 1/2 of the same whole, then 3/4."""
    w, h = stage.width, stage.height
    x, wide, tall = 0.27 * w, 0.62 * w, 0.115 * h
    rows: list[tuple[float, int, int, float, str]] = [
        (0.36, 6, 2, 0.1, "2/6"),
        (0.5, 2, 1, 0.5, "1/2"),
        (0.82, 4, 3, 2.1, "3/4"),
    ]
    for top, parts, taken, begin, label in rows:
        shown = ease_out(progress(t, begin, begin + 0.3)) * alpha
        fill = ease_in_out(progress(t, begin, begin + 0.6)) * taken
        filled = [min(1.0, max(0.0, fill - k)) for k in range(taken)]
        if shown > 0:
            bar(stage, (x, top * h, wide, tall), parts, filled, style, shown)
            stage.text(label, 0.18 * w, top * h + tall / 2 + 0.036 * h, stage.em(0.072), style.ink, alpha=shown)
    gap = ease_out(progress(t, 1.1, 1.4)) * alpha
    for k in range(8):
        y = (0.365 + 0.032 * k) * h
        stage.line((x + wide / 2, y), (x + wide / 2, y + 0.012 * h), WRONG, 6, alpha=gap)


def underline(stage: Stage, line: Line, size: float, t: float, style: Style) -> None:
    """A stroke that is drawn under the sentence to remember."""
    drawn = ease_in_out(progress(t, line.start + 0.4, line.start + 1.2))
    half = stage.measure(line.text, size) / 2
    if drawn > 0:
        x, y = stage.width / 2 - half, 0.6 * stage.height
        stage.line((x, y), (x + 2 * half * drawn, y), ORANGE, 14)
