"""Finding a quote in a text regardless of layout, and asking what kind of sentence it stands in."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_QUOTES = str.maketrans(dict.fromkeys('"“”„«»‘’‚´「」『』', "'") | dict.fromkeys("‐‑‒–—―−", "-"))
_EMPHASIS = re.compile(r"[*_#\\`]")
_SPACE = re.compile(r"\s+")
# A sentence ends at a full stop before a space, at . ! ? ; of Chinese, at ';', and at a line that begins a new block.
_BREAK = re.compile(
    r"(?<![ .(][a-zA-Z]\.[a-zA-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?](?=[\"'”’)*_]*\s)"
    r"|[;。！？；]|\n(?=\s*\n|\s*[-*+#|>]|\s*\d+[.)]\s)"
)
# 'e.g.' makes only what follows it an example; the other words make their whole sentence a permission.
_EXAMPLE = re.compile(r"\be\.g\b|\bfor example\b|\bfor instance\b|例如|比如", re.IGNORECASE)
_OPTIONAL = re.compile(r"\b(?:may|optional|optionally)\b|\b[Cc]ould\b|可以|可选")
_FORBIDS = re.compile(
    r"\b(?:may|could) (?:not|only|never)\b|不可以|只可以|仅可以"
    r"|\b(?:no|not|nothing|none|neither|nor|never|only|at most|no more than)\b[^.;,]*\b(?:may|could)\b",
    re.IGNORECASE,
)


def compact(text: str) -> str:
    """What quotes are compared by: `text` without spaces, case, width, kind of quotes and dashes, Markdown emphasis."""
    return _SPACE.sub("", _EMPHASIS.sub("", unicodedata.normalize("NFKC", text).translate(_QUOTES))).casefold()


def words(text: str) -> int:
    """Words of a text; each Chinese character counts as one."""
    chinese = len(re.findall(r"[\u3400-\u9fff]", text))
    return chinese + len(re.findall(r"[^\W\u3400-\u9fff]+(?:['’\-][^\W\u3400-\u9fff]+)*", text))


def optional_part(sentence: str) -> str:
    """The part of a sentence that permits or exemplifies rather than demands; '' if none. A prohibition is a demand."""
    if _OPTIONAL.search(sentence) and not _FORBIDS.search(sentence):
        return sentence
    example = _EXAMPLE.search(sentence)
    return sentence[example.start() :] if example else ""


@dataclass(frozen=True)
class Sentence:
    """A sentence as written, its first line (1-based), and where its compact form begins in the whole's."""

    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class QuotableText:
    """A text a basis may quote: the prompt, the spec, or a text asset."""

    name: str
    text: str

    @cached_property
    def compact(self) -> str:
        """The whole text in compact form: the join of its sentences' compact forms."""
        return "".join(compact(sentence.text) for sentence in self.sentences)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences in order; list items and table rows end one too."""
        return tuple(self._split())

    def _split(self) -> Iterator[Sentence]:
        begin, reach, line = 0, 0, 1
        for end in [match.end() for match in _BREAK.finditer(self.text)] + [len(self.text)]:
            piece = self.text[begin:end]
            lead = len(piece) - len(piece.lstrip())
            size = len(compact(piece))
            if size:
                yield Sentence(piece.strip(), line + piece.count("\n", 0, lead), reach, reach + size)
            begin, reach, line = end, reach + size, line + piece.count("\n")

    def quotes(self, quote: str) -> bool:
        """Does the text hold `quote` verbatim, layout aside."""
        return compact(quote) in self.compact

    def only_optional(self, quote: str) -> Sentence | None:
        """The first sentence that holds `quote`, if wherever it stands it is a permission or an example."""
        wanted, first, at = compact(quote), None, -1
        while wanted and (at := self.compact.find(wanted, at + 1)) >= 0:
            held = [s for s in self.sentences if s.start < at + len(wanted) and at < s.end]
            soft = []
            for sentence in held:
                part = compact(optional_part(sentence.text))
                # The optional part is the sentence's tail: does the quote reach into it.
                if part and at + len(wanted) > sentence.end - len(part):
                    soft.append(sentence)
            if not soft:
                return None
            first = first or soft[0]
        return first

    def nearest(self, quote: str) -> Sentence | None:
        """The sentence most like `quote`, if one is at all."""
        wanted, best, best_ratio = compact(quote), None, 0.5
        for sentence in self.sentences:
            matcher = difflib.SequenceMatcher(None, compact(sentence.text), wanted, autojunk=False)
            if matcher.real_quick_ratio() > best_ratio and matcher.ratio() > best_ratio:
                best, best_ratio = sentence, matcher.ratio()
        return best
