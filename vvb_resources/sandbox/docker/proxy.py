"""The way to package mirrors: an HTTP proxy on a Unix socket that connects to the hosts of an allow-list and no others.

It knows CONNECT (https) and absolute http:// addresses, ports 443 and 80. It runs in a helper process of the run; the
container's first process makes a port of its own out of the socket. Each request is a line of a bounded log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vvb_resources.gateway.relay import carry
from vvb_resources.sandbox.base import SandboxPlace
from vvb_resources.sandbox.helpers import LINGER_S, helper, serve

HEAD_BYTES = 64 << 10
CONNECT_S = 30.0
LOG_BYTES = 4 << 20
PORTS = {"http": 80, "https": 443}


class MirrorProxy:
    """Decides and carries. `hosts` are exact names; a name that starts with a dot allows everything below it."""

    def __init__(self, hosts: tuple[str, ...], log: Path) -> None:
        self.hosts, self.log = tuple(host.lower() for host in hosts), log

    def allows(self, host: str, port: int) -> bool:
        """May the agent connect there?"""
        name = host.lower().rstrip(".")
        known = any(name == entry or (entry.startswith(".") and name.endswith(entry)) for entry in self.hosts)
        return known and port in PORTS.values()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the agent: a request line decides, then bytes are carried both ways."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            writer.close()
            return
        target = read_target(head)
        if target is None or not self.allows(target[0], target[1]):
            self._note(target, "refused")
            await _answer(writer, "403 Forbidden", "this host is not on the benchmark's list of mirrors")
            return
        host, port, onward = target
        try:
            there, back = await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_S)
        except (OSError, TimeoutError) as error:
            self._note(target, f"unreachable: {error}")
            await _answer(writer, "502 Bad Gateway", "the mirror cannot be reached")
            return
        self._note(target, "carried")
        try:
            if onward is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                back.write(onward)
            await asyncio.gather(carry(reader, back), carry(there, writer))
        finally:
            back.close()
            writer.close()

    def _note(self, target: tuple[str, int, bytes | None] | None, what: str) -> None:
        """A line of the log, while it has room."""
        with contextlib.suppress(OSError):
            if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
                return
            host, port = (target[0], target[1]) if target else (None, None)
            line = {"at": round(time.time(), 3), "host": host, "port": port, "what": what}
            with self.log.open("a", encoding="utf-8") as handle:
                handle.write(json.dumps(line) + "\n")


def read_target(head: bytes) -> tuple[str, int, bytes | None] | None:
    """(host, port, what to send on) of a proxy request's head; None to send on for CONNECT; None for anything else.

    A connection carries one http:// request: the head is sent on with `Connection: close`, so that no second request
    to another host can follow on it.
    """
    line, _, rest = head.partition(b"\r\n")
    parts = line.decode("latin-1").split(" ")
    if len(parts) != 3:
        return None
    method, address, version = parts
    try:
        if method == "CONNECT":
            split = urlsplit(f"//{address}")
            return (split.hostname, split.port, None) if split.hostname and split.port else None
        split = urlsplit(address)
        if split.scheme != "http" or not split.hostname:
            return None
        port = split.port or PORTS["http"]
    except ValueError:
        return None
    path = (split.path or "/") + (f"?{split.query}" if split.query else "")
    kept = [
        field
        for field in rest.split(b"\r\n")
        if field
        and not field.lower().startswith((b"connection:", b"proxy-connection:", b"proxy-authorization:", b"host:"))
    ]
    lines = [f"{method} {path} {version}".encode("latin-1"), f"Host: {split.netloc}".encode("latin-1"), *kept]
    return split.hostname, port, b"\r\n".join([*lines, b"Connection: close", b"", b""])


async def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = text.encode() + b"\n"
    with contextlib.suppress(OSError):
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
    writer.close()


@contextlib.contextmanager
def serve_mirrors(
    socket: Path, hosts: tuple[str, ...], log: Path, place: SandboxPlace, deadline: float
) -> Iterator[None]:
    """Serve the proxy on the Unix socket `socket` in a process that may outlive this one, until the context ends."""
    request = {"socket": str(socket), "hosts": list(hosts), "log": str(log), "remove": str(socket.parent)}
    with helper(place, "mirrors", "vvb_resources.sandbox.docker.proxy", request, deadline + LINGER_S):
        yield


def start(request: dict[str, Any]) -> Callable[[], None]:
    """Listen as the request says, in a thread; returns what ends that."""
    loop = asyncio.new_event_loop()
    proxy = MirrorProxy(tuple(request["hosts"]), Path(request["log"]))

    async def listening() -> asyncio.Server:
        server = await asyncio.start_unix_server(proxy.connected, request["socket"], limit=HEAD_BYTES)
        Path(request["socket"]).chmod(0o666)
        return server

    server = loop.run_until_complete(listening())
    threading.Thread(target=loop.run_forever, name="mirrors", daemon=True).start()

    def stop() -> None:
        loop.call_soon_threadsafe(server.close)

    return stop


if __name__ == "__main__":
    serve(start)
