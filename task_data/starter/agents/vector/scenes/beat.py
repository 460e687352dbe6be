"""BEAT: sixteen beats in four bars, seen and heard on the same instants."""

from __future__ import annotations

from kit import synth
from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.motion import mix
from kit.sheets import Cue

from vector.script import length, line_cues, reached, read_lines
from vector.stage import Stage
from vector.style import Style, blend, rgb

YELLOW, WHITE = rgb("#FFE66D"), rgb("#FFFFFF")
REST, PULSE, ACCENT = 30.0, 58.0, 78.0  # radii of the white shape in pixels at a height of 360
# One chord a bar (C, A minor, F, G) and the note of the melody on each of its beats, in Hz.
CHORDS = [(130.81, 164.81, 196.0), (110.0, 130.81, 164.81), (87.31, 130.81, 174.61), (98.0, 123.47, 196.0)]
MELODY = [(523.25, 659.25, 783.99, 659.25), (440.0, 523.25, 659.25, 523.25), (349.23, 523.25, 698.46, 523.25)]
MELODY += [(392.0, 493.88, 587.33, 783.99)]


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt; beats, bars and colours come from its tables."""
    stage = Stage(brief.width, brief.height)
    lines = read_lines(brief)
    grounds = [rgb(row["background"]) for row in brief.table("text", "background")]
    rows = brief.table("beat", "bar", "time_s")
    beats = [(float(row["time_s"]), int(row["bar"])) for row in rows]
    w, h = float(brief.width), float(brief.height)
    scale, end = h / 360, length(lines)
    lettering = blend(style.bright, style.paper, 0.5) & 0xFFF4F0E8
    spacing, gap = 32 * scale, 22 * scale
    left = w / 2 - (15 * spacing + 3 * gap) / 2

    def draw(t: float) -> Frame:
        begun = [(at, bar) for at, bar in beats if reached(t, at)]
        bar = begun[-1][1] if begun else 1
        stage.canvas.clear(grounds[bar - 1])
        for k, (at, group) in enumerate(beats):
            place = (left + spacing * k + gap * (group - 1), 0.865 * h)
            lit = reached(t, at)
            stage.disc(place, 11.5 * scale, YELLOW if lit else style.bright, alpha=1.0 if lit else 0.2)
        radius = REST
        if begun:
            at = begun[-1][0]
            peak = ACCENT if is_accent(beats, len(begun) - 1) else PULSE
            radius = mix(REST, peak, (1 - min(1.0, (t - at) / 0.5)) ** 2)
        stage.disc((w / 2, 0.52 * h), radius * scale, WHITE)
        for line in lines:
            if line.on(t):
                stage.text(line.text, w / 2, 0.205 * h, stage.em(0.115), lettering)
        return stage.pixels

    cues = [Cue(at, at, f"beat {k + 1}, bar {bar}", "music, pulse, mark") for k, (at, bar) in enumerate(beats)]
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=music(beats, end).render(),
        cues=[*cues, *line_cues(lines)],
        made=[
            "Pulse, marks and attacks are placed from one table of beats, the prompt's.",
            "The music is synthesised.",
        ],
        pixels="bgra",
    )


def is_accent(beats: list[tuple[float, int]], k: int) -> bool:
    """Is beat `k` (from 0) the first of its bar."""
    return k == 0 or beats[k - 1][1] != beats[k][1]


def music(beats: list[tuple[float, int]], end: float) -> synth.Mix:
    """Drums on every beat, accented on the first of a bar, with a plucked melody and a soft chord below."""
    song = synth.Mix(end)
    for k, (at, bar) in enumerate(beats):
        first = is_accent(beats, k)
        song.add(synth.kick(), at, 1.0 if first else 0.6)
        song.add(synth.knock(160 if first else 320), at, 0.7 if first else 0.4)
        song.add(synth.hat(), at, 0.35)
        position = sum(1 for _, other in beats[:k] if other == bar)
        song.add(synth.pluck(MELODY[bar - 1][position], 0.48), at, 0.32, 0.3)
        if first:
            song.add(synth.pad(CHORDS[bar - 1], 2.0, attack=0.02, release=0.25), at, 0.16)
    song.duck(end, end + 1.0, 0.0, ramp=0.2)
    return song
