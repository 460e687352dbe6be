"""A service that answers as a test tells it to, byte by byte, and the gateway before it."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from vvb_resources.benchmark.models import Price, Wire
from vvb_resources.gateway.running import Gateway, gateway
from vvb_resources.gateway.settings import GatewaySettings
from vvb_resources.sandbox.base import GatewayPoint

KEY, TOKEN = "sk-the-real-key-0123456789", "run-token-abc"
PRICE = Price(input=1.0, cached=0.1, cache_write=1.25, output=10.0)

Script = Callable[["Answer"], None]


class Answer:
    """One call as the service sees it, and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.handler, self.body, self.path = handler, body, handler.path
        self.headers = {key.lower(): value for key, value in handler.headers.items()}

    def whole(self, body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.handler.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def stream(self, parts: Iterator[bytes] | list[bytes], *, end: bool = True) -> None:
        """Chunked server-sent events; without `end` the connection breaks off."""
        self.handler.send_response(200)
        self.handler.send_header("content-type", "text/event-stream; charset=utf-8")
        self.handler.send_header("transfer-encoding", "chunked")
        self.handler.end_headers()
        for part in parts:
            self.handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.handler.wfile.flush()
        if not end:  # what comes together with the break may be lost with it
            time.sleep(0.3)
        else:
            self.handler.wfile.write(b"0\r\n\r\n")
        self.handler.close_connection = True


@contextlib.contextmanager
def service(script: Script) -> Iterator[tuple[str, list[Answer]]]:
    """A service on loopback: (its base URL, the calls it got)."""
    calls: list[Answer] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            return

        def do_POST(self) -> None:
            answer = Answer(self, self.rfile.read(int(self.headers.get("content-length") or 0)))
            calls.append(answer)
            with contextlib.suppress(OSError):
                script(answer)

        do_GET = do_HEAD = do_POST

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", calls
    finally:
        server.shutdown()
        server.server_close()


def in_turn(answers: Iterator[Script]) -> Script:
    """Each call gets the next answer."""

    def script(answer: Answer) -> None:
        next(answers)(answer)

    return script


@contextlib.contextmanager
def gatewayed(
    folder: Path, endpoint: str, wire: Wire = "anthropic", *, seconds: float = 60.0, **settings: Any
) -> Iterator[Gateway]:
    """A gateway before `endpoint`, which logs into `folder` (made here)."""
    folder.mkdir()
    made = GatewaySettings(
        wire=wire,
        key=KEY,
        token=TOKEN,
        models=frozenset({"m1"}),
        deadline=time.time() + seconds,
        endpoint=endpoint,
        **{"prices": {"m1": PRICE}, **settings},
    )
    with gateway(made, GatewayPoint(url="http://127.0.0.1:{port}", host="127.0.0.1"), folder) as running:
        yield running


def post(
    running: Gateway, path: str, body: Any, *, token: str = TOKEN, method: str = "POST", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """One call through the gateway: (status, body, headers). A reply that breaks off raises."""
    connection = http.client.HTTPConnection("127.0.0.1", running.port or 0, timeout=20)
    try:
        data = json.dumps(body).encode() if not isinstance(body, bytes) else body
        connection.request(method, path, data, {"x-api-key": token, "content-type": "application/json", **headers})
        reply = connection.getresponse()
        return reply.status, reply.read(), {key.lower(): value for key, value in reply.getheaders()}
    finally:
        connection.close()


def anthropic_stream(prompt: int, output: int, text: str = "hi") -> list[bytes]:
    """A streamed message of Anthropic's wire format."""
    usage = {"input_tokens": prompt, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "model": "m1", "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}},
        {"type": "message_stop"},
    ]
    return [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events]
