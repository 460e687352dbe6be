"""What an artifact was before: a line a replaced version, in `history.jsonl` beside its manifest.

A line is the manifest as it was and the figures that were kept of its payload, which is gone. It is written before the
manifest is replaced, the file as a whole (temporary, fsync, rename): a crash leaves the old file or the new one. A line
that was written when the crash came before the manifest's replacement names the version that still stands; it is known
by its payload and written once. An artifact that was made once has no file: at full size, history costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vvb_resources.errors import StoreError
from vvb_resources.store.atomic import write_text

if TYPE_CHECKING:
    from vvb_resources.store.artifacts import Manifest

HISTORY = "history.jsonl"


@dataclass(frozen=True)
class Past:
    """A version of an artifact, replaced or (the newest) current. `figures`: what was kept of its payload."""

    data_version: str
    code_version: str
    inputs: Mapping[str, str]
    made_at: str
    seconds: float
    summary: Mapping[str, Any]
    figures: Mapping[str, Any]


def remember(folder: Path, manifest: Manifest, figures: Mapping[str, Any]) -> None:
    """Add the manifest that is about to be replaced to the history in `folder`, once."""
    path = folder / HISTORY
    before = path.read_text() if path.exists() else ""
    if any(json.loads(line)["payload"] == manifest.payload for line in before.splitlines()):
        return
    line = json.dumps({**asdict(manifest), "figures": dict(figures)}, ensure_ascii=False, allow_nan=False)
    write_text(path, before + line + "\n")


def past_versions(folder: Path, current: Manifest | None, figures: Mapping[str, Any]) -> list[Past]:
    """Every version of the artifact in `folder`, oldest first, ending with the current one and its `figures`.

    Raises StoreError when the history cannot be read.
    """
    path = folder / HISTORY
    try:
        lines = path.read_text().splitlines() if path.exists() else []
        documents = [json.loads(line) for line in lines]
        found = [_past(document) for document in documents if current is None or document["payload"] != current.payload]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"unreadable history ({error})", where=str(path), remedy="move this file away; what was before is then lost"
        ) from error
    if current is not None:
        found.append(_past({**asdict(current), "figures": dict(figures)}))
    return found


def _past(document: Mapping[str, Any]) -> Past:
    return Past(**{name: document[name] for name in Past.__dataclass_fields__})
