"""The gateway's HTTP service: checks a call, adds the key, passes the reply on as it comes, and logs all of it.

What the agent may do is decided here and nowhere else: the token of its run, the calls of its wire format, its models,
its deadline, its spend limit. What it is refused it is told in its service's own form with status 403 (not to be tried
again), and the log says why. Replies of the service pass unchanged, whatever their status.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, web

from vvb_resources.benchmark.models import Price, Wire
from vvb_resources.gateway.calls import Outcome, WhyRefused
from vvb_resources.gateway.journal import Journal, Redactor, ReplyFile
from vvb_resources.gateway.spending import Spending, most_usd
from vvb_resources.gateway.usage import UsageReader
from vvb_resources.gateway.wires import WIRES, error_body, model_of
from vvb_resources.judges.pricing import cost_usd

MAX_REQUEST = 32 << 20
AT_ONCE = 32
"""Calls that are dealt with at once; further ones wait. With MAX_REQUEST it bounds what an agent can make this hold."""
MAX_ERROR = 1 << 20
BLOCK = 1 << 16
CONNECT_S = 30.0
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


@dataclass(frozen=True)
class GatewaySettings:
    """What a run's gateway has to know. `deadline` is Unix time; `usd` None for no limit; prices by model name.

    `endpoint` is the service's base URL, None for the maker's own; `models` are those that may be called.
    """

    wire: Wire
    key: str = field(repr=False)
    token: str = field(repr=False)
    models: frozenset[str]
    deadline: float
    endpoint: str | None = None
    usd: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)


class _Refused(Exception):
    """A call that is not let through."""

    def __init__(self, why: WhyRefused, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.why, self.message, self.status = why, message, status


class Service:
    """The service of one run; lives in one event loop."""

    def __init__(self, settings: GatewaySettings, journal: Journal) -> None:
        self.settings, self.journal = settings, journal
        self.format = WIRES[settings.wire]
        self.spending = Spending(settings.usd)
        self.session: ClientSession | None = None
        self.endings: set[asyncio.Task[None]] = set()
        self.room = asyncio.Semaphore(AT_ONCE)

    def app(self) -> web.Application:
        """The application; every path leads to one handler."""
        app = web.Application(client_max_size=MAX_REQUEST)
        app.router.add_route("*", "/{path:.*}", self.handle)
        app.cleanup_ctx.append(self._client)
        return app

    async def _client(self, app: web.Application) -> Any:
        timeout = ClientTimeout(total=None, sock_connect=CONNECT_S)
        async with ClientSession(
            connector=TCPConnector(limit=64), timeout=timeout, auto_decompress=False, trust_env=True
        ) as session:
            self.session = session
            yield

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call from beginning to end, as soon as there is room for it."""
        async with self.room:
            return await self._handle(request)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            path, billed = self._let_through(request)
            raw = await self._body(request)
            body = _json(request, raw)
            model = self._model(path, body, billed)
            most = most_usd(self.settings.prices.get(model or ""), body, len(raw)) if billed else 0.0
            entry = await self._reserve(most)
        except _Refused as refused:
            await asyncio.to_thread(
                self.journal.write, "refused", why=refused.why, status=refused.status, path=request.path[:500]
            )
            return web.json_response(
                error_body(self.settings.wire, refused.status, refused.message), status=refused.status
            )
        number = await asyncio.to_thread(
            self.journal.request, raw, method=request.method, path=path, model=model, billed=billed, most_usd=most
        )
        call = _Call(self, request, number, model, billed)
        try:
            return await call.run(path, raw)
        finally:
            # A handler is cancelled when its client goes away; the end of a call is written all the same.
            ending = asyncio.create_task(call.finish(entry))
            self.endings.add(ending)
            ending.add_done_callback(self.endings.discard)
            await asyncio.shield(ending)

    async def ended(self) -> None:
        """Wait until the end of every call is written."""
        while self.endings:
            await asyncio.wait(set(self.endings))

    def _let_through(self, request: web.Request) -> tuple[str, bool]:
        """(path after the wire's prefix, is the call billed). Raises _Refused."""
        if not hmac.compare_digest(_token(request).encode(), self.settings.token.encode()):
            raise _Refused("token", "this is not the token of the run", 401)
        prefix, path = self.format.prefix, request.path
        rest = path[len(prefix) :] if path.startswith(prefix) else None
        billed = self.format.billed(request.method, rest) if rest is not None else None
        if rest is None or billed is None:
            raise _Refused("path", "the gateway lets only calls of the agent's own model through", 404)
        if time.time() >= self.settings.deadline:
            raise _Refused("deadline", "the deadline of this run has passed")
        return rest, billed

    async def _body(self, request: web.Request) -> bytes:
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            raise _Refused("size", f"the request has more than {MAX_REQUEST >> 20} MiB", 413) from error

    def _model(self, path: str, body: Any, billed: bool) -> str | None:
        model = model_of(path, body)
        if billed and model not in self.settings.models:
            raise _Refused("model", f"the model {str(model)[:100]!r} is not one that this system may call")
        return model

    async def _reserve(self, most: float | None) -> int:
        if most is None and self.settings.usd is not None:
            raise _Refused("spend", "the run has a spend limit, and this model has no price")
        entry = await self.spending.reserve(most or 0.0)
        if entry is None:
            raise _Refused("spend", "the spend limit of this run is reached")
        return entry


class _Call:
    """One forwarded call: its state while it runs, and its end, which is written whatever happens."""

    def __init__(self, service: Service, request: web.Request, number: int, model: str | None, billed: bool) -> None:
        self.service, self.request, self.number, self.model, self.billed = service, request, number, model, billed
        self.outcome: Outcome = "cut_by_end"
        self.status: int | None = None
        self.usage: UsageReader | None = None
        self.bytes, self.digest, self.began = 0, hashlib.sha256(), time.monotonic()
        self.file: ReplyFile | None = None

    async def run(self, path: str, raw: bytes) -> web.StreamResponse:
        """Forward the request and pass the reply on."""
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
            self._cut("cut_by_agent" if gone and self.status is not None else "cut_by_end")
            raise

    async def _pass_on(self, reply: Any) -> web.StreamResponse:
        self.status = reply.status
        journal = self.service.journal
        self.file = await asyncio.to_thread(journal.reply, self.number)
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

    async def finish(self, entry: int) -> None:
        """Settle the money and write the last event."""
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
            call=self.number,
            status=self.status,
            outcome=self.outcome,
            bytes=self.bytes,
            sha256=self.digest.hexdigest(),
            tokens=tokens.model_dump() if tokens else None,
            usd=usd,
            seconds=round(time.monotonic() - self.began, 3),
        )


def _token(request: web.Request) -> str:
    """The token, from wherever a client of any wire format puts it."""
    headers = request.headers
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer or request.query.get("key", "")


def _json(request: web.Request, raw: bytes) -> Any:
    """The body as JSON, None where there is none. Raises _Refused for one that the gateway cannot read."""
    if not raw:
        return None
    encoding = request.headers.get("content-encoding", "identity").lower()
    try:
        if encoding in ("gzip", "deflate"):
            raw = zlib.decompressobj(47).decompress(raw, MAX_REQUEST)
        elif encoding != "identity":
            raise _Refused("body", f"content-encoding {encoding[:20]} is not read here", 415)
        return json.loads(raw)
    except (ValueError, RecursionError, zlib.error) as error:
        raise _Refused("body", "the body is not JSON", 400) from error
