"""The shipped JSON Schemas are those of the models, and every shipped file points to its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import vvb_resources
from vvb_resources.benchmark.schema import MODELS, schema_path, schema_text

TASK_DATA = Path(vvb_resources.__file__).parents[1] / "task_data"
KINDS = {"tasks/*/task.yaml": "task", "tasks/*/rubric.yaml": "rubric", "systems/*.yaml": "system",
         "panels/*.yaml": "panel", "prices/*.yaml": "prices", "benchmark.yaml": "benchmark"}  # fmt: skip


@pytest.mark.parametrize("kind", MODELS)
def test_shipped_schemas_are_current(kind: str) -> None:
    assert schema_path(kind).read_text(encoding="utf-8") == schema_text(kind)


def test_fields_are_named_as_they_are_written() -> None:
    defs = json.loads(schema_text("rubric"))["$defs"]
    assert {"pass", "fail", "basis"} <= set(defs["Check"]["required"])
    assert "pass_" not in defs["Check"]["properties"]
    assert set(defs["Anchors"]["required"]) == {"1", "3", "5"}
    assert defs["Check"]["additionalProperties"] is False


@pytest.mark.parametrize("benchmark", ["paper", "starter"])
def test_every_shipped_file_names_its_schema(benchmark: str) -> None:
    seen = 0
    for pattern, kind in KINDS.items():
        for path in (TASK_DATA / benchmark).glob(pattern):
            first = path.read_text(encoding="utf-8").splitlines()[0]
            match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
            assert match, f"{path} names no schema"
            assert (path.parent / match.group(1)).resolve() == schema_path(kind).resolve()
            seen += 1
    assert seen >= 8
