"""What all pictures share: a canvas of fixed width without a display, colours, and labels that do not overlap."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NV0, DELIVERED, INK, MUTED, FAINT = "#1f5fa8", "#b8cfe8", "#222222", "#666666", "#d8d8d8"
WIDTH_PX, DPI = 1200, 150  # shown 800 px wide, text of 8 points is 11 px high
MOST_ROWS = 40  # systems a picture shows at most; the tables have all
SMALL, NORMAL = 8, 9
COLOURS = (
    *("#1f5fa8", "#d1601f", "#2c8c4a", "#a8324a", "#6b4fa0", "#8a6d1f", "#1f8f96", "#c2569b", "#4d4d4d"),
    *("#7aa6d6", "#e5a06f", "#86c495"),
)


def picture(height_px: int, title: str, paint: Callable[[Figure, int], None]) -> bytes:
    """PNG, WIDTH_PX wide, with a title; `paint` fills the figure (given with its height). Same input, same bytes."""
    # Here and not above: a quarter of a second, which every command that draws nothing would pay.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"font.family": "DejaVu Sans", "font.size": NORMAL, "svg.hashsalt": "vvb"}):
        figure = Figure(figsize=(WIDTH_PX / DPI, height_px / DPI), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        figure.text(0.012, 1 - 28 / height_px, title, fontsize=12, color=INK, weight="bold", va="center")
        paint(figure, height_px)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def short(name: object, length: int = 20) -> str:
    """The name, cut to `length` characters."""
    text = str(name)
    return text if len(text) <= length else text[: length - 1] + "…"


def bare(axes: Any, keep: Sequence[str] = ("bottom",)) -> None:
    """Take the frame off but for the sides in `keep`."""
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side in keep)
    axes.tick_params(length=0)


def spread_apart(places: Sequence[float], gap: float) -> list[float]:
    """Places moved as little as needed to lie `gap` apart, in the same order (ties in the order given)."""
    order = sorted(range(len(places)), key=lambda i: (places[i], i))
    groups: list[tuple[float, list[int]]] = []  # centre, members
    for index in order:
        groups.append((places[index], [index]))
        while len(groups) > 1:
            (low, left), (high, right) = groups[-2:]
            if high - low >= gap * (len(left) + len(right)) / 2:
                break
            members = left + right
            groups[-2:] = [((low * len(left) + high * len(right)) / len(members), members)]
    moved = [0.0] * len(places)
    for centre, members in groups:
        for number, index in enumerate(members):
            moved[index] = centre + gap * (number - (len(members) - 1) / 2)
    return moved


def nothing(title: str, reason: str) -> bytes:
    """A picture that says why there is nothing to draw."""

    def paint(figure: Figure, height: int) -> None:
        figure.text(0.5, 0.4, reason, ha="center", va="center", color=MUTED)

    return picture(220, title, paint)
