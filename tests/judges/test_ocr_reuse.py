"""The text reader reads again what changed, and only that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from tests.judges.clips import font
from vvb_resources.judges.instruments import ocr


def picture(*lines: str) -> NDArray[np.uint8]:
    image = Image.new("RGB", (640, 360), (20, 30, 60))
    canvas = ImageDraw.Draw(image)
    for index, line in enumerate(lines):
        canvas.text((60, 40 + 100 * index), line, font=font(40), fill="white")
    return np.array(image)


@pytest.fixture
def recognised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the recogniser was run for."""
    seen: list[str] = []
    original = ocr._recognise

    def spy(engine: Any, crop: NDArray[np.uint8]) -> tuple[str, float]:
        text, confidence = original(engine, crop)
        seen.append(text)
        return text, confidence

    monkeypatch.setattr(ocr, "_recognise", spy)
    return seen


def test_only_the_changed_line_is_read_again(recognised: list[str]) -> None:
    reader = ocr.TextReader()
    assert [line.text for line in reader.read(picture("SCORE 12", "HARBOUR"))] == ["SCORE 12", "HARBOUR"]
    assert [line.text for line in reader.read(picture("SCORE 12", "HARBOUR"))] == ["SCORE 12", "HARBOUR"]
    assert len(recognised) == 2  # the second frame is the first: nothing was read
    assert [line.text for line in reader.read(picture("SCORE 13", "HARBOUR"))] == ["SCORE 13", "HARBOUR"]
    assert recognised[2:] == ["SCORE 13"]
    assert reader.read(picture()) == ()


def test_boxes_are_shares_of_the_picture() -> None:
    (line,) = ocr.TextReader().read(picture("HARBOUR"))
    left, top, right, bottom = line.box
    assert 0.05 < left < 0.12  # drawn from x = 60 of 640
    assert 0.08 < top < bottom < 0.3  # from y = 40 of 360, 40 high
    assert right < 0.5
    assert line.confidence > 0.9


def test_reading_order_is_by_rows() -> None:
    def at(text: str, x: float, y: float) -> ocr.TextLine:
        return ocr.TextLine(text, 1.0, (x, y, x + 0.2, y + 0.1))

    lines = [at("d", 0.5, 0.51), at("b", 0.6, 0.1), at("c", 0.1, 0.5), at("a", 0.1, 0.12)]
    assert [line.text for line in ocr.reading_order(lines)] == ["a", "b", "c", "d"]
