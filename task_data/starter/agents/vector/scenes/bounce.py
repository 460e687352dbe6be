"""BOUNCE: two paddles, one ball, a score, every event at its instant."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from kit import synth
from kit.brief import Brief
from kit.deliver import Film, Frame
from kit.motion import ease_in_out, mix, overshoot, progress
from kit.sheets import Cue

from vector.script import length, line_cues, reached, read_lines
from vector.stage import Point, Stage
from vector.style import Style, rgb

COURT, LEFT, RIGHT, BALL = rgb("#0E3B2E"), rgb("#4DA3FF"), rgb("#FF5A5F"), rgb("#FFD400")
MARGIN, PADDLE_W, PADDLE_H, RADIUS = 8.0, 16.0, 78.0, 13.0
DRIFT = 80.0  # the ball's vertical speed, pixels a second, up or down
# Height of each paddle's centre, as offset from the middle, at given instants; it eases from one to the next.
LEFT_PATH = [(0.0, 0), (0.7, 40), (1.7, 0), (2.7, 40), (3.7, 15), (5.2, 0), (5.9, -5), (6.6, -58)]
RIGHT_PATH = [(0.0, 0), (0.7, 0), (1.7, -40), (2.7, 0), (3.6, 76), (4.7, 0), (5.2, -15), (5.7, -40), (6.7, -20)]


def make(brief: Brief, style: Style) -> Film:
    """The film of the prompt: the ball's path is laid through the instants of the prompt's table of events."""
    stage = Stage(brief.width, brief.height)
    lines = read_lines(brief)
    events = brief.table("event", "time_s", "sound")
    w, h = float(brief.width), float(brief.height)
    final = next(line for line in lines if line.text.startswith("DRAW"))
    legs = ball_legs(events, w, h)
    end = length(lines)

    def court(s: Stage) -> None:
        s.canvas.clear(COURT)
        mark = style.bright
        s.panel((3, 3, w - 6, h - 6), 8, mark, alpha=0.22, stroke=2)
        s.line((20, h / 5), (w - 20, h / 5), mark, 2, alpha=0.22)
        for k in range(9):
            s.line((w / 2, h / 5 + 20 + 31 * k), (w / 2, h / 5 + 32 + 31 * k), mark, 3, alpha=0.25)
        s.disc((w / 2, h / 2), 44, mark, alpha=0.18, stroke=2)

    ground = stage.still(court)

    def draw(t: float) -> Frame:
        stage.lay(ground)
        for line in lines:
            if line.on(t) and line is not final:
                colour = LEFT if line.text.startswith("LEFT") else RIGHT
                x = w * (0.25 if line.text.startswith("LEFT") else 0.75)
                stage.text(line.text, x, 0.155 * h, stage.em(0.095), colour)
        for back in (4, 3, 2, 1):
            ghost = ball_at(legs, t - back / 45)
            if ghost is not None and moving(legs, t):
                stage.disc(ghost, RADIUS * (1 - 0.12 * back), BALL, alpha=0.22 - 0.04 * back)
        paddle(stage, MARGIN, h / 2 + along(LEFT_PATH, t), LEFT)
        paddle(stage, w - MARGIN - PADDLE_W, h / 2 + along(RIGHT_PATH, t), RIGHT)
        ball = ball_at(legs, t)
        if ball is not None:
            born = next((start for start, _, a, b in legs if a == b and start <= t + 1e-6), 0.0)
            stage.disc(ball, RADIUS * (overshoot(progress(t, born, born + 0.15)) if 0 < t - born < 0.15 else 1.0), BALL)
        if final.on(t):
            stage.panel((w / 2 - 245, h / 2 - 46, 490, 92), 14, COURT, alpha=1.0)
            stage.panel((w / 2 - 245, h / 2 - 46, 490, 92), 14, style.bright, alpha=0.8, stroke=3)
            stage.text(final.text, w / 2, h / 2 + 0.065 * h, stage.em(0.13), style.bright)
        return stage.pixels

    mix_down = synth.Mix(end)
    for event in events:
        at = float(event["time_s"])
        if event["sound"] == "hit":
            mix_down.add(
                synth.tone(720, 0.11, attack=0.001, release=0.06), at, 0.9, -0.4 if "left" in event["event"] else 0.4
            )
        elif event["sound"] == "point":
            fall = np.concatenate([synth.tone(f, 0.14, attack=0.002, release=0.03) for f in (523.25, 392.0, 293.66)])
            mix_down.add(fall, at)
    return Film(
        frames=brief.frames(end),
        draw=draw,
        sound=mix_down.render(),
        cues=[
            *(Cue(float(e["time_s"]), float(e["time_s"]), e["event"], e["sound"] or "picture") for e in events),
            *line_cues(lines),
        ],
        made=[
            "The ball's path is computed from the prompt's table of events.",
            "Blips and point sounds are synthesised.",
        ],
        pixels="bgra",
    )


Leg = tuple[float, float, Point, Point]  # start and end in seconds, where from, where to


def ball_legs(events: list[dict[str, str]], w: float, h: float) -> list[Leg]:
    """The straight legs of the ball: rests in the centre, and flights from event to event.

    A flight that ends in a point goes on past the paddle's line, at the same speed, until the ball is out of sight.
    """
    centre, near, far = (w / 2, h / 2), MARGIN + PADDLE_W + RADIUS, w - MARGIN - PADDLE_W - RADIUS
    speed = far - near  # pixels a second: exactly one second from paddle to paddle
    legs: list[Leg] = []
    place, down, rest = centre, 1.0, 0.0
    for event, following in zip(events, [*events[1:], None], strict=True):
        at = float(event["time_s"])
        if event["event"].startswith("serve"):
            legs.append((rest, at, centre, centre))
            place, down = centre, 1.0 if "left" in event["event"] else -1.0
        if event["sound"] == "point":
            rest = at + 0.35
            continue
        if following is None:
            continue
        until = float(following["time_s"])
        side = -1.0 if place[0] > w / 2 or (place == centre and "left" in event["event"]) else 1.0
        target = (near if side < 0 else far, place[1] + down * DRIFT * (until - at))
        if following["sound"] == "point":
            more = (MARGIN + PADDLE_W + 2 * RADIUS + 2) / speed
            beyond = (target[0] + side * more * speed, target[1] + down * more * DRIFT)
            legs.append((at, until + more, place, beyond))
        else:
            legs.append((at, until, place, target))
        place, down = target, -down
    return legs


def ball_at(legs: list[Leg], t: float) -> Point | None:
    """Where the ball's centre is at `t`; None while it is out of the picture."""
    for start, end, a, b in legs:
        if reached(t, start) and t < end:
            p = progress(t, start, end)
            return mix(a[0], b[0], p), mix(a[1], b[1], p)
    return None


def moving(legs: list[Leg], t: float) -> bool:
    """Is the ball in flight at `t`."""
    return any(start <= t < end and a != b for start, end, a, b in legs)


def along(path: list[tuple[float, int]], t: float) -> float:
    """Value at `t` of a path of (instant, value), eased between them and held at its ends."""
    for (t0, v0), (t1, v1) in pairwise(path):
        if t < t1:
            return mix(v0, v1, ease_in_out(progress(t, t0, t1)))
    return float(path[-1][1])


def paddle(stage: Stage, x: float, middle: float, colour: int) -> None:
    """A paddle whose centre is `middle` pixels from the top."""
    stage.panel((x, middle - PADDLE_H / 2, PADDLE_W, PADDLE_H), 6, colour)
