"""Pictures beside the ranking: panels, categories, cost against score, and who beats whom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise as neighbours
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from vvb_assets.leaderboards.canvas import (
    COLOURS,
    FAINT,
    INK,
    MOST_ROWS,
    MUTED,
    NORMAL,
    NV0,
    SMALL,
    WIDTH_PX,
    bare,
    nothing,
    picture,
    short,
    spread_apart,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERED = 16  # systems up to which a matrix cell has room for its number
BY_PANEL, BY_CATEGORY = "Overall score by panel (no video = 0)", "Overall score by category (no video = 0)"
COST, WINS = "Overall score (no video = 0) against cost per task", "P(row > column), bootstrap over tasks"


def names_of(board: pl.DataFrame) -> dict[str, str]:
    """Names of the systems as the pictures print them, in the leaderboard's order; at most MOST_ROWS."""
    rows = board.head(MOST_ROWS).select("system", "name").drop_nulls("system").iter_rows()
    return {system: short(name or system) for system, name in rows}


def slope_picture(per_panel: pl.DataFrame, board: pl.DataFrame) -> bytes:
    """PNG: a line a system across the panels' overall_nv0, names and scores at both ends."""
    names = names_of(board)
    known = per_panel.drop_nulls(["panel", "overall_nv0"])
    panels = known["panel"].unique(maintain_order=True).to_list()
    if not panels:
        return nothing(BY_PANEL, "no panel has judged a system whole")
    scores = {(p, s): v for p, s, v in known.select("panel", "system", "overall_nv0").iter_rows()}
    shown = [s for s in names if any((p, s) in scores for p in panels)]

    def paint(figure: Figure, height: int) -> None:
        axes = figure.add_axes((0.27, 30 / height, 0.46, 1 - 120 / height))
        values = [scores[p, s] for p in panels for s in shown if (p, s) in scores]
        low, high = min(values), max(values)
        margin = max(0.05, (high - low) * 0.06)
        axes.set_ylim(low - margin, high + margin)
        axes.set_xlim(-0.04 * max(1, len(panels) - 1), max(1, len(panels) - 1) * 1.04)
        for place, panel in enumerate(panels):
            axes.axvline(place, color=FAINT, linewidth=1, zorder=0)
            axes.text(place, high + margin, short(panel, 14), ha="center", va="bottom", color=INK)
        for number, system in enumerate(shown):
            points = [(i, scores[p, system]) for i, p in enumerate(panels) if (p, system) in scores]
            colour = COLOURS[number] if number < len(COLOURS) else MUTED
            axes.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=5, linewidth=1.8)
        gap = (high - low + 2 * margin) * 27 / (height - 120)
        for panel, side in ((panels[0], "left"), (panels[-1], "right"))[: len(panels)]:
            there = [s for s in shown if (panel, s) in scores]
            labels = spread_apart([scores[panel, s] for s in there], gap)
            for system, label in zip(there, labels, strict=True):
                number = shown.index(system)
                colour = COLOURS[number] if number < len(COLOURS) else MUTED
                _end_label(axes, side, len(panels), scores[panel, system], label, names[system], colour)
        bare(axes, keep=())
        axes.set_xticks([])
        axes.set_yticks([])

    return picture(max(520, 160 + 30 * len(shown)), BY_PANEL, paint)


def _end_label(axes: Any, side: str, panels: int, value: float, y: float, name: str, colour: str) -> None:
    last, left = max(1, panels - 1), side == "left"
    x, away = (0.0, -1) if left else (float(panels - 1), 1)
    text = f"{name}  {value:.3f}" if left else f"{value:.3f}  {name}"
    axes.plot([x + away * 0.02 * last, x + away * 0.06 * last], [value, y], color=colour, linewidth=0.8, clip_on=False)
    place = x + away * 0.075 * last
    axes.text(place, y, text, ha="right" if left else "left", va="center", color=colour, fontsize=8.5)


def category_picture(by_category: pl.DataFrame, board: pl.DataFrame) -> bytes:
    """PNG: overall_nv0 of each system (rows, in rank order) in each task category (columns)."""
    names = names_of(board)
    known = by_category.drop_nulls(["category", "overall_nv0"]).filter(pl.col("system").is_in(list(names)))
    if known.is_empty():
        return nothing(BY_CATEGORY, "no system has a score in any category")
    categories = sorted(by_category["category"].drop_nulls().unique().to_list())
    cells = {(s, c): v for s, c, v in known.select("system", "category", "overall_nv0").iter_rows()}
    grid = np.array([[cells.get((s, c), np.nan) for c in categories] for s in names])
    return _matrix(BY_CATEGORY, list(names.values()), categories, grid, "YlGnBu", _whole_limits(grid), "{:.2f}")


def _whole_limits(grid: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    """The whole numbers around the values: the colours use their full range, and stay put under small changes."""
    low, high = float(np.floor(np.nanmin(grid))), float(np.ceil(np.nanmax(grid)))
    return low, max(high, low + 1)


def win_picture(pairwise: pl.DataFrame, board: pl.DataFrame) -> bytes:
    """PNG: P(row > column) of every two systems, in rank order."""
    names = names_of(board)
    pairs = pairwise.drop_nulls(["system_a", "p_greater"])
    if pairs.is_empty():
        return nothing(WINS, "a comparison needs two systems")
    share: dict[tuple[str, str], float] = {}
    for a, b, p in pairs.select("system_a", "system_b", "p_greater").iter_rows():
        share[a, b], share[b, a] = p, 1 - p
    there = [s for s in names if any(s in pair for pair in share)]
    grid = np.array([[share.get((a, b), np.nan) for b in there] for a in there])
    labels = [names[s] for s in there]
    return _matrix(WINS, labels, labels, grid, "RdBu", (0.0, 1.0), "{:.2f}")


def _matrix(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    grid: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    colours: str,
    limits: tuple[float, float],
    form: str,
) -> bytes:
    """PNG of a matrix of numbers; NaN cells stay grey. Column names stand slanted if long, upright if many."""
    slanted = max(map(len, columns)) > 6 or len(columns) > NUMBERED
    many, longest = len(columns) > NUMBERED, max(map(len, columns))
    head = (50 + 11 * longest if many else 40 + int(7.5 * longest)) if slanted else 50
    row_px = 58 if len(rows) <= NUMBERED else 30

    def paint(figure: Figure, height: int) -> None:
        right = 0.90 if slanted and not many else 0.97
        axes = figure.add_axes((0.22, 24 / height, right - 0.22, row_px * len(rows) / height))
        image = axes.imshow(grid, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto")
        axes.set_facecolor("#eeeeee")
        axes.set_yticks(range(len(rows)), rows, fontsize=SMALL if len(rows) > NUMBERED else NORMAL)
        turn: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
        turn = {"rotation": 90} if many else turn
        axes.set_xticks(range(len(columns)), columns, fontsize=SMALL if slanted else NORMAL, **turn)
        axes.xaxis.tick_top()
        bare(axes, keep=())
        if len(columns) > NUMBERED:
            return
        for (y, x), value in np.ndenumerate(grid):
            if np.isnan(value):
                continue
            red, green, blue, _ = image.cmap(image.norm(np.array(value)))
            dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
            colour = "white" if dark else INK
            axes.text(x, y, form.format(value), ha="center", va="center", color=colour, fontsize=8.5)

    return picture(60 + head + 24 + row_px * len(rows), title, paint)


def frontier_picture(cost: pl.DataFrame, board: pl.DataFrame) -> bytes:
    """PNG: overall_nv0 against mean USD (logarithmic where every cost is above 0), the Pareto frontier as a line."""
    names = names_of(board)
    known = cost.drop_nulls(["system", "mean_usd", "overall_nv0"]).filter(pl.col("system").is_in(list(names)))
    if known.is_empty():
        return nothing(COST, "no system has both a cost and a score")
    rows = known.select("system", "mean_usd", "overall_nv0", "pareto").sort("mean_usd", "system").rows()

    def paint(figure: Figure, height: int) -> None:
        axes = figure.add_axes((0.08, 0.12, 0.89, 0.76))
        usd, scores = [r[1] for r in rows], [r[2] for r in rows]
        if min(usd) > 0:
            axes.set_xscale("log")
            axes.set_xlim(min(usd) / 2.2, max(usd) * 2.2)
        else:
            axes.set_xlim(-0.05 * (max(usd) or 1.0), 1.25 * (max(usd) or 1.0))
        margin = max(0.15, (max(scores) - min(scores)) * 0.14)
        axes.set_ylim(min(scores) - margin, max(scores) + margin)
        axes.xaxis.set_major_formatter(lambda value, _: f"${value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: "")
        frontier = [(u, s) for _, u, s, best in rows if best]
        for (u0, s0), (u1, s1) in neighbours(frontier):
            axes.plot([u0, u1, u1], [s0, s0, s1], color=NV0, linewidth=1.4, zorder=1)
        for _, u, s, best in rows:
            axes.plot([u], [s], "o", color=NV0 if best else MUTED, markersize=8 if best else 6, zorder=2)
        axes.set_xlabel("mean USD per task (blue: Pareto frontier)", color=INK)
        axes.grid(color="#eeeeee")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        figure.canvas.draw()
        _point_labels(axes, [(names[r[0]], r[1], r[2], bool(r[3])) for r in rows])

    return picture(720, COST, paint)


def _point_labels(axes: Any, points: Sequence[tuple[str, float, float, bool]]) -> None:
    """Names beside their points, on the first side where they cover neither a name nor a point.

    A name without room is left out, but for those on the frontier, which come first.
    """
    points = sorted(points, key=lambda point: not point[3])
    centres = [axes.transData.transform((x, y)) for _, x, y, _ in points]
    taken = [(cx - 9, cy - 9, cx + 9, cy + 9) for cx, cy in centres]
    for (name, x, y, best), (cx, cy) in zip(points, centres, strict=True):
        width, height, gap = 10.5 * len(name), 22.0, 13.0
        spots = [
            ("left", "center", gap, 0.0, (cx + gap, cy - height / 2)),
            ("right", "center", -gap, 0.0, (cx - gap - width, cy - height / 2)),
            ("center", "bottom", 0.0, gap, (cx - width / 2, cy + gap)),
            ("center", "top", 0.0, -gap, (cx - width / 2, cy - gap - height)),
        ]
        if best:  # the frontier comes from the left or from below, and goes on to the right
            spots = [spots[2], spots[1], spots[3], spots[0]]
        boxes = [(bx, by, bx + width, by + height) for *_, (bx, by) in spots]
        free = [i for i, b in enumerate(boxes) if _inside(b) and not any(_overlap(b, t) for t in taken)]
        if not free and not best:
            continue
        chosen = free[0] if free else 0
        ha, va, dx, dy, _ = spots[chosen]
        taken.append(boxes[chosen])
        axes.annotate(
            name,
            (x, y),
            xytext=(dx * 72 / 150, dy * 72 / 150),
            textcoords="offset points",
            ha=ha,
            va=va,
            color=NV0 if best else INK,
            fontsize=8.5,
        )


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _inside(box: tuple[float, ...]) -> bool:
    return box[0] >= 0.08 * WIDTH_PX and box[2] <= WIDTH_PX
