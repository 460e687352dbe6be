"""House style: the colours a scene uses wherever its prompt leaves them open."""

from __future__ import annotations

from dataclasses import dataclass

Colour = int  # 0xAARRGGBB, as Skia wants it


@dataclass(frozen=True)
class Style:
    """Colours by role: `paper` is a light ground with `ink` on it, `bright` is set on dark ones."""

    name: str
    paper: Colour
    ink: Colour
    muted: Colour
    bright: Colour
    accent: Colour
    second: Colour
    third: Colour
    spin: float  # degrees by which free starting angles are turned


SKETCHER = Style(
    name="sketcher",
    paper=0xFFF6F3EC,
    ink=0xFF1B2436,
    muted=0xFF6C7689,
    bright=0xFFFFFFFF,
    accent=0xFFFFB238,
    second=0xFF3DB8C9,
    third=0xFFE8604C,
    spin=0.0,
)


def rgb(text: str) -> Colour:
    """'#RRGGBB' as an opaque colour."""
    return 0xFF000000 | int(text.lstrip("#"), 16)


def blend(a: Colour, b: Colour, p: float) -> Colour:
    """`a` at p = 0, `b` at p = 1, channel by channel."""
    return sum(round((a >> s & 255) + ((b >> s & 255) - (a >> s & 255)) * p) << s for s in (0, 8, 16, 24))
