"""Stamps: shapes and lettering cut once at four times their size, then pressed at quarter pixels.

PIL's own drawing has hard edges and whole-pixel positions. Cutting big and reducing gives clean edges, and keeping one
reduced copy for each quarter-pixel offset gives steady slow motion at the price of one paste a frame.
"""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image, ImageDraw, ImageFont

from raster.press.inks import Ink

SCALE = 4


class Stamp:
    """A small picture that can be pressed on a sheet at any quarter pixel, at any opacity."""

    def __init__(self, cut: Image.Image) -> None:
        """`cut` is RGBA at `SCALE` times the size wanted."""
        self.cut = cut
        self.width, self.height = cut.width / SCALE, cut.height / SCALE
        self._ready: dict[tuple[int, int], Image.Image] = {}

    def _reduced(self, right: int, down: int) -> Image.Image:
        """The picture shifted by quarter pixels, one pixel of margin on the far sides."""
        key = (right, down)
        if key not in self._ready:
            size = tuple(-(-side // SCALE) * SCALE + SCALE for side in self.cut.size)
            field = Image.new("RGBA", size, (0, 0, 0, 0))
            field.paste(self.cut, (right, down))
            self._ready[key] = field.reduce(SCALE)
        return self._ready[key]

    def press(self, sheet: Image.Image, x: float, y: float, *, at: str = "mm", opacity: float = 1.0) -> None:
        """Print on `sheet`, `at` telling what lies at (x, y): l, m or r across, then t, m or b down."""
        if opacity <= 0.004:
            return
        x -= {"l": 0.0, "m": self.width / 2, "r": self.width}[at[0]]
        y -= {"t": 0.0, "m": self.height / 2, "b": self.height}[at[1]]
        quarter_x, quarter_y = round(x * SCALE), round(y * SCALE)
        picture = self._reduced(quarter_x % SCALE, quarter_y % SCALE)
        mask = picture.getchannel("A")
        if opacity < 0.996:
            mask = mask.point([round(level * opacity) for level in range(256)])
        sheet.paste(picture, (quarter_x // SCALE, quarter_y // SCALE), mask)

    def scaled(self, factor: float) -> Stamp:
        """A copy `factor` times as large."""
        size = tuple(max(1, round(side * factor)) for side in self.cut.size)
        return Stamp(self.cut.resize(size, Image.Resampling.BILINEAR))


def cut(width: float, height: float, draw: Callable[[ImageDraw.ImageDraw, float], None]) -> Stamp:
    """A stamp of `width` x `height` pixels, filled by `draw(pen, SCALE)`, which multiplies its lengths by SCALE."""
    field = Image.new("RGBA", (round(width * SCALE), round(height * SCALE)), (0, 0, 0, 0))
    draw(ImageDraw.Draw(field), SCALE)
    return Stamp(field)


def block(
    width: float, height: float, fill: Ink, *, radius: float = 0, edge: Ink | None = None, line: float = 0
) -> Stamp:
    """A box with rounded corners, and an edge of `line` pixels if `edge` is given."""

    def draw(pen: ImageDraw.ImageDraw, k: float) -> None:
        pen.rounded_rectangle(
            (0, 0, width * k - 1, height * k - 1), radius * k, fill=fill, outline=edge, width=round(line * k)
        )

    return cut(width, height, draw)


def disc(radius: float, fill: Ink | None, *, edge: Ink | None = None, line: float = 0) -> Stamp:
    """A filled circle, a ring (`fill` None) or both."""

    def draw(pen: ImageDraw.ImageDraw, k: float) -> None:
        pen.ellipse((0, 0, 2 * radius * k - 1, 2 * radius * k - 1), fill=fill, outline=edge, width=round(line * k))

    return cut(2 * radius, 2 * radius, draw)


def polygon(points: list[tuple[float, float]], width: float, height: float, fill: Ink) -> Stamp:
    """A filled polygon on a field of `width` x `height` pixels."""
    return cut(width, height, lambda pen, k: pen.polygon([(x * k, y * k) for x, y in points], fill=fill))


class Type:
    """Lettering in one font file. Sizes are the height of a capital, in pixels; every string is cut once."""

    def __init__(self, font: str, capital: str = "H") -> None:
        """`capital` is the letter whose height is the size: "H", or a full character of another script."""
        self.font = font
        _, top, _, bottom = ImageFont.truetype(font, 1000).getbbox(capital, anchor="ls")
        self._em = 1000 / (bottom - top)
        self._foot = bottom / (bottom - top)
        self._cuts: dict[tuple[str, float, Ink, float], Stamp] = {}

    def set(self, text: str, size: float, colour: Ink, *, spacing: float = 0.0) -> Stamp:
        """`text` with capitals `size` pixels tall, centred on their middle; `spacing` pixels between letters."""
        key = (text, size, colour, spacing)
        if key not in self._cuts:
            self._cuts[key] = self._cut(text, size, colour, spacing)
        return self._cuts[key]

    def _cut(self, text: str, size: float, colour: Ink, spacing: float) -> Stamp:
        font = ImageFont.truetype(self.font, round(size * self._em * SCALE))
        tall, gap = size * SCALE, spacing * SCALE
        width = font.getlength(text) + gap * max(0, len(text) - 1)
        field = Image.new("RGBA", (max(1, round(width)), round(2 * tall)), (0, 0, 0, 0))
        pen = ImageDraw.Draw(field)
        foot = 1.5 * tall - self._foot * tall
        x = 0.0
        for run in [text] if not spacing else list(text):
            pen.text((x, foot), run, font=font, fill=colour, anchor="ls")
            x += font.getlength(run) + gap
        return Stamp(field)
