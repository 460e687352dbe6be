"""A gateway for as long as a run lasts: the service in a thread of its own, at the point that the sandbox gave."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from aiohttp import web

from vvb_resources.errors import SandboxError
from vvb_resources.gateway.journal import Journal
from vvb_resources.gateway.server import Service
from vvb_resources.gateway.settings import GatewaySettings
from vvb_resources.sandbox.base import GatewayPoint

CLOSE_S = 2.0
"""After the run, calls under way are cut: the agent that made them is gone."""


class Gateway:
    """A running gateway. `port` is its TCP port, None for a Unix socket; `base_url` is what the agent is given."""

    def __init__(self, settings: GatewaySettings, point: GatewayPoint, folder: Path) -> None:
        self.point, self.port = point, None if point.host is None else 0
        self._service = Service(settings, Journal(folder, settings.key))
        self._loop = asyncio.new_event_loop()
        self._ready, self._stop = threading.Event(), asyncio.Event()
        self._failed: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)

    @property
    def base_url(self) -> str:
        """The base URL as the agent sees it."""
        return self.point.base_url(self.port)

    def start(self) -> None:
        """Listen. Raises SandboxError when the point cannot be listened at."""
        settings = self._service.settings
        self._service.journal.write(
            "open",
            version=1,
            wire=settings.wire,
            models=sorted(settings.models),
            deadline=settings.deadline,
            usd_limit=settings.usd,
        )
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            self.stop()
            raise SandboxError(
                f"the model gateway cannot listen ({self._failed})", where=str(self.point.socket or self.point.host)
            )

    def stop(self) -> None:
        """Cut what is under way, write the last event, and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        self._service.journal.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        runner = web.AppRunner(
            self._service.app(), access_log=None, handler_cancellation=True, shutdown_timeout=CLOSE_S
        )
        try:
            await runner.setup()
            if self.point.socket is not None:
                await web.UnixSite(runner, str(self.point.socket)).start()
            else:
                await web.TCPSite(runner, self.point.host, 0).start()
                self.port = runner.addresses[0][1]
        except OSError as error:
            self._failed = error
        self._ready.set()
        if self._failed is None:
            await self._stop.wait()
        await runner.cleanup()
        await self._service.ended()


@contextlib.contextmanager
def gateway(settings: GatewaySettings, point: GatewayPoint, folder: Path) -> Iterator[Gateway]:
    """A gateway that listens at `point` and logs into the existing empty `folder` until the context ends."""
    running = Gateway(settings, point, folder)
    running.start()
    try:
        yield running
    finally:
        running.stop()
