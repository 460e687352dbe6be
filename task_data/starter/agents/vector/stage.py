"""A Skia canvas whose pixels are a numpy array, with the few drawing calls the scenes share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import skia
from kit.deliver import Frame
from kit.fonts import latin_font

from vector.style import Colour

Point = tuple[float, float]
Box = tuple[float, float, float, float]


def paint(colour: Colour, alpha: float = 1.0, stroke: float = 0.0) -> skia.Paint:
    """Anti-aliased paint of `colour` at `alpha` (0-1); `stroke` pixels wide with round ends, or filled if 0."""
    made = skia.Paint(AntiAlias=True, Color=colour)
    made.setAlphaf((colour >> 24) / 255 * min(max(alpha, 0.0), 1.0))
    if stroke > 0:
        made.setStyle(skia.Paint.kStroke_Style)
        made.setStrokeWidth(stroke)
        made.setStrokeCap(skia.Paint.kRound_Cap)
        made.setStrokeJoin(skia.Paint.kRound_Join)
    return made


class Stage:
    """A picture of `width` x `height` pixels; `pixels` is (height, width, 4) uint8 in BGRA order."""

    def __init__(self, width: int, height: int, font: Path | None = None, embolden: bool = False) -> None:
        self.width, self.height, self._embolden = width, height, embolden
        self.pixels: Frame = np.zeros((height, width, 4), np.uint8)
        info = skia.ImageInfo.Make(width, height, skia.kBGRA_8888_ColorType, skia.kPremul_AlphaType)
        self._surface = skia.Surface.MakeRasterDirect(info, self.pixels)
        self.canvas: skia.Canvas = self._surface.getCanvas()
        self._regular = skia.Typeface.MakeFromFile(str(font or latin_font()))
        self._bold = skia.Typeface.MakeFromFile(str(font or latin_font(bold=True)))
        self._fonts: dict[tuple[float, bool], skia.Font] = {}

    def font(self, size: float, bold: bool = True) -> skia.Font:
        """The stage's font at `size` pixels."""
        key = (round(size * 4) / 4, bold)
        if key not in self._fonts:
            font = skia.Font(self._bold if bold else self._regular, key[0])
            font.setEdging(skia.Font.Edging.kAntiAlias)
            font.setSubpixel(True)
            font.setEmbolden(self._embolden)
            self._fonts[key] = font
        return self._fonts[key]

    def em(self, share: float) -> float:
        """Font size in pixels at which capitals are `share` of the picture height tall (DejaVu: 0.729 em)."""
        return share * self.height / 0.729

    def measure(self, text: str, size: float, bold: bool = True) -> float:
        """Width of `text` in pixels."""
        return float(self.font(size, bold).measureText(text))

    def text(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        colour: Colour,
        *,
        alpha: float = 1.0,
        align: float = 0.5,
        bold: bool = True,
        width: float | None = None,
    ) -> None:
        """Draw `text` with its baseline at `y`; `align` 0 starts at x, 0.5 centres on it, 1 ends at it.

        `width`: the text is set smaller if it would be wider than that many pixels.
        """
        if alpha <= 0 or not text:
            return
        wide = self.measure(text, size, bold)
        if width is not None and wide > width:
            size *= width / wide
            wide = self.measure(text, size, bold)
        self.canvas.drawString(text, x - align * wide, y, self.font(size, bold), paint(colour, alpha))

    def panel(self, box: Box, radius: float, colour: Colour, *, alpha: float = 1.0, stroke: float = 0.0) -> None:
        """A filled or outlined rectangle (left, top, width, height) with round corners."""
        if alpha > 0 and box[2] > 0 and box[3] > 0:
            self.canvas.drawRoundRect(skia.Rect.MakeXYWH(*box), radius, radius, paint(colour, alpha, stroke))

    def disc(self, at: Point, radius: float, colour: Colour, *, alpha: float = 1.0, stroke: float = 0.0) -> None:
        """A filled or outlined circle."""
        if alpha > 0 and radius > 0:
            self.canvas.drawCircle(*at, radius, paint(colour, alpha, stroke))

    def line(self, start: Point, end: Point, colour: Colour, stroke: float, *, alpha: float = 1.0) -> None:
        """A line with round ends."""
        if alpha > 0:
            self.canvas.drawLine(*start, *end, paint(colour, alpha, stroke))

    def shape(self, points: Sequence[Point], colour: Colour, *, alpha: float = 1.0, stroke: float = 0.0) -> None:
        """A filled polygon, or an open polyline of `stroke` pixels."""
        if alpha > 0 and len(points) > 1:
            path = skia.Path.Polygon([skia.Point(*p) for p in points], stroke == 0)
            self.canvas.drawPath(path, paint(colour, alpha, stroke))

    def still(self, draw: Callable[[Stage], None]) -> skia.Image:
        """What `draw` draws on an empty stage of this size, as a picture that is quick to lay down again."""
        surface = skia.Surface(self.width, self.height)
        kept, self.canvas = self.canvas, surface.getCanvas()
        try:
            draw(self)
        finally:
            self.canvas = kept
        return surface.makeImageSnapshot()

    def lay(self, image: skia.Image, alpha: float = 1.0) -> None:
        """Lay a picture made by `still` over the whole stage."""
        if alpha >= 1:
            self.canvas.drawImage(image, 0, 0)
        elif alpha > 0:
            self.canvas.drawImage(image, 0, 0, skia.SamplingOptions(), skia.Paint(Alphaf=alpha))
