"""What stands beside the flame of EMBER: a pot that comes to the boil, and a balance with a feather."""

from __future__ import annotations

import math

import skia
from kit.motion import ease_in_out, ease_out, progress

from vector.stage import Stage, paint
from vector.style import Style, blend


def pot(stage: Stage, t: float, alpha: float, style: Style) -> None:
    """A pot over the flame `t` seconds into its stage: bubbles, then ever more steam."""
    w, h = stage.width, stage.height
    metal = blend(style.muted, style.bright, 0.35)
    left, top, wide, tall = 0.5 * w - 0.12 * w, 0.155 * h, 0.24 * w, 0.17 * h
    heat = ease_in_out(progress(t, 0.2, 1.8))
    for k in range(5):
        rise = (t * (0.5 + 0.06 * k) + k * 0.29) % 1.0
        x = left + wide * (0.14 + 0.18 * k) + math.sin(4 * t + k) * 7
        stage.disc(
            (x, top - 0.02 * h - rise * 0.12 * h),
            0.014 * h * (0.6 + rise),
            style.bright,
            alpha=alpha * heat * 0.5 * (1 - rise),
        )
    stage.panel((left, top, wide, tall), 18, metal, alpha=alpha)
    stage.panel((left + 10, top + 8, wide - 20, tall - 18), 12, blend(style.second, 0xFF000000, 0.25), alpha=alpha)
    for k in range(12):
        rise = (t * (0.8 + 0.07 * (k % 5)) + k * 0.37) % 1.0
        x = left + wide * (0.1 + 0.072 * k)
        stage.disc(
            (x, top + tall - 20 - rise * (tall - 38)), 3 + 5 * heat * rise, style.bright, alpha=alpha * heat * 0.85
        )
    stage.panel((left - 12, top - 6, wide + 24, 14), 7, metal, alpha=alpha)
    for side in (left - 30, left + wide):
        stage.panel((side, top + 0.05 * h, 30, 16), 8, metal, alpha=alpha)


def balance(stage: Stage, t: float, alpha: float, style: Style) -> None:
    """A balance whose pan with the folded stove hardly sinks against a feather, `t` seconds into its stage."""
    w, h = stage.width, stage.height
    x, foot, post = 0.65 * w, 0.93 * h, 0.38 * h
    metal = blend(style.muted, style.bright, 0.35)
    tilt = 0.16 * math.exp(-2.2 * t) * math.cos(6.0 * t) - 0.045 * ease_out(progress(t, 0.0, 1.2))
    stage.panel((x - 0.07 * w, foot - 14, 0.14 * w, 16), 8, metal, alpha=alpha)
    stage.line((x, foot - 14), (x, post), metal, 12, alpha=alpha)
    arm = 0.2 * w
    ends = [(x + side * arm * math.cos(tilt), post + side * arm * math.sin(tilt)) for side in (-1, 1)]
    stage.line(ends[0], ends[1], metal, 10, alpha=alpha)
    stage.disc((x, post), 15, style.accent, alpha=alpha)
    for side, (ex, ey) in zip((-1, 1), ends, strict=True):
        pan = ey + 0.27 * h
        for reach in (-0.07 * w, 0.07 * w):
            stage.line((ex, ey), (ex + reach, pan), metal, 3, alpha=alpha)
        stage.panel((ex - 0.085 * w, pan, 0.17 * w, 14), 7, metal, alpha=alpha)
        if side < 0:
            stage.panel((ex - 0.04 * w, pan - 0.075 * h, 0.08 * w, 0.075 * h), 8, style.second, alpha=alpha)
            stage.panel((ex - 0.03 * w, pan - 0.1 * h, 0.06 * w, 0.018 * h), 5, style.second, alpha=alpha)
        else:
            feather(stage, ex - 0.06 * w, pan - 4, alpha, style)


def feather(stage: Stage, x: float, y: float, alpha: float, style: Style) -> None:
    """A feather that lies on a pan, its quill at (x, y)."""
    w, h = stage.width, stage.height
    tip = (x + 0.115 * w, y - 0.13 * h)
    vane = skia.Path()
    vane.moveTo(x + 0.02 * w, y - 0.02 * h)
    vane.cubicTo(x + 0.02 * w, y - 0.11 * h, x + 0.08 * w, y - 0.15 * h, *tip)
    vane.cubicTo(x + 0.12 * w, y - 0.06 * h, x + 0.07 * w, y - 0.005 * h, x + 0.02 * w, y - 0.02 * h)
    stage.canvas.drawPath(vane, paint(style.bright, 0.92 * alpha))
    stage.line((x, y), (tip[0] - 8, tip[1] + 8), style.muted, 3, alpha=alpha)
