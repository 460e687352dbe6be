"""What the stand-in answers: a row for every id that the prompt asks for, decided by the id alone."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

STATUSES = ("pass", "fail", "unknown", "na")


def asked(prompt: str) -> tuple[list[str], list[str]]:
    """Ids in the prompt's fenced checks and names in its fenced dimensions, in order."""
    return _fenced(prompt, "checks", "id"), _fenced(prompt, "dimensions", "name")


def _fenced(prompt: str, name: str, field: str) -> list[str]:
    found = re.findall(rf"^<{name}>\n(.*?)^</{name}>$", prompt, re.DOTALL | re.MULTILINE)
    return [json.loads(line)[field] for block in found for line in block.splitlines() if line.strip()]


def answer(prompt: str) -> str:
    """The wire format for everything that is asked."""
    checks, dims = asked(prompt)
    rows: dict[str, Any] = {
        "checks": [
            {
                "id": i,
                "status": status_of(i),
                "start_s": 1.0,
                "end_s": 2.5,
                "channel": "visual",
                "reason": f"the stand-in looked at {i}",
            }
            for i in checks
        ],
        "scores": [
            {"name": n, "score": score_of(n), "reason": "as decided", "strengths": "", "defects": ""} for n in dims
        ],
    }
    return json.dumps(rows)


def status_of(check: str) -> str:
    """The stand-in's verdict on a check."""
    return STATUSES[_number(check) % 4]


def score_of(dim: str) -> int:
    """The stand-in's score of a dimension, 1 to 5."""
    return 1 + _number(dim) % 5


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def text_tokens(text: str) -> int:
    """Tokens of a text as the stand-in bills them: four bytes each."""
    return -(-len(text.encode()) // 4)
