"""The picture of the ratings: Elo with its bootstrap interval, strongest on top. Same table, same bytes."""

from __future__ import annotations

import io

import polars as pl

INK, MUTED = "#222222", "#666666"
TIERS = ("#1f5fa8", "#b3541e")  # neighbouring tiers alternate
WIDTH_PX, DPI, ROW_PX, FRAME_PX = 1200, 150, 60, 170  # at 800 px wide the smallest text is still 11 px high


def elo_picture(table: pl.DataFrame) -> bytes:
    """PNG, 1200 px wide, of a bradley_terry table: point and 95% interval of each Elo, win rate and games beside.

    A system without a strength keeps its row and says why.
    """
    # Here and not above: a quarter of a second, which every command that draws nothing would pay.
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = table.drop_nulls("system").to_dicts()
    height = FRAME_PX + ROW_PX * max(1, len(rows))
    with rc_context({"font.family": "DejaVu Sans", "font.size": 9}):
        figure = Figure(figsize=(WIDTH_PX / DPI, height / DPI), dpi=DPI, facecolor="white")
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.2, 85 / height, 0.58, 1 - 160 / height))
        for place, row in enumerate(rows):
            if row["elo"] is None:
                axes.text(0.02, place, str(row["reason"])[:60], transform=axes.get_yaxis_transform(), va="center")
                continue
            colour = TIERS[((row["tier"] or 1) - 1) % len(TIERS)]
            if row["elo_low"] is not None and row["elo_high"] is not None:
                axes.plot([row["elo_low"], row["elo_high"]], [place, place], color=colour, linewidth=2)
            axes.plot([row["elo"]], [place], "o", color=colour, markersize=7)
        for place, row in enumerate(rows):
            axes.text(1.03, place, _beside(row), transform=axes.get_yaxis_transform(), va="center", fontsize=8.5)
        if not rows:
            axes.text(0.5, 0, "no votes", ha="center", va="center", color=MUTED)
            axes.set_xlim(0, 1)
        axes.set_ylim(max(1, len(rows)) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [_label(row) for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel("Elo (geometric mean 1000) with 95% bootstrap interval; a change of colour is a new tier")
        figure.text(0.012, 1 - 28 / height, "Human preference", fontsize=12, weight="bold", va="center", color=INK)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _label(row: dict[str, object]) -> str:
    name = str(row["system"])
    name = name if len(name) <= 20 else name[:19] + "…"
    return name if row["rank"] is None else f"{row['rank']}  {name}"


def _beside(row: dict[str, object]) -> str:
    rate = row["win_rate"]
    if not isinstance(rate, float):
        return "no votes that count"
    return f"won {row['wins']:g} of {row['games']:g} ({100 * rate:.0f}%)"
