"""What the tables about panels are and what their columns mean."""

from __future__ import annotations

from vvb_resources.judges.pricing import TOKEN_KINDS
from vvb_resources.store.tables import TableSpec

COST_SPEC = TableSpec(
    "Cost of judging",
    {
        "panel": "id of the judge panel",
        "judge": "the judge of the panel",
        "model": "the judge's model",
        "system": "id of the agent system that was judged",
        "runs": "delivered runs judged",
        "replies": "replies the judgments rest on",
        **{f"{kind}_tokens": f"tokens billed as {kind}" for kind in TOKEN_KINDS},
        "usd": "cost of these replies, USD; null while one has no known price",
        "usd_per_run": "usd / runs",
        "reason": "why a value is null",
    },
    {"panel": "Panel", "judge": "Judge", "system": "System", "usd": "USD", "usd_per_run": "USD/run", "reason": "Note"},
    ("panel", "judge", "system", "runs", "replies", "usd", "usd_per_run", "reason"),
)
