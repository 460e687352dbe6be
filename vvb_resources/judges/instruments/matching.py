"""Is a text shown: OCR output against what a check asks for, tolerant of how it is set and of single misread letters.

Case, spaces, line breaks, punctuation and full-width forms do not count. One letter in six may be misread; a digit
may not, nor may a number stand inside a longer one: "12" is not shown by "112" or "1.2".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

LETTERS_A_SLIP = 6
"""Length of text for which one misread letter is allowed."""

BREAK = "\n"
"""Between two lines: free to cross inside a match, and the end of a number."""

_KEPT_IN_NUMBERS = ".:/-"
_SAME = str.maketrans({"−": "-", "–": "-", "—": "-", "∶": ":", "⁄": "/", "×": "x", "。": ".", "ß": "ss"})


def normalise(text: str) -> str:
    """Letters and digits of `text`, folded; of punctuation only what joins two digits (3.5, 1/2, 2-1, 10:30).

    Spaces go, but two numbers that stand apart stay apart, by a break.
    """
    folded = unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME).casefold()
    out: list[str] = []
    for place, char in enumerate(folded):
        if char.isalnum():
            gap = place > 0 and folded[place - 1].isspace()
            if gap and char.isdigit() and out and out[-1].isdigit():
                out.append(BREAK)
            out.append(char)
        elif char == BREAK:
            out.append(BREAK)
        elif (
            char in _KEPT_IN_NUMBERS and folded[place - 1 : place].isdigit() and folded[place + 1 : place + 2].isdigit()
        ):
            out.append(char)
    return "".join(out)


def page(lines: Sequence[str]) -> str:
    """Several lines as one normalised text with breaks between them."""
    return BREAK.join(normalise(line) for line in lines)


@lru_cache(maxsize=65_536)
def shows(normalised_page: str, wanted: str) -> bool:
    """Does a page (from `page`) show the text `wanted` (as written in a probe)."""
    needle = normalise(wanted)
    plain = needle.replace(BREAK, "")
    if not plain:
        return False
    if any(_ends_clean(normalised_page, *found.span()) for found in _pattern(needle).finditer(normalised_page)):
        return True
    slips = sum(not char.isdigit() for char in plain) // LETTERS_A_SLIP
    return slips > 0 and _could_show(normalised_page, plain, slips) and _nearly(normalised_page, needle, slips)


@cache
def _pattern(needle: str) -> re.Pattern[str]:
    """The text itself, with line breaks allowed anywhere but inside a number."""
    out = []
    for char, following in zip(needle, needle[1:] + " ", strict=True):
        if char == BREAK:
            out.append(f"{BREAK}?")
        else:
            out.append(re.escape(char))
            if following not in (BREAK, " ") and not (char.isdigit() and following.isdigit()):
                out.append(f"{BREAK}?")
    return re.compile("".join(out))


def _could_show(normalised_page: str, plain: str, slips: int) -> bool:
    """Of slips + 1 pieces of a text, at least one is untouched by that many slips: a quick way to rule most pages
    out."""
    page_plain = normalised_page.replace(BREAK, "")
    size = -(-len(plain) // (slips + 1))
    return any(plain[at : at + size] in page_plain for at in range(0, len(plain), size))


def _ends_clean(text: str, start: int, end: int) -> bool:
    """A match that starts or ends with a digit is not a part of a longer number."""

    def joined(inner: str, outer: str, beyond: str) -> bool:
        return inner.isdigit() and (outer.isdigit() or (outer in _KEPT_IN_NUMBERS and outer != "" and beyond.isdigit()))

    before, farther = text[max(0, start - 1) : start], text[max(0, start - 2) : max(0, start - 1)]
    after, later = text[end : end + 1], text[end + 1 : end + 2]
    return not (joined(text[start], before, farther) or joined(text[end - 1], after, later))


def _nearly(text: str, needle: str, slips: int) -> bool:
    """Approximate substring search (Sellers 1980), remembering where each match starts.

    Crossing a line break costs nothing; touching a digit, or what joins digits, costs more than any allowance.
    """
    never = slips + 1

    def weight(char: str) -> int:
        if char == BREAK:
            return 0
        return never if char.isdigit() or char in _KEPT_IN_NUMBERS else 1

    column = [(0, 0)]  # (cost, start) of the best match of needle[:i] that ends before text[0]
    for i, char in enumerate(needle, 1):
        column.append((column[i - 1][0] + weight(char), 0))
    for end, seen in enumerate(text, 1):
        nxt = [(0, end)]
        for i, char in enumerate(needle, 1):
            swap = 0 if char == seen else max(weight(char), weight(seen), 1)
            inside_number = seen == BREAK and char.isdigit() and needle[i : i + 1].isdigit()
            nxt.append(
                min(
                    (column[i - 1][0] + swap, column[i - 1][1]),
                    (column[i][0] + (never if inside_number else weight(seen)), column[i][1]),
                    (nxt[i - 1][0] + weight(char), nxt[i - 1][1]),
                    key=lambda pair: (pair[0], -pair[1]),
                )
            )
        column = nxt
        cost, start = column[-1]
        if cost <= slips and start < end and seen != BREAK and _ends_clean(text, start, end):
            return True
    return False


def script_share(lines: Sequence[str], language: str) -> tuple[float, int]:
    """Share of the letters of `lines` that are in the language's script (en: Latin, zh: Han), and their number."""
    latin = han = 0
    for char in "".join(lines):
        if not char.isalpha():
            continue
        name = unicodedata.name(char, "")
        latin += name.startswith(("LATIN", "FULLWIDTH LATIN"))
        han += name.startswith(("CJK UNIFIED", "CJK COMPATIBILITY"))
    letters = latin + han
    return ((latin if language == "en" else han) / letters if letters else 0.0), letters
