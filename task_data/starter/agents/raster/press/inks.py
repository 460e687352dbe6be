"""Colour: hex strings to pixels, mixing, and the paper every sheet is printed on."""

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


def paper(size: tuple[int, int], top: Ink, bottom: Ink | None = None, grain: float = 2.0, seed: int = 7) -> Image.Image:
    """A sheet of `size` pixels in one ink or shaded down to a second, with a fine fixed grain of `grain` levels."""
    width, height = size
    last = top if bottom is None else bottom
    ramp = np.linspace(0.0, 1.0, height)[:, None, None]
    sheet = np.array(top, float) * (1 - ramp) + np.array(last, float) * ramp
    noise = np.random.default_rng(seed).normal(0.0, grain, (height, width, 1))
    return Image.fromarray(np.clip(sheet + noise, 0, 255).astype(np.uint8), "RGB")


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
