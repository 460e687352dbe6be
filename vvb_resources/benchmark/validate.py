"""A YAML source as a model, and a model's complaints as problems a person can mend."""

from __future__ import annotations

import difflib
import json
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from vvb_resources.benchmark.files import Refused
from vvb_resources.benchmark.problems import Problem
from vvb_resources.benchmark.yaml_source import YamlSource

M = TypeVar("M", bound=BaseModel)
_KINDS = {
    "bool_type": "true or false",
    "dict_type": "fields (name: value)",
    "float_type": "a number",
    "int_type": "a whole number",
    "model_type": "fields (name: value)",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
}


def parse(source: YamlSource, model: type[M]) -> M:
    """The file as a `model`, strictly: "30" is no number, 30 is no text.

    Raises Refused with every problem of the file.
    """
    if not isinstance(source.value, dict):
        raise Refused(
            Problem(source.name, 1, "the file must hold fields (name: value)", "see docs/benchmark_folder.md")
        )
    try:
        # JSON mode: a YAML list may become a tuple and text a date, yet nothing else is converted.
        return model.model_validate_json(
            json.dumps(source.value, ensure_ascii=False), strict=True, by_alias=True, by_name=False
        )
    except ValidationError as error:
        raise Refused(*_problems(source, model, error.errors(include_url=False))) from error


def _problems(source: YamlSource, model: type[BaseModel], errors: list[ErrorDetails]) -> list[Problem]:
    missing = {e["loc"] for e in errors if e["type"] == "missing"}
    problems, mistyped = [], set()
    for error in errors:
        if error["type"] == "extra_forbidden":
            near = _nearest(model, error["loc"])
            if near and (*error["loc"][:-1], near) in missing:
                mistyped.add((*error["loc"][:-1], near))  # one slip of the pen, one problem
            problems.append(_unknown(source, model, error["loc"], near))
        elif error["type"] == "too_short" and any(
            inner["loc"][:-1][: len(error["loc"])] == error["loc"] for inner in errors
        ):
            continue  # short only because its items are faulty: they are reported
        elif error["type"] != "missing":
            problems.append(_other(source, error))
    for loc in missing - mistyped:
        field = loc[-1]
        what = f"{_name(loc)} is missing"
        problems.append(source.problem(loc, what, f"add `{field}:` here"))
    return problems


def _unknown(source: YamlSource, model: type[BaseModel], loc: tuple[str | int, ...], near: str | None) -> Problem:
    known = ", ".join(sorted(fields_at(model, loc[:-1])))
    remedy = f"did you mean `{near}`?" if near else f"remove it; the fields here are {known}"
    return source.problem(loc, f"unknown field {_name(loc)}", remedy)


def _nearest(model: type[BaseModel], loc: tuple[str | int, ...]) -> str | None:
    close = difflib.get_close_matches(str(loc[-1]), sorted(fields_at(model, loc[:-1])), n=1, cutoff=0.6)
    return close[0] if close else None


def _other(source: YamlSource, error: ErrorDetails) -> Problem:
    loc, kind, context = error["loc"], error["type"], error.get("ctx", {})
    given = _shown(error["input"])
    if kind in _KINDS:
        return source.problem(loc, f"{_name(loc)} must be {_KINDS[kind]}, not {given}", f"write {_KINDS[kind]}")
    if kind == "value_error":
        what = str(context.get("error", error["msg"]))
        return source.problem(loc, f"{_name(loc)}: {what}" if loc else what, "change the values so that they agree")
    if kind in ("literal_error", "union_tag_invalid"):
        expected = context.get("expected") or context.get("expected_tags")
        if kind == "union_tag_invalid":
            loc, given = (*loc, "kind"), repr(context.get("tag"))
        return source.problem(loc, f"{_name(loc)} is {given}, which is none of the choices", f"use one of {expected}")
    if kind == "union_tag_not_found":
        return source.problem(loc, f"{_name(loc)} has no kind", "add `kind:`; see docs/benchmark_folder.md")
    if kind == "string_pattern_mismatch":
        return source.problem(
            loc, f"{_name(loc)} {given} has an illegal form", f"write it in the form {context.get('pattern')}"
        )
    if kind == "string_too_short":
        return source.problem(loc, f"{_name(loc)} is empty", "fill it in")
    if kind == "too_short":
        least = context.get("min_length", 1)
        return source.problem(loc, f"{_name(loc)} has too few items", f"it needs at least {least}")
    message = error["msg"][:1].lower() + error["msg"][1:]
    return source.problem(loc, f"{_name(loc)} is {given}", message)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "fields"
    if isinstance(value, list | tuple):
        return "a list"
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _name(loc: tuple[str | int, ...]) -> str:
    """`checks[3].probe.window` of a location."""
    name = ""
    for part in loc:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return f"`{name}`" if name else "the file"


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def fields_at(model: type[BaseModel], loc: tuple[str | int, ...]) -> frozenset[str]:
    """Names of the fields allowed at `loc` of `model`'s files, as they are written there."""
    schema = _schema(model)
    here: dict[str, Any] = schema
    for part in loc:
        here = _step(schema, _resolve(schema, here), part)
    return frozenset(_resolve(schema, here).get("properties", {}))


def _resolve(schema: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Follow references and the branch of `X | null` that is X."""
    while True:
        if "$ref" in here:
            here = schema["$defs"][here["$ref"].rsplit("/", 1)[-1]]
        elif "anyOf" in here:
            here = next(branch for branch in here["anyOf"] if branch.get("type") != "null")
        else:
            return here


def _step(schema: dict[str, Any], here: dict[str, Any], part: str | int) -> dict[str, Any]:
    mapping = here.get("discriminator", {}).get("mapping", {})
    if part in mapping:  # pydantic puts a union's branch into the location
        return _resolve(schema, {"$ref": mapping[part]})
    if isinstance(part, int):
        return dict(here.get("items", {}))
    extra = here.get("additionalProperties")
    return dict(here.get("properties", {}).get(part, extra if isinstance(extra, dict) else {}))
