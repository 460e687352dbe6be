"""The ranking as a picture, and which pictures stand beside which table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from vvb_assets.leaderboards.canvas import DELIVERED, INK, MOST_ROWS, MUTED, NV0, SMALL, WIDTH_PX, picture, short
from vvb_assets.leaderboards.charts import category_picture, frontier_picture, slope_picture, win_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NV0", "WIDTH_PX", "draw", "ranking_picture"]
ROW_PX, FRAME_PX = 66, 190
DRAWN = ("leaderboard", "per_panel", "by_category", "cost", "pairwise")


def draw(key: str, tables: Mapping[str, pl.DataFrame], title: str = "Leaderboard") -> dict[str, bytes]:
    """The pictures that belong to the table `key`, as PNG by file stem; empty for a table without one."""
    board = tables["leaderboard"]
    if key == "leaderboard":
        return {key: ranking_picture(board, title, tables["uncertainty"])}
    if key == "per_panel":
        return {key: slope_picture(tables[key], board)}
    if key == "by_category":
        return {key: category_picture(tables[key], board)}
    if key == "cost":
        return {key: frontier_picture(tables[key], board)}
    if key == "pairwise":
        return {key: win_picture(tables[key], board)}
    return {}


def ranking_picture(board: pl.DataFrame, title: str = "Leaderboard", uncertainty: pl.DataFrame | None = None) -> bytes:
    """PNG of the ranking, 1200 px wide: overall (no video = 0) over the delivered-only overall, delivery rate beside.

    `board` is the leaderboard table, drawn in its order. A system without a figure keeps its row and says so. With the
    `uncertainty` table each bar carries its 95% interval.
    """
    rows = board.head(MOST_ROWS).to_dicts()
    bounds: dict[str, tuple[float | None, float | None]] = {}
    if uncertainty is not None:
        bounds = {s: (low, high) for s, low, high in uncertainty.select("system", "low", "high").iter_rows()}
    drawn = [b for s, b in bounds.items() if s is not None and b[0] is not None]

    def paint(figure: Figure, height: int) -> None:
        edge = {"top": 1 - 75 / height, "bottom": 85 / height}
        grid = figure.add_gridspec(1, 2, width_ratios=(3.4, 1), wspace=0.08, left=0.22, right=0.95, **edge)
        scores, delivery = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
        for place, row in enumerate(rows):
            _score_bars(scores, place, row, bounds.get(str(row["system"]), (None, None)))
            rate = row["delivery_pct"]
            if rate is not None:
                delivery.barh(place, rate, height=0.5, color=MUTED)
            label = "–" if rate is None else f"{rate:.1f}%"
            if rate is not None and rate > 50:
                delivery.text(rate - 4, place, label, va="center", ha="right", color="white")
            else:
                delivery.text((rate or 0) + 4, place, label, va="center", ha="left", color=INK)
        for axes, limit, name in ((scores, 5.6, "Overall score"), (delivery, 100, "Delivery rate")):
            axes.set_xlim(0, limit)
            axes.set_ylim(max(1, len(rows)) - 0.4, -0.6)
            axes.set_title(name, fontsize=9, color=INK, loc="left")
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(axis="y", length=0)
        scores.set_xticks(range(6))
        scores.set_yticks(range(len(rows)), [_label(row) for row in rows])
        delivery.set_yticks([])
        delivery.set_xticks([0, 50, 100], ["0", "50", "100%"])
        _legend(figure, height, bool(drawn))

    return picture(FRAME_PX + ROW_PX * max(1, len(rows)), title, paint)


def _score_bars(axes: object, place: int, row: dict[str, object], bounds: tuple[float | None, float | None]) -> None:
    delivered, nv0 = row["overall_deliv"], row["overall_nv0"]
    known = [(v, h, c) for v, h, c in ((delivered, 0.74, DELIVERED), (nv0, 0.4, NV0)) if isinstance(v, float)]
    for value, height, colour in known:
        axes.barh(place, value, height=height, color=colour)  # type: ignore[attr-defined]
    low, high = bounds
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")  # type: ignore[attr-defined]
        for end in bounds:
            axes.plot([end, end], [place - 0.14, place + 0.14], color=INK, linewidth=1.4)  # type: ignore[attr-defined]
    text = " / ".join(f"{v:.3f}" if isinstance(v, float) else "–" for v in (nv0, delivered))
    if not known:
        text = "incomplete" if row["delivered"] else "no video"
    reach = max([value for value, _, _ in known] + ([high] if high is not None else [0.0]))
    axes.text(reach + 0.07, place, text, va="center", color=INK, fontsize=8.5)  # type: ignore[attr-defined]


def _label(row: dict[str, object]) -> str:
    name = short(row.get("name") or row["system"])
    return f"{row['rank']}  {name}" if row["rank"] is not None else f"–  {name}"


def _legend(figure: Figure, height: int, intervals: bool) -> None:
    y = 24 / height
    parts = [(0.22, "■", NV0, "no video counts as 0 (ranks)"), (0.50, "■", DELIVERED, "delivered only")]
    if intervals:
        parts.append((0.69, "|–|", INK, "95%, bootstrap over tasks"))
    for x, mark, colour, text in parts:
        figure.text(x, y, mark, color=colour, fontsize=12 if mark == "■" else SMALL, va="center")
        figure.text(x + (0.022 if mark == "■" else 0.03), y, text, color=INK, fontsize=8.5, va="center")
