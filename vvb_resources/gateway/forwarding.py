"""One call on its way to the service and back: the key added, the reply passed on as it comes, all of it logged.

Replies pass unchanged, whatever their status; only from errors the key is taken out, should they repeat it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError, web

from vvb_resources.gateway.calls import Outcome
from vvb_resources.gateway.journal import Redactor, ReplyFile
from vvb_resources.gateway.usage import UsageReader
from vvb_resources.gateway.wires import error_body
from vvb_resources.judges.pricing import cost_usd

if TYPE_CHECKING:
    from vvb_resources.gateway.server import Service

MAX_ERROR = 1 << 20
HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
NOT_FORWARDED = HOP | {
    "host",
    "content-length",
    "accept-encoding",
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "cookie",
    "expect",
}
NOT_RETURNED = HOP | {"content-length", "set-cookie"}


class ForwardedCall:
    """One forwarded call: its state while it runs, and its end, which is written whatever happens."""

    def __init__(self, service: Service, request: web.Request, model: str | None, billed: bool) -> None:
        self.service, self.request, self.model, self.billed = service, request, model, billed
        self.number = 0
        self.outcome: Outcome = "cut_by_end"
        self.status: int | None = None
        self.usage: UsageReader | None = None
        self.bytes, self.digest, self.began = 0, hashlib.sha256(), time.monotonic()
        self.file: ReplyFile | None = None

    async def run(self, number: int, path: str, raw: bytes) -> web.StreamResponse:
        """Forward the request, which the log has as `number`, and pass the reply on."""
        self.number = number
        settings, form = self.service.settings, self.service.format
        headers = {k: v for k, v in self.request.headers.items() if k.lower() not in NOT_FORWARDED}
        headers |= {form.key_header: form.key_prefix + settings.key, "accept-encoding": "identity"}
        query = {k: v for k, v in self.request.query.items() if k != "key"}
        url = (settings.endpoint or form.endpoint).rstrip("/") + path
        assert self.service.session is not None
        remaining = max(0.1, settings.deadline - time.time())
        try:
            async with asyncio.timeout(remaining):
                async with self.service.session.request(
                    self.request.method, url, params=query, data=raw or None, headers=headers, allow_redirects=False
                ) as reply:
                    return await self._pass_on(reply)
        except TimeoutError:
            if time.time() >= settings.deadline - 0.05:
                self._cut("cut_by_end")
                raise
            return await self._unreachable("no connection in time")
        except ClientError as error:
            if self.status is None:
                return await self._unreachable(type(error).__name__)
            self._cut("cut_by_service")
            self._abort()
            raise
        except ConnectionResetError:
            self._cut("cut_by_agent")
            raise
        except asyncio.CancelledError:
            gone = self.request.transport is None or self.request.transport.is_closing()
            self._cut("cut_by_agent" if gone else "cut_by_end")
            raise

    async def _pass_on(self, reply: Any) -> web.StreamResponse:
        self.status = reply.status
        journal = self.service.journal
        self.file = journal.reply(self.number)
        await asyncio.to_thread(journal.write, "reply", call=self.number, status=reply.status)
        headers = {k: v for k, v in reply.headers.items() if k.lower() not in NOT_RETURNED}
        if reply.status >= 400:  # an error may repeat the key
            body = await reply.content.read(MAX_ERROR)
            body = Redactor(self.service.settings.key.encode()).pass_on(body, last=True)
            await self._keep(body)
            self.outcome = "error"
            return web.Response(status=reply.status, body=body, headers=headers)
        self.usage = UsageReader(
            self.service.settings.wire, reply.headers.get("content-type", ""), reply.headers.get("content-encoding")
        )
        response = web.StreamResponse(status=reply.status, headers=headers)
        if "content-length" in reply.headers:
            response.content_length = int(reply.headers["content-length"])
        await response.prepare(self.request)
        async for data in reply.content.iter_any():
            await self._keep(data)
            self.usage.feed(data)
            if self.usage.finished or self.bytes == response.content_length:
                self._whole()  # before the agent has it: it may close the connection at once
            await response.write(data)
        self._whole()
        await response.write_eof()
        return response

    def _whole(self) -> None:
        """The reply is over, or says that it is. A stream that ends without its last event was cut by the service."""
        assert self.usage is not None
        self.usage.end()
        if self.usage.failed:
            self.outcome = "error"
        else:
            self.outcome = "done" if self.usage.finished or not self.billed else "cut_by_service"

    def _cut(self, outcome: Outcome) -> None:
        """The reply breaks off; one that was whole stays so."""
        if self.outcome != "done":
            self.outcome = outcome

    async def _keep(self, data: bytes) -> None:
        """Write a piece of the reply to the log before it is passed on."""
        self.bytes += len(data)
        self.digest.update(data)
        if self.file is not None:
            await asyncio.to_thread(self.file.write, data)

    async def _unreachable(self, what: str) -> web.Response:
        self.outcome = "unreachable"
        message = f"the model's service cannot be reached ({what})"
        return web.json_response(error_body(self.service.settings.wire, 502, message), status=502)

    def _abort(self) -> None:
        """Break the connection, so that a cut reply is never taken for a whole one."""
        if self.request.transport is not None:
            self.request.transport.abort()

    async def finish(self, number: int, entry: int) -> None:
        """Settle the money and write the last event. The call may have ended before it was forwarded."""
        settings = self.service.settings
        tokens = self.usage.tokens if self.usage else None
        if self.outcome in ("error", "unreachable") and tokens is None:
            usd: float | None = 0.0
        else:
            usd = cost_usd(settings.prices.get(self.model or ""), tokens.by_price()) if tokens else None
        usd = usd if self.billed else 0.0
        await self.service.spending.settle(entry, None if self.outcome.startswith("cut") else usd)
        if self.file is not None:
            await asyncio.to_thread(self.file.close)
        await asyncio.to_thread(
            self.service.journal.write,
            "end",
            call=number,
            status=self.status,
            outcome=self.outcome,
            bytes=self.bytes,
            sha256=self.digest.hexdigest(),
            tokens=tokens.model_dump() if tokens else None,
            usd=usd,
            seconds=round(time.monotonic() - self.began, 3),
        )
