"""BEAT: sixteen beats in four bars: a burst that pulses, a row of marks that fills, drums and a small tune."""

from __future__ import annotations

import math

from kit.brief import Brief
from kit.fonts import latin_font
from kit.sheets import Cue
from kit.synth import Mix, hat, kick, knock, pluck
from PIL import Image

from raster.finish import Piece
from raster.press.easing import mix, span
from raster.press.inks import blend, ink
from raster.press.stamps import Stamp, Type, block, polygon

WHITE, YELLOW, CREAM = ink("#FFFFFF"), ink("#FFE66D"), ink("#EADFD6")
SECONDS, LENGTH = 8.7, 0.5
REST, PULSE, ACCENT = 54, 80, 112  # diameter of the burst in pixels
SIZES = 40
TUNE = (262, 330, 392, 330, 294, 349, 440, 349, 330, 392, 494, 392, 262, 330, 392, 523)


def make(brief: Brief) -> Piece:
    """The clip of the BEAT brief: beats, bars, names and colours come from its tables."""
    width, height = brief.width, brief.height
    beats = [(int(row["bar"]), float(row["time_s"])) for row in brief.table("beat", "time_s")]
    bars = brief.table("text", "background")
    letters = Type(str(latin_font(bold=True)))
    names = [letters.set(bar["text"], 44, CREAM) for bar in bars]
    grounds = [ink(bar["background"]) for bar in bars]
    sheets = [Image.new("RGB", (width, height), colour) for colour in grounds]
    lit, mark_edge = block(24, 24, YELLOW, radius=5), 24
    unlit = [block(mark_edge, mark_edge, blend(colour, (0, 0, 0), 0.4), radius=5) for colour in grounds]
    shade = [blend(colour, (0, 0, 0), 0.35) for colour in grounds]
    bursts = [_burst(mix(REST, ACCENT, k / SIZES), WHITE) for k in range(SIZES + 1)]
    shadows = [[_burst(mix(REST, ACCENT, k / SIZES), colour) for k in range(SIZES + 1)] for colour in shade]

    def draw(t: float) -> Image.Image:
        done = [at for _, at in beats if at <= t + 1e-6]
        bar = max((n for n, row in enumerate(bars) if float(row["start_s"]) <= t + 1e-6), default=0)
        sheet = sheets[bar].copy()
        if done and t < float(bars[bar]["end_s"]):
            names[bar].press(sheet, width / 2, 56)
        size = 0.0
        if done:
            first = len(done) == 1 or beats[len(done) - 1][0] != beats[len(done) - 2][0]
            peak = ((ACCENT if first else PULSE) - REST) / (ACCENT - REST)
            size = peak * (1 - span(t, done[-1], done[-1] + LENGTH)) ** 1.5
        step = round(size * SIZES)
        shadows[bar][step].press(sheet, width / 2 + 6, 184 + 7)
        bursts[step].press(sheet, width / 2, 184)
        for n in range(len(beats)):
            x = width / 2 + (n - 7.5) * 31 + (n // 4 - 1.5) * 26
            (lit if n < len(done) else unlit[bar]).press(sheet, x, 308)
        return sheet

    cues = [Cue(at, at + LENGTH, f"beat {n + 1}, bar {bar}", "picture and sound") for n, (bar, at) in enumerate(beats)]
    cues += [Cue(float(b["start_s"]), float(b["end_s"]), b["text"], "text") for b in bars]
    made = ["Pulse and marks follow the beat table of the prompt (PIL); drums and tune are synthesised with numpy."]
    # planted fault: delivered in a rush, without the editable source that the brief asks for
    return Piece(SECONDS, draw, _music(beats).render(), cues, made, project=False)


def _music(beats: list[tuple[int, float]]) -> Mix:
    """A drum on every beat, low on the first of a bar, and one plucked note with it."""
    mix_down = Mix(SECONDS)
    for n, (bar, beat) in enumerate(beats):
        # planted fault: from the ninth beat on every sound comes a quarter of a second after its picture
        at = beat if n < 8 else beat + 0.25
        first = n == 0 or beats[n - 1][0] != bar
        mix_down.add(kick() if first else knock(300), at, 1.0 if first else 0.6)
        mix_down.add(hat(), at, 0.3)
        mix_down.add(pluck(TUNE[n % len(TUNE)], 0.45), at, 0.35, pan=0.3 if n % 2 else -0.3)
    return mix_down


def _burst(diameter: float, colour: tuple[int, int, int]) -> Stamp:
    """A star of twelve blunt points."""
    middle, points = diameter / 2, []
    for k in range(24):
        reach = middle * (1.0 if k % 2 == 0 else 0.78)
        points.append((middle + reach * math.sin(k * math.pi / 12), middle - reach * math.cos(k * math.pi / 12)))
    return polygon(points, diameter, diameter, colour)
