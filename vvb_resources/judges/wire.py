"""The wire format of a judge's reply: one flat list of checks and one of scores, whatever their number.

A property for each check would give hundreds of properties, which several services refuse ("too many states", "grammar
too large"); ids as plain strings keep the schema the same size for 10 or 110 checks. Services do not enforce ranges or
list lengths, so `reading.py` validates every value again.
"""

from __future__ import annotations

from typing import Any

WIRE_VERSION = "1"

STATUSES = ("pass", "fail", "unknown", "na")
CHANNELS = ("visual", "audio")


def wire_schema() -> dict[str, Any]:
    """JSON Schema of a reply, in the subset that the structured-output modes of the large services share."""

    def nullable(kind: str) -> dict[str, Any]:
        return {"type": [kind, "null"]}

    def closed(properties: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    check = closed(
        {
            "id": {"type": "string"},
            "status": {"type": "string", "enum": list(STATUSES)},
            "start_s": nullable("number"),
            "end_s": nullable("number"),
            "channel": {"type": "string", "enum": list(CHANNELS)},
            "reason": {"type": "string"},
        }
    )
    score = closed(
        {
            "name": {"type": "string"},
            "score": nullable("integer"),
            "reason": {"type": "string"},
            "strengths": {"type": "string"},
            "defects": {"type": "string"},
        }
    )
    return closed({"checks": {"type": "array", "items": check}, "scores": {"type": "array", "items": score}})
