"""`vvb ui` as a process of a test."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.platform import Platform
from tests.webserver import Webserver, free_port
from vvb_assets.serving import LOCATION


class Ui(Webserver):
    """`vvb ui` on a free port; its messages go to `log`."""

    def __init__(self, platform: Platform, log: Path) -> None:
        super().__init__(free_port(), LOCATION)
        self.platform, self.log = platform, log
        self.start()

    def start(self) -> None:
        """Start it (again) on the same port, and wait until it answers."""
        with self.log.open("a") as output:
            self.process = subprocess.Popen(
                self.platform.command("ui", "--port", str(self.port)),
                env=self.platform.environment,
                cwd=self.platform.code,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.wait_for(self.is_up, 120)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Signal every process of it, and wait for the first one."""
        os.killpg(self.process.pid, number)
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def wait_for(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until `ready`; fails with the end of the log."""
        until = time.monotonic() + seconds
        while not ready():
            assert self.process.poll() is None, self.log.read_text()[-4000:]
            assert time.monotonic() < until, self.log.read_text()[-4000:]
            time.sleep(0.5)

    def backfill(self, keys: list[str], partitions: list[str] | None = None) -> str:
        """Launch a backfill and wait for its end; returns its status."""
        launched = self.launch(keys, partitions)
        self.wait_for(lambda: self.has_ended(launched), 600)
        return str(self.status(launched))


@contextmanager
def ui_of(platform: Platform, log: Path) -> Iterator[Ui]:
    """`vvb ui` of a platform until the context is left."""
    running = Ui(platform, log)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.end()
