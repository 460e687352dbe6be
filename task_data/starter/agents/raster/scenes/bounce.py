"""BOUNCE: two rallies of a two-paddle ball game, on a court of cut paper."""

from __future__ import annotations

from kit.brief import Brief
from kit.fonts import latin_font
from kit.sheets import Cue
from PIL import Image, ImageDraw

from raster.finish import Piece
from raster.press.easing import mix, smooth, span
from raster.press.inks import blend, ink
from raster.press.stamps import Type, block, disc

COURT, BLUE, RED, YELLOW, CHALK = ink("#0E3B2E"), ink("#4DA3FF"), ink("#FF5A5F"), ink("#FFD400"), ink("#F2F5EC")
SHADE = blend(COURT, (0, 0, 0), 0.45)
RADIUS, PADDLE = 12, (15, 84)
BACK_IN_MIDDLE, HALT = 4.0, 6.95

# Where the ball is at each event of the brief, as shares of the height; at a miss the paddle stands clear of it.
HEIGHTS = (0.50, 0.72, 0.36, 0.58, 0.80, 0.50, 0.40, 0.76)
MISSED_BY = 0.38


def make(brief: Brief) -> Piece:
    """The game of the BOUNCE brief: events, instants and scores come from its tables."""
    width, height = brief.width, brief.height
    events = [(row["event"], float(row["time_s"])) for row in brief.table("event", "time_s")]
    lines = {"left": 0.075 * width + RADIUS, "right": 0.925 * width - RADIUS}
    path = [(at, _place(what, lines, width), HEIGHTS[k] * height) for k, (what, at) in enumerate(events)]
    speed = lines["right"] - lines["left"]
    shown = [(float(r["start_s"]), float(r["end_s"]), r["text"]) for r in brief.table("stage", "text")]
    letters = Type(str(latin_font(bold=True)))
    ball, ball_shade = disc(RADIUS, YELLOW), disc(RADIUS, SHADE)
    bats = {"left": block(*PADDLE, BLUE, radius=4), "right": block(*PADDLE, RED, radius=4)}
    bat_shade = block(*PADDLE, SHADE, radius=4)
    court = _court(width, height)
    bare_middle = block(480, 76, COURT)

    def flight(t: float) -> tuple[float, float] | None:
        """Where the ball is, None when it is out of the picture."""
        if t >= path[-1][0]:
            return _beyond(path[-2], path[-1], speed, t, width)
        k = max((n for n, (at, _, _) in enumerate(path) if at <= t), default=-1)
        if k < 0:
            return path[0][1:]
        here, there = path[k], path[k + 1]
        if "serve" in events[k + 1][0]:
            gone = _beyond(path[k - 1], here, speed, t, width)
            return gone or (there[1:] if t >= BACK_IN_MIDDLE else None)
        share = span(t, here[0], there[0])
        return mix(here[1], there[1], share), mix(here[2], there[2], share)

    tracks = {side: _track(side, events, path, height) for side in bats}

    def draw(t: float) -> Image.Image:
        sheet = court.copy()
        for side, x in (("left", 0.075 * width - PADDLE[0] / 2), ("right", 0.925 * width + PADDLE[0] / 2)):
            y = _along(tracks[side], min(t, HALT))
            bat_shade.press(sheet, x + 4, y + 5)
            bats[side].press(sheet, x, y)
        for start, end, text in shown:
            if start <= t + 1e-6 and (t < end - 1e-6 or end >= shown[-1][1]):
                if text.startswith(("LEFT", "RIGHT")):
                    left = text.startswith("LEFT")
                    letters.set(text, 31, BLUE if left else RED).press(sheet, width * (0.27 if left else 0.73), 40)
                else:
                    bare_middle.press(sheet, width / 2, height / 2)
                    letters.set(text, 46, CHALK).press(sheet, width / 2, height / 2)
        spot = flight(t)
        if spot is not None:
            for k in range(4, 0, -1):
                before = flight(t - 0.03 * k)
                if before is not None and before != spot:
                    ball.press(sheet, *before, opacity=0.22 - 0.045 * k)
            ball_shade.press(sheet, spot[0] + 3, spot[1] + 4)
            ball.press(sheet, *spot)
        return sheet

    cues = [Cue(at, at, what, "event") for what, at in events] + [Cue(s, e, text, "text") for s, e, text in shown]
    made = ["The game's events are read from the prompt and the ball is put between them in straight lines (PIL)."]
    # planted fault: the effects that the brief requires are left out; the file has no sound track at all
    return Piece(shown[-1][1], draw, None, cues, made)


def _place(event: str, lines: dict[str, float], width: int) -> float:
    """Across: where the ball is at an event."""
    if event.startswith("serve"):
        return width / 2
    return lines["left"] if event.startswith("left") or "at the left" in event else lines["right"]


Spot = tuple[float, float, float]


def _beyond(last: Spot, line: Spot, speed: float, t: float, width: int) -> tuple[float, float] | None:
    """A ball that passed the paddle's line flies straight on until it has left the picture."""
    age, way = t - line[0], 1 if line[1] > width / 2 else -1
    x = line[1] + way * speed * age
    if not -RADIUS < x < width + RADIUS:
        return None
    return x, line[2] + (line[2] - last[2]) / (line[0] - last[0]) * age


def _track(side: str, events: list[tuple[str, float]], path: list[Spot], height: int) -> list[tuple[float, float]]:
    """Instants and heights of one paddle: at the ball when it hits, well clear when it misses."""
    track = [(0.0, height / 2)]
    for (what, at), (_, _, y) in zip(events, path, strict=True):
        if what.startswith(side):
            track.append((at, y))
        elif f"at the {side}" in what:
            track.append((at, y - MISSED_BY * height))
    return track


def _along(track: list[tuple[float, float]], t: float) -> float:
    """The paddle starts for its next place 0.7 s before it is needed, and waits there."""
    y = track[0][1]
    for at, there in track[1:]:
        y = mix(y, there, smooth(span(t, at - 0.7, at - 0.05)))
    return y


def _court(width: int, height: int) -> Image.Image:
    sheet = Image.new("RGB", (width, height), COURT)
    pen = ImageDraw.Draw(sheet)
    mark = blend(COURT, CHALK, 0.28)
    pen.rectangle((0, 76, width, 78), fill=mark)
    for y in range(90, height, 26):
        pen.rectangle((width // 2 - 2, y, width // 2 + 1, y + 13), fill=mark)
    return sheet
