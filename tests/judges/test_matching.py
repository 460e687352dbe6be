"""Text matching: what counts as shown. Expectations by hand."""

from __future__ import annotations

import pytest

from vvb_resources.judges.instruments.matching import normalise, page, script_share, shows


@pytest.mark.parametrize(
    ("lines", "wanted", "expected"),
    [
        (["Ember  Launch!"], "EMBER LAUNCH", True),
        (["ＥＭＢＥＲ"], "ember", True),  # full width
        (["EMBER", "LAUNCH"], "Ember Launch", True),  # over two lines
        (["EMBFR LAUNCH"], "EMBER LAUNCH", True),  # 11 letters: one slip
        (["EMBFR LAVNCH"], "EMBER LAUNCH", False),  # two slips
        (["EMBFR"], "EMBER", False),  # 5 letters: none
        (["SCORE 12"], "SCORE 12", True),
        (["SCORE 13"], "SCORE 12", False),  # a digit is never misread
        (["SCORE 112"], "12", False),
        (["SCORE 12"], "1", False),
        (["1.2"], "12", False),
        (["3.5 mm"], "3.5", True),
        (["3.5"], "5", False),
        (["1/2 + 1/4 = 3/4"], "3/4", True),
        (["11/2"], "1/2", False),
        (["2 - 1"], "21", False),  # two numbers that stand apart
        (["3", "4"], "34", False),
        (["12 000"], "12000", False),
        (["12,000"], "12000", True),
        (["Reservoir: 41 mm in May"], "41 mm", True),
        (["第一层 完成"], "第一层完成", True),
        (["第二层 完成"], "第一层完成", False),
        ([], "x", False),
        (["x"], "!", False),  # nothing to look for
    ],
)
def test_shows(lines: list[str], wanted: str, expected: bool) -> None:
    assert shows(page(lines), wanted) is expected


def test_normalise_keeps_only_what_joins_digits() -> None:
    assert normalise("A-B: 3.5, 10:30 – 2−1 × 4") == "ab3.5\n10:30\n2-1x4"


def test_script_share_counts_letters_only() -> None:
    assert script_share(["AB 12 塔!"], "en") == (pytest.approx(2 / 3), 3)
    assert script_share(["AB 12 塔!"], "zh") == (pytest.approx(1 / 3), 3)
    assert script_share(["12 → !"], "zh") == (0.0, 0)
