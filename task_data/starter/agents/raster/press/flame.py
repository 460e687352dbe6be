"""A flame in the shape of a leaf, alive: outline, vein and sparks at any instant."""

from __future__ import annotations

import math

from PIL import Image, ImageDraw

from raster.press.inks import Ink

_FINE = 3  # drawn at this many times its size, then reduced


class Flame:
    """A leaf-shaped flame of `height` pixels in `colour`; its vein and sparks in `vein`."""

    def __init__(self, height: float, colour: Ink, vein: Ink) -> None:
        self.height, self.colour, self.vein = height, colour, vein

    def _spine(self, share: float, t: float) -> float:
        """Sideways lean at `share` of the height, in pixels: nothing at the foot, most at the tip."""
        sway = math.sin(5.1 * t - 2.4 * share) + 0.5 * math.sin(8.7 * t + 1.3 - 3.1 * share)
        return 0.075 * self.height * share**1.6 * sway

    def _half(self, share: float, t: float) -> float:
        """Half of the leaf's width at `share` of the height, in pixels."""
        breath = 1 + 0.06 * math.sin(7.3 * t + 4 * share) + 0.03 * math.sin(12.1 * t)
        return 0.315 * self.height * math.sin(math.pi * share**0.72) ** 0.9 * breath

    def press(self, sheet: Image.Image, x: float, foot: float, t: float, scale: float = 1.0) -> None:
        """Print the flame of instant `t` with the foot of its stem at (x, foot), `scale` times as large."""
        k = _FINE * scale
        wide, tall = 0.9 * self.height * scale, 1.12 * self.height * scale
        # Two grey masks, one an ink, are reduced in a fraction of the time of one picture with colour and alpha.
        leaf = Image.new("L", (round(wide) * _FINE, round(tall) * _FINE))
        veins = Image.new("L", leaf.size)
        pen, fine = ImageDraw.Draw(leaf), ImageDraw.Draw(veins)
        middle, ground = leaf.width / 2, leaf.height - 0.05 * self.height * k
        steps = [n / 28 for n in range(29)]

        def point(share: float, side: float) -> tuple[float, float]:
            lean = self._spine(share, t) + side * self._half(share, t)
            return middle + lean * k, ground - share * self.height * k

        edge = [point(s, -1) for s in steps] + [point(s, 1) for s in reversed(steps)]
        pen.polygon(edge, fill=255)
        fine.line([point(s, 0) for s in steps[:23]], fill=255, width=round(5 * k), joint="curve")
        for share in (0.2, 0.36, 0.52):
            for side in (-1, 1):
                vein = [point(share, 0), point(share + 0.13, 0.58 * side)]
                fine.line(vein, fill=255, width=round(4 * k))
        for n in range(5):
            age = (0.55 * t + n / 5) % 1
            up, aside = 0.5 + 0.55 * age, (0.34 - 0.1 * age) * math.sin(2.4 * n + 3 * age)
            radius = 0.013 * self.height * (1 - age) * k
            spot = (middle + aside * self.height * k, ground - up * self.height * k)
            pen.ellipse((spot[0] - radius, spot[1] - radius, spot[0] + radius, spot[1] + radius), fill=255)
        for colour, mask in ((self.colour, leaf.reduce(_FINE)), (self.vein, veins.reduce(_FINE))):
            left, top = round(x - mask.width / 2), round(foot - mask.height + 0.05 * self.height * scale)
            sheet.paste(colour, (left, top, left + mask.width, top + mask.height), mask)
