"""YAML 1.2 with line numbers: plain values for the models, and the line of any field for messages.

The text is composed to nodes (ruamel.yaml) and the nodes are read here, so that every repeated key of a file is
reported, no object of a tag is ever built, dates stay text, and aliases cannot blow a small file up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from vvb_resources.benchmark.files import Refused, read_text, relative_name
from vvb_resources.benchmark.parse_cache import current_cache
from vvb_resources.benchmark.problems import Problem
from vvb_resources.store.digests import digest_bytes

MAX_VALUES = 200_000  # after aliases; a rubric of 110 checks has about 2,000
MAX_DEPTH = 40
_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + "str", _TAG + "timestamp"}  # the models parse dates themselves

Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlSource:
    """A parsed file: `name` relative to the benchmark root, its `text`, its plain `value`, and lines of its fields.

    A value that comes from the parse cache has no lines yet; the text is parsed for them when a message needs one.
    """

    name: str
    text: str
    value: Any
    parsed_lines: dict[Path_, int] | None = field(repr=False)

    @cached_property
    def lines(self) -> dict[Path_, int]:
        """1-based line of each field, by its path."""
        return self.parsed_lines if self.parsed_lines is not None else parse_yaml(self.text, self.name).lines

    def line_of(self, path: Path_) -> int:
        """1-based line of the field at `path` (a model's `loc`).

        Parts of `path` that are not in the file (a missing field, the name of a union's branch) are passed over, so
        the answer is the line of the nearest field around it; the top of the file for ().
        """
        known: Path_ = ()
        for part in path:
            if (*known, part) in self.lines:
                known = (*known, part)
        return self.lines.get(known, 1)

    def problem(self, path: Path_, what: str, remedy: str) -> Problem:
        """A problem at the line of the field at `path`."""
        return Problem(self.name, self.line_of(path), what, remedy)


def read_yaml(root: Path, path: Path, within: Path | None = None) -> YamlSource:
    """Read `path` of the benchmark at `root`, through the parse cache where one is at work; see `parse_yaml`.

    Raises Refused with every problem found.
    """
    text, name = read_text(root, path, within), relative_name(root, path)
    known = current_cache()
    if known is None:
        return parse_yaml(text, name)
    value = known.get(text)
    if value is not None:
        return YamlSource(name, text, value, None)
    source = parse_yaml(text, name)
    known.put(text, source.value)
    return source


@cache
def parser_version() -> str:
    """Digest of this module and of the YAML library's version: what a parsed value hangs on beside the text."""
    return digest_bytes(Path(__file__).read_bytes() + version("ruamel.yaml").encode())


def parse_yaml(text: str, name: str) -> YamlSource:
    """Values and lines of one YAML 1.2 document.

    Raises Refused: bad syntax, more than one document, a YAML 1.1 directive, repeated keys (one problem each), keys
    that are no plain text, unknown tags, numbers that are not finite, too many values.
    """
    if any(line.startswith("%YAML") and "1.2" not in line for line in text.splitlines()):
        raise Refused(Problem(name, 1, "asks for another YAML version", "remove the %YAML line; files are YAML 1.2"))
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        character = text[error.position : error.position + 1]
        raise Refused(Problem(name, line, f"holds the character {character!r}", "remove it")) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if error.context_mark and "end of stream" in str(error.problem):
            mark = error.context_mark  # a quote that never closes is to blame where it opens
        line = min(mark.line + 1, max(1, len(text.splitlines()))) if mark else 1
        detail = " ".join(str(error.problem or error.context).split())
        if error.context and error.context_mark and error.context_mark.line + 1 != line:
            detail += f", {error.context} that began on line {error.context_mark.line + 1}"
        raise Refused(
            Problem(name, line, f"bad YAML: {detail}", "mend the syntax; quote text with ':' or '#'")
        ) from error
    except (YAMLError, RecursionError) as error:
        raise Refused(Problem(name, None, f"bad YAML: {type(error).__name__}", "mend the syntax")) from error
    if node is None:
        raise Refused(Problem(name, None, "the file is empty", "fill it in"))
    reader = _Reader(name, yaml)
    value = reader.read(node, (), 0)
    if reader.problems:
        raise Refused(*reader.problems)
    return YamlSource(name, text, value, reader.lines)


class _Reader:
    """Nodes to plain values; collects lines and problems."""

    def __init__(self, name: str, yaml: YAML) -> None:
        self.name, self.yaml = name, yaml
        self.lines: dict[Path_, int] = {}
        self.problems: list[Problem] = []
        self.values = 0

    def read(self, node: Node, path: Path_, depth: int) -> Any:
        """The value of `node`, which lies at `path`."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        self.values += 1
        if depth > MAX_DEPTH or self.values > MAX_VALUES:
            raise Refused(
                self._problem(node, "is nested too deep or repeats too much by aliases", "write the values out")
            )
        if isinstance(node, MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, SequenceNode):
            return [self.read(item, (*path, place), depth + 1) for place, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, path: Path_, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self.problems.append(self._problem(key_node, "a field's name must be plain text", "name the field"))
                continue
            key = str(key_node.value)
            if key in values:
                first = self.lines[(*path, key)]
                self.problems.append(
                    self._problem(key_node, f"{key!r} is given twice (first on line {first})", "keep one of the two")
                )
                continue
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            values[key] = self.read(value_node, (*path, key), depth + 1)
        return values

    def _scalar(self, node: Node) -> Any:
        tag = str(node.tag)
        if tag in _TEXT_TAGS:
            return node.value
        try:
            if tag not in {_TAG + kind for kind in ("null", "bool", "int", "float")}:
                raise ValueError(tag)
            value = self.yaml.constructor.construct_object(node)
        except (ValueError, OverflowError, YAMLError):
            self.problems.append(self._problem(node, f"{node.value!r} has an unknown tag or form", "write plain text"))
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self.problems.append(self._problem(node, f"{node.value} is not a finite number", "give a finite number"))
            return None
        return float(value) if isinstance(value, float) else value

    def _problem(self, node: Node, what: str, remedy: str) -> Problem:
        return Problem(self.name, node.start_mark.line + 1, what, remedy)
