"""What a call costs: tokens by kind times list prices, and the most that a call could cost before it is made.

    usd = (input x p_in + cached x p_cached + cache_write x p_write + (output + thinking) x p_out) x tier / 1e6

`input` counts tokens that were neither read from nor written to a cache; every kind is counted once. Where the whole
prompt is longer than `long_context`, the whole request costs `long_factor` times as much. A price that is not known
makes the cost unknown (None), never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vvb_resources.benchmark.models import Price

TOKEN_KINDS = ("input", "cached", "cache_write", "output", "thinking")

BYTES_PER_TOKEN = 3.5
"""Text: about four ASCII characters, or one Chinese character (three bytes), a token."""
BYTES_PER_TOKEN_WORST = 2.0
MEDIA_MARGIN = 1.25
"""Services count media by formulas of their own; the worst case allows for a quarter more than the estimate."""
OUTPUT_PER_ROW, OUTPUT_BASE = 60, 400


@dataclass(frozen=True)
class Tokens:
    """Tokens of a call: expected, and at most. `output` includes thinking."""

    input: int
    output: int
    input_most: int
    output_most: int


def call_tokens(media_tokens: int, text_bytes: int, rows: int, max_output_tokens: int) -> Tokens:
    """Tokens of a call with `media_tokens` of media, `text_bytes` of text, `rows` checks and dimensions asked.

    `max_output_tokens` is the cap sent with the call; it bounds thinking as well.
    """
    return Tokens(
        input=media_tokens + round(text_bytes / BYTES_PER_TOKEN),
        output=min(max_output_tokens, OUTPUT_BASE + OUTPUT_PER_ROW * rows),
        input_most=round(media_tokens * MEDIA_MARGIN + text_bytes / BYTES_PER_TOKEN_WORST),
        output_most=max_output_tokens,
    )


def cost_usd(price: Price | None, usage: Mapping[str, int]) -> float | None:
    """USD of a call by its `usage` (tokens by the kinds of TOKEN_KINDS); None where a price that counts is unknown.

    A kind without a price of its own costs what `input` costs.
    """
    if price is None or price.input is None or price.output is None:
        return None
    cached = price.input if price.cached is None else price.cached
    write = price.input if price.cache_write is None else price.cache_write
    prompt = sum(usage.get(kind, 0) for kind in ("input", "cached", "cache_write"))
    amount = (
        usage.get("input", 0) * price.input
        + usage.get("cached", 0) * cached
        + usage.get("cache_write", 0) * write
        + (usage.get("output", 0) + usage.get("thinking", 0)) * price.output
    )
    long = price.long_context is not None and prompt > price.long_context
    return amount * price.tier * (price.long_factor if long else 1.0) / 1e6


def expected_usd(price: Price | None, tokens: Tokens) -> float | None:
    """USD of a call as expected, nothing cached; None where the price is unknown."""
    return cost_usd(price, {"input": tokens.input, "output": tokens.output})


def worst_usd(price: Price | None, tokens: Tokens) -> float | None:
    """The most a call can cost: no cache hit, or all of it a dearer cache write, and the whole of the output's cap."""
    costs = [
        cost_usd(price, {kind: tokens.input_most, "output": tokens.output_most}) for kind in ("input", "cache_write")
    ]
    known = [cost for cost in costs if cost is not None]
    return max(known) if len(known) == len(costs) else None
