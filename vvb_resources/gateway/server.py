"""The gateway's HTTP service: checks a call, has it forwarded, and sees to it that its end is written.

What the agent may do is decided here and nowhere else: the token of its run, the calls of its wire format, its models
and tools, its deadline, its spend limit. What it is refused it is told in its service's own form with status 403 (not
to be tried again), and the log says why.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
import zlib
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector, web

from vvb_resources.gateway.calls import WhyRefused
from vvb_resources.gateway.forwarding import ForwardedCall
from vvb_resources.gateway.hosted import hosted_tools
from vvb_resources.gateway.journal import Journal
from vvb_resources.gateway.settings import GatewaySettings
from vvb_resources.gateway.spending import Spending, most_usd
from vvb_resources.gateway.wires import WIRES, error_body, model_of

MAX_REQUEST = 32 << 20
AT_ONCE = 32
"""Calls that are dealt with at once; further ones wait. With MAX_REQUEST it bounds what an agent can make this hold."""
CONNECT_S = 30.0


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
        # A connection for each call: one that the service closes while it waits would look like a fault of the service.
        timeout = ClientTimeout(total=None, sock_connect=CONNECT_S)
        async with ClientSession(
            connector=TCPConnector(limit=64, force_close=True), timeout=timeout, auto_decompress=False, trust_env=True
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
            self._tools(body)
            most = most_usd(self.settings.prices.get(model or ""), body, len(raw)) if billed else 0.0
            entry = await self._reserve(most)
        except _Refused as refused:
            await asyncio.to_thread(
                self.journal.write, "refused", why=refused.why, status=refused.status, path=request.path[:500]
            )
            return web.json_response(
                error_body(self.settings.wire, refused.status, refused.message), status=refused.status
            )
        call = ForwardedCall(self, request, model, billed)
        writing = asyncio.create_task(
            asyncio.to_thread(
                self.journal.request, raw, method=request.method, path=path, model=model, billed=billed, most_usd=most
            )
        )
        try:
            return await call.run(await asyncio.shield(writing), path, raw)
        finally:
            # A handler is cancelled when its client goes away, at any await; what was begun is written to its end.
            ending = asyncio.create_task(self._end(call, writing, entry))
            self.endings.add(ending)
            ending.add_done_callback(self.endings.discard)
            await asyncio.shield(ending)

    async def _end(self, call: ForwardedCall, writing: asyncio.Task[int], entry: int) -> None:
        await call.finish(await writing, entry)

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

    def _tools(self, body: Any) -> None:
        hosted = hosted_tools(self.settings.wire, body) - self.settings.hosted_tools
        if hosted:
            names = ", ".join(sorted(hosted))
            raise _Refused("tool", f"tools that run at the service are not allowed here: {names}")

    async def _reserve(self, most: float | None) -> int:
        if most is None and self.settings.usd is not None:
            raise _Refused("spend", "the run has a spend limit, and this model has no price")
        entry = await self.spending.reserve(most or 0.0)
        if entry is None:
            raise _Refused("spend", "the spend limit of this run is reached")
        return entry


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
        return json.loads(raw, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError, zlib.error) as error:
        raise _Refused("body", "the body is not JSON, or names a field twice", 400) from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that names a field twice could mean another model to the service than it does here."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field is named twice")
    return found
