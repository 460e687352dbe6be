"""Pictures of the tables, drawn without a display. Same table, same bytes."""

from __future__ import annotations

import io

import polars as pl
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

NV0, DELIVERED, INK, MUTED = "#1f5fa8", "#b8cfe8", "#222222", "#666666"
WIDTH_PX, DPI, ROW_PX, FRAME_PX = 1200, 150, 66, 190  # at 800 px wide the smallest text is still 11 px high


def ranking_picture(board: pl.DataFrame, title: str = "Leaderboard") -> bytes:
    """PNG of the ranking, 1200 px wide: overall (no video = 0) over the delivered-only overall, delivery rate beside.

    `board` is the leaderboard table, drawn in its order. A system without a figure keeps its row and says so.
    """
    rows = board.to_dicts()
    height = FRAME_PX + ROW_PX * max(1, len(rows))
    with rc_context({"font.family": "DejaVu Sans", "font.size": 9, "svg.hashsalt": "vvb"}):
        figure = Figure(figsize=(WIDTH_PX / DPI, height / DPI), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        edge = {"top": 1 - 75 / height, "bottom": 85 / height}
        grid = figure.add_gridspec(1, 2, width_ratios=(3.4, 1), wspace=0.08, left=0.22, right=0.95, **edge)
        scores, delivery = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
        for place, row in enumerate(rows):
            _score_bars(scores, place, row)
            rate = row["delivery_pct"]
            if rate is not None:
                delivery.barh(place, rate, height=0.5, color=MUTED)
            label = "–" if rate is None else f"{rate:.1f}%"
            if rate is not None and rate > 50:
                delivery.text(rate - 4, place, label, va="center", ha="right", color="white")
            else:
                delivery.text((rate or 0) + 4, place, label, va="center", ha="left", color=INK)
        labels = [_label(row) for row in rows]
        for axes, limit, name in ((scores, 5.6, "Overall score"), (delivery, 100, "Delivery rate")):
            axes.set_xlim(0, limit)
            axes.set_ylim(max(1, len(rows)) - 0.4, -0.6)
            axes.set_title(name, fontsize=9, color=INK, loc="left")
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(axis="y", length=0)
        scores.set_xticks(range(6))
        scores.set_yticks(range(len(rows)), labels)
        delivery.set_yticks([])
        delivery.set_xticks([0, 50, 100], ["0", "50", "100%"])
        figure.text(0.012, 1 - 28 / height, title, fontsize=12, color=INK, weight="bold", va="center")
        _legend(figure, height)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _score_bars(axes: object, place: int, row: dict[str, object]) -> None:
    delivered, nv0 = row["overall_deliv"], row["overall_nv0"]
    known = [(v, h, c) for v, h, c in ((delivered, 0.74, DELIVERED), (nv0, 0.4, NV0)) if isinstance(v, float)]
    for value, height, colour in known:
        axes.barh(place, value, height=height, color=colour)  # type: ignore[attr-defined]
    text = " / ".join(f"{v:.3f}" if isinstance(v, float) else "–" for v in (nv0, delivered))
    if not known:
        text = "incomplete" if row["delivered"] else "no video"
    end = max((value for value, _, _ in known), default=0.0)
    axes.text(end + 0.07, place, text, va="center", color=INK, fontsize=8.5)  # type: ignore[attr-defined]


def _label(row: dict[str, object]) -> str:
    name = str(row.get("name") or row["system"])
    name = name if len(name) <= 20 else name[:19] + "…"
    return f"{row['rank']}  {name}" if row["rank"] is not None else f"–  {name}"


def _legend(figure: Figure, height: int) -> None:
    y = 24 / height
    for x, colour, text in ((0.22, NV0, "no video counts as 0 (ranks)"), (0.52, DELIVERED, "delivered videos only")):
        figure.text(x, y, "■", color=colour, fontsize=12, va="center")
        figure.text(x + 0.022, y, text, color=INK, fontsize=8.5, va="center")
