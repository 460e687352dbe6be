"""Export in the Agent Trajectory Interchange Format (ATIF), the open format of the Harbor runner.

Written to version 1.7 of its specification: no field of ours needs a later one. What ATIF has no field for (reasoning
and cache-write tokens, completeness) goes into its `extra` fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vvb_resources.benchmark.models import Price
from vvb_resources.harnesses.trajectory.types import Step, Tokens, Trajectory
from vvb_resources.judges.pricing import cost_usd

VERSION = "ATIF-v1.7"


def to_atif(trajectory: Trajectory, prices: Mapping[str, Price]) -> dict[str, Any]:
    """The ATIF document of a trajectory. ATIF has no trajectory without a step: an empty log gets a system step."""
    steps = [_step(number, step, prices) for number, step in enumerate(trajectory.steps, 1)]
    models = list(trajectory.by_model)
    return _given(
        schema_version=VERSION,
        session_id=trajectory.session,
        agent=_given(
            name=trajectory.harness.replace("_", "-"),
            version=trajectory.harness_version or "unknown",
            model_name=models[0] if models else None,
        ),
        steps=steps or [{"step_id": 1, "source": "system", "message": "the log holds no step"}],
        notes="; ".join(trajectory.problems) or None,
        final_metrics=_given(
            total_prompt_tokens=trajectory.totals.prompt,
            total_completion_tokens=trajectory.totals.output,
            total_cached_tokens=trajectory.totals.cached,
            total_cost_usd=trajectory.usd(prices),
            total_steps=len(steps) or 1,
            extra=_extra(trajectory.totals),
        ),
        extra={"complete": trajectory.complete, "images_viewed": trajectory.images_viewed},
    )


def _step(number: int, step: Step, prices: Mapping[str, Price]) -> dict[str, Any]:
    agent = step.source == "agent"
    own = {call.id for call in step.tool_calls}
    results = [_given(source_call_id=r.id if r.id in own else None, content=r.text) for r in step.results]
    tokens = step.tokens if agent else None
    metrics = tokens and _given(
        prompt_tokens=tokens.prompt,
        completion_tokens=tokens.output,
        cached_tokens=tokens.cached,
        cost_usd=cost_usd(prices.get(step.model or ""), tokens.by_price()),
        extra=_extra(tokens),
    )
    calls = [
        {"tool_call_id": call.id, "function_name": call.name, "arguments": _arguments(call.arguments)}
        for call in step.tool_calls
    ]
    return _given(
        step_id=number,
        timestamp=step.at,
        source=step.source,
        model_name=step.model if agent else None,
        message=step.message,
        reasoning_content=(step.reasoning or None) if agent else None,
        tool_calls=(calls or None) if agent else None,
        observation={"results": results} if results else None,
        metrics=metrics,
    )


def _arguments(text: str) -> dict[str, Any]:
    """Arguments as an object; a text that is none is kept under one name."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"text": text}


def _extra(tokens: Tokens) -> dict[str, int]:
    return {"reasoning_tokens": tokens.reasoning, "cache_creation_tokens": tokens.cache_creation}


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that are not None: ATIF leaves unknown ones out."""
    return {name: value for name, value in fields.items() if value is not None}
