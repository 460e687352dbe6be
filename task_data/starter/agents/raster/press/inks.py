"""Colour: hex strings to inks, mixing, and screens of printed dots."""

from __future__ import annotations

import numpy as np
from PIL import Image

Ink = tuple[int, int, int]


def ink(code: str) -> Ink:
    """`#RRGGBB` as three numbers of 0 to 255."""
    code = code.lstrip("#")
    return int(code[0:2], 16), int(code[2:4], 16), int(code[4:6], 16)


def blend(a: Ink, b: Ink, share: float) -> Ink:
    """The ink `share` of the way from `a` to `b`."""
    return tuple(round(x + (y - x) * share) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


def halftone(size: tuple[int, int], colour: Ink, pitch: int, weight: np.ndarray) -> Image.Image:
    """A screen of printed dots, RGBA.

    `weight` is a height x width field of 0 to 1: the share of its cell that a dot fills. `pitch` is the cell in pixels.
    The screen stands at 45 degrees, as printers set it, so that its rows do not read as stripes.
    """
    width, height = size
    y, x = np.mgrid[0:height, 0:width].astype(float)
    u, v = (x + y) / np.sqrt(2), (x - y) / np.sqrt(2)
    du, dv = u % pitch - pitch / 2, v % pitch - pitch / 2
    radius = np.sqrt(np.clip(weight, 0, 1) / np.pi) * pitch
    cover = np.clip(radius - np.hypot(du, dv) + 0.5, 0, 1) * (weight > 0.01)
    dots = np.empty((height, width, 4), np.uint8)
    dots[..., :3] = colour
    dots[..., 3] = (cover * 255).astype(np.uint8)
    return Image.fromarray(dots, "RGBA")
