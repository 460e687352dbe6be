"""JSON Schemas of the benchmark's files, so that editors complete and check them.

`python -m vvb_resources.benchmark.schema` writes them anew after a change of the models.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from vvb_resources.benchmark.models import BenchmarkConfig, PanelConfig, PriceList, Rubric, SystemConfig, TaskSpec
from vvb_resources.store.atomic import write_text

SCHEMA_DIR = Path(__file__).parent / "schemas"
MODELS: dict[str, type[BaseModel]] = {
    "task": TaskSpec,
    "rubric": Rubric,
    "system": SystemConfig,
    "panel": PanelConfig,
    "prices": PriceList,
    "benchmark": BenchmarkConfig,
}


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one kind of file, with field names as they are written there.

    Raises KeyError for an unknown kind; the kinds are the keys of `MODELS`.
    """
    schema = MODELS[kind].model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": f"VibeVideoBench {kind}"}


def schema_text(kind: str) -> str:
    """The schema as it is shipped; the order of fields is the models', which editors offer them in."""
    return json.dumps(schema_of(kind), ensure_ascii=False, indent=1) + "\n"


def schema_path(kind: str) -> Path:
    """Where the schema of `kind` is shipped."""
    return SCHEMA_DIR / f"{kind}.schema.json"


def write_schemas() -> tuple[Path, ...]:
    """Write every schema; returns their paths."""
    for kind in MODELS:
        write_text(schema_path(kind), schema_text(kind))
    return tuple(schema_path(kind) for kind in MODELS)


if __name__ == "__main__":
    for written in write_schemas():
        print(written)
