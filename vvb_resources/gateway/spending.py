"""The spend limit of one run, held by reservation: what a call may cost is set aside before it is forwarded."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from vvb_resources.benchmark.models import Price
from vvb_resources.gateway.wires import output_cap
from vvb_resources.judges.pricing import BYTES_PER_TOKEN_WORST, Tokens, worst_usd

MEDIA_TOKENS = 6000
"""At most for a picture, whatever its size: services scale them down."""
OUTPUT_TOKENS = 131_072
"""At most for a reply whose request sets no bound."""
_BASE64 = re.compile(r"^(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{2000,}$")


def most_usd(price: Price | None, body: Any, size: int) -> float | None:
    """The most that a call with this request can cost, USD; None where its model has no price."""
    count, media = _media(body)
    most = round((size - media) / BYTES_PER_TOKEN_WORST) + count * MEDIA_TOKENS
    output = output_cap(body) or OUTPUT_TOKENS
    return worst_usd(price, Tokens(input=most, output=output, input_most=most, output_most=output))


def _media(value: Any) -> tuple[int, int]:
    """Number and bytes of the encoded pictures in a request."""
    count = size = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and len(item) > 2000 and _BASE64.match(item):
            count, size = count + 1, size + len(item)
    return count, size


class Spending:
    """What a run has spent, and holds for calls that are under way or ended without telling their usage.

    One event loop uses it. `limit` is USD, None for no limit.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.paid = self.held = 0.0
        self._under_way: dict[int, float] = {}
        self._changed = asyncio.Condition()
        self._next = 0

    async def reserve(self, usd: float) -> int | None:
        """Set `usd` aside and return the entry; None if the limit would be passed even if calls under way were free.

        Waits while only calls under way stand in the way: most cost less than their worst case.
        """
        async with self._changed:
            while self.limit is not None and self._sum() + usd > self.limit:
                if self.paid + self.held + usd > self.limit or not self._under_way:
                    return None
                await self._changed.wait()
            self._next += 1
            self._under_way[self._next] = usd
            return self._next

    async def settle(self, entry: int, usd: float | None) -> None:
        """Enter what a call cost; None: not known, and its worst case stays set aside."""
        async with self._changed:
            most = self._under_way.pop(entry)
            if usd is None:
                self.held += most
            else:
                self.paid += usd
            self._changed.notify_all()

    def _sum(self) -> float:
        return self.paid + self.held + sum(self._under_way.values())
