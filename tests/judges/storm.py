"""A storm: many judgments at once against a faulty service. Also a program, so that it can be killed.

The faults follow from the judgment's number and from how many calls it has made, so that the number of paid calls of an
undisturbed storm can be worked out without running it (`undisturbed`).
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.judges.models import LIMITS, make_desk, make_panel
from tests.judges.shapes import make_rubric, make_spec
from tests.standin.shapes import Fault
from vvb_assets.panels.judging import judge_run
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.media.blinding import BlindedMedia

AT_ONCE = 64
FAULTS = (
    Fault("status", 429, {"retry-after": "0.3"}),
    Fault("status", 429),
    Fault("status", 500),
    Fault("status", 503),
    Fault("drop"),
    Fault("drop_mid"),
    Fault("truncate"),
    Fault("slow", seconds=0.2),
)
PANEL = make_panel(
    "google", limits={**LIMITS, "concurrency": AT_ONCE, "timeout_s": 60, "upload_s": 1, "tries": 20, "backoff_s": 0.02}
)


def plan(route: str, marker: str, n: int) -> Fault | None:
    """A fifth of the first three questions about a video meets a fault; one upload in fifty sticks."""
    if route == "gemini.chunk":
        return Fault("stuck") if n % 50 == 7 else None
    if route != "gemini.generate" or n > 2:
        return None
    number = int(hashlib.sha256(f"{marker}:{n}".encode()).hexdigest(), 16)
    if number % 5:
        return None
    fault = FAULTS[number // 5 % len(FAULTS)]
    return None if fault.kind == "truncate" and n else fault


def undisturbed(count: int) -> int:
    """Paid calls of a storm that nothing disturbs: a cut or half-sent answer is paid, a refusal is not."""
    paid = 0
    for marker in map(str, range(count)):
        n = 0
        while True:
            fault = plan("gemini.generate", marker, n)
            kind = fault.kind if fault else "none"
            paid += kind not in ("status", "drop")
            n += 1
            if kind in ("none", "slow"):
                break
    return paid


def storm(root: Path, media: BlindedMedia, count: int) -> list[str]:
    """Judge `count` videos, 64 at once; returns the marks of those that are complete. Exceptions come through."""
    desk, store, cache = make_desk(root), ReplyStore(root / "replies"), ObservationCache(root / "seen")

    def one(number: int) -> str | None:
        video = replace(media, digest=f"{number:032x}")
        prompt = f"Task [[marker: {number}]]"
        judgment = judge_run(PANEL, make_rubric(), make_spec(), prompt, video, store, cache, desk=desk)
        return str(number) if judgment.complete else None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [mark for mark in pool.map(one, range(count)) if mark]


if __name__ == "__main__":
    folder, video, total = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    done = storm(folder, BlindedMedia.load(video), total)
    (folder / "done.json").write_text(json.dumps(done))
    os._exit(0)
