"""Measure and check one file or delivery, outside the graph: what `vvb l1` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vvb_assets.l1.checks import check_l1
from vvb_resources.benchmark.models import L1Limits, TaskFacts
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.measure import measure


def l1_report(path: Path, spec: TaskFacts, limits: L1Limits, work: Path) -> dict[str, Any]:
    """Measure the MP4 or delivery folder at `path` and check it: `{"facts", "checks", "delivered", "passed"}`.

    `work` is an existing folder for files in passing. A missing or unreadable delivery is a result, not an error.
    Raises MediaError when a tool of ours is missing.
    """
    facts = measure(find_delivery(path), work)
    return {"facts": facts.to_json(), **check_l1(facts, spec, limits).to_json()}
