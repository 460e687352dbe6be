"""The stand-in's HTTP side: routes, a log of every call and byte, faults, and what each call would be billed.

Base URLs: `{url}/gemini`, `{url}/openai/v1`, `{url}/anthropic`. A fault is pushed for a route (used once, in order), or
comes from `plan(route, marker, n)`, where `marker` is what a test wrote into the task's prompt (`[[marker: x]]`) and n
counts the calls with that marker: so that a run that is killed and resumed meets the same faults as one that is not.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.standin import anthropic, gemini, openai
from tests.standin.answers import answer
from tests.standin.batches import HeldBatch
from tests.standin.shapes import Fault, Refused, Reply, Request

SERVICES = {"gemini": gemini, "openai": openai, "anthropic": anthropic}


@dataclass
class Call:
    """One call as it came, and what became of it. `paid`: the service did the work. `whole`: all of it was sent."""

    route: str
    method: str
    path: str
    headers: dict[str, str]
    json: Any
    size: int
    marker: str
    at: float
    fault: str | None = None
    status: int = 0
    paid: bool = False
    whole: bool = False
    usage: dict[str, int] = field(default_factory=dict)
    text: str = ""


class StandIn:
    """The server; use as a context manager. `video_s`: seconds it bills for a video, since it does not decode any."""

    def __init__(self, *, video_s: float = 8.0, polls: int = 1, reply: Callable[[str], str] = answer) -> None:
        self.video_s, self.polls, self.reply = video_s, polls, reply
        self.plan: Callable[[str, str, int], Fault | None] = lambda route, marker, n: None
        self.log: list[Call] = []
        self.files: dict[str, dict[str, Any]] = {}
        self.uploads: dict[str, dict[str, Any]] = {}
        self.batches: dict[str, HeldBatch] = {}
        self.batch_files: dict[str, bytes] = {}
        self.batch_polls = 1
        self.lock = threading.Lock()
        self._queues: dict[str, deque[Fault]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self.in_flight = self.most_in_flight = 0
        outer = self

        class Handler(_Handler):
            server_of = outer

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                return  # a client that went away is part of the tests

        self.http = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def __enter__(self) -> StandIn:
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    @property
    def environment(self) -> dict[str, str]:
        """Variables that send every provider here, with keys."""
        return {
            "VVB_ENDPOINT_GOOGLE": f"{self.url}/gemini",
            "VVB_ENDPOINT_OPENAI": f"{self.url}/openai/v1",
            "VVB_ENDPOINT_OPENAI_COMPATIBLE": f"{self.url}/openai/v1",
            "VVB_ENDPOINT_ANTHROPIC": f"{self.url}/anthropic",
            **dict.fromkeys(("GEMINI_API_KEY", "OPENAI_API_KEY", "DASHSCOPE_API_KEY", "ANTHROPIC_API_KEY"), "k-test"),
        }

    def push(self, route: str, *faults: Fault) -> None:
        """Let the next calls of a route meet these faults."""
        with self.lock:
            self._queues.setdefault(route, deque()).extend(faults)

    def fault_for(self, route: str, marker: str) -> Fault | None:
        with self.lock:
            n = self._counts[route, marker]
            self._counts[route, marker] += 1
            queue = self._queues.get(route)
            if queue:
                return queue.popleft()
        return self.plan(route, marker, n)

    def log_batched(self, route: str, body: Any, marker: str, reply: Reply) -> None:
        """Log the work on one request of a batch as a call of its own."""
        call = Call(route, "POST", "", {}, body, len(json.dumps(body)), marker, time.monotonic())
        call.status, call.paid, call.usage, call.text = reply.status, reply.paid, reply.usage, reply.text
        call.whole = True
        with self.lock:
            self.log.append(call)

    def calls(self, route: str) -> list[Call]:
        """Logged calls of a route, oldest first."""
        with self.lock:
            return [call for call in self.log if call.route == route]

    def paid(self) -> list[Call]:
        """Calls that a service would bill."""
        with self.lock:
            return [call for call in self.log if call.paid]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: StandIn

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_POST(self) -> None:
        self._handle()

    do_GET = do_DELETE = do_POST

    def _handle(self) -> None:
        server, raw = self.server_of, self._body()
        path = self.path.split("?")[0]
        name, _, rest = path.lstrip("/").partition("/")
        service = SERVICES.get(name)
        headers = {key.lower(): value for key, value in self.headers.items()}
        try:
            document = json.loads(raw) if raw[:1] in (b"{", b"[") else {}
        except ValueError:
            document = {}
        request = Request(self.command, "/" + rest, headers, document, raw)
        route = service.route(request) if service else "unknown"
        found = re.search(rb"\[\[marker: ([\w.-]+)\]\]", raw)
        call = Call(
            route,
            self.command,
            self.path,
            headers,
            document,
            len(raw),
            found[1].decode() if found else "",
            time.monotonic(),
        )
        fault = server.fault_for(route, call.marker)
        call.fault = fault.kind if fault else None
        with server.lock:
            server.log.append(call)
            server.in_flight += 1
            server.most_in_flight = max(server.most_in_flight, server.in_flight)
        try:
            self._respond(server, service, request, call, fault or Fault("none"))
        finally:
            with server.lock:
                server.in_flight -= 1

    def _respond(self, server: StandIn, service: Any, request: Request, call: Call, fault: Fault) -> None:
        if fault.kind == "slow":
            time.sleep(fault.seconds)
        if fault.kind == "drop":
            self._drop()
            return
        if fault.kind == "status":
            self._send(call, Reply(fault.body or service.error(fault.status, "injected"), fault.status, fault.headers))
            return
        if fault.kind == "body":
            self._send(call, Reply(fault.body, fault.status or 200, fault.headers, paid=True))
            return
        try:
            reply = service.respond(server, request, fault)
        except Refused as refused:
            reply = Reply(service.error(refused.status, refused.message), refused.status)
        self._send(call, reply, cut=fault.kind == "drop_mid")

    def _send(self, call: Call, reply: Reply, *, cut: bool = False) -> None:
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        call.status, call.paid, call.usage, call.text = reply.status, reply.paid, reply.usage, reply.text
        self.send_response(reply.status)
        for key, value in {"content-type": "application/json", **reply.headers}.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if cut:
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            self._drop()
            return
        self.wfile.write(data)
        self.wfile.flush()
        call.whole = True

    def _drop(self) -> None:
        """Reset the connection."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)
