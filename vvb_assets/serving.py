"""The UI's three processes, started together and ended together: code location, webserver, daemon.

`dagster dev` does the same, but with the daemon's own pause of 30 s between the stages of a backfill (daemon.py).
"""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from vvb_resources.errors import StoreError
from vvb_resources.store.home import CHECKOUT

LOCATION = "vvb_assets.definitions"  # also the location's name: the state of sensors is kept under it
START_SECONDS, END_SECONDS = 120.0, 20.0
_PR_SET_PDEATHSIG = 1


@contextmanager
def serving(
    host: str, port: int, environment: Mapping[str, str], folder: Path
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Processes by name, with `folder` as their current one, until the context is left.

    Raises StoreError when the code location cannot be loaded; what is wrong with it is on stderr by then.
    """
    running: dict[str, subprocess.Popen[bytes]] = {}

    def start(name: str, *command: str) -> None:
        running[name] = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", *command],
            env=dict(environment),
            cwd=folder,  # in the checkout Dagster would warn of the dagster.yaml it does not use
            preexec_fn=_end_with_parent,  # noqa: PLW1509 (no thread was started yet)
        )

    with tempfile.TemporaryDirectory(prefix="vvb-ui-") as place:
        socket, workspace = Path(place) / "code", Path(place) / "workspace.yaml"
        workspace.write_text(
            f"load_from: [{{grpc_server: {{host: localhost, socket: {socket}, location_name: {LOCATION}}}}}]\n"
        )
        try:
            start("code location", "dagster", "code-server", "start", "--socket", str(socket), "-m", LOCATION)
            _wait_for(socket, running["code location"])
            start("webserver", "dagster_webserver", "-h", host, "-p", str(port), "-w", str(workspace))
            start("daemon", "vvb_assets.daemon", "run", "-w", str(workspace))
            yield running
        finally:
            _end(running)


def wait_for_end(running: Mapping[str, subprocess.Popen[bytes]]) -> str:
    """Wait until one of the processes ends; returns which."""
    while True:
        for name, process in running.items():
            if process.poll() is not None:
                return name
        time.sleep(0.5)


def _wait_for(socket: Path, process: subprocess.Popen[bytes]) -> None:
    """The code location listens once it is loaded."""
    until = time.monotonic() + START_SECONDS
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > until:
            raise StoreError(
                "the code location did not start",
                where=str(CHECKOUT / "vvb_assets" / "definitions.py"),
                remedy="see the messages above; vvb doctor and vvb lint tell what is missing or wrong",
            )
        time.sleep(0.1)


def _end(running: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Ask the processes to end, the last one first; kill what does not."""
    for process in reversed(list(running.values())):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # Dagster's clean way out
    until = time.monotonic() + END_SECONDS
    for process in reversed(list(running.values())):
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_with_parent() -> None:
    """In the child, before it begins: get SIGTERM when the parent dies, however that comes about."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
