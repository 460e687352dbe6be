"""Code location, webserver and daemon as processes of their own, started as compose.yaml starts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ruamel.yaml import YAML

from tests.webserver import Webserver, free_port
from vvb_resources.store.home import CHECKOUT


class Deployment(Webserver):
    """The three processes of compose.yaml on this machine: the same commands, other ports, no containers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(free_port(), "vvb")
        self.folder = folder
        self.ports = {"4000": str(free_port()), "3000": str(self.port)}
        self.workspace = folder / "workspace.yaml"
        text = (CHECKOUT / "deploy" / "workspace.yaml").read_text()
        self.workspace.write_text(text.replace("host: code", "host: 127.0.0.1").replace("4000", self.ports["4000"]))
        services = YAML(typ="safe").load((CHECKOUT / "deploy" / "compose.yaml").read_text())["services"]
        self.commands = {name: services[name]["command"] for name in ("code", "webserver", "daemon")}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        """Start one process by its command of compose.yaml."""
        program, *arguments = self.commands[name]
        places = {"0.0.0.0": "127.0.0.1", "/app/deploy/workspace.yaml": str(self.workspace), **self.ports}
        arguments = [places.get(argument, argument) for argument in arguments]
        with self.log(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(Path(sys.executable).parent / program), *arguments],
                stdout=log,
                stderr=log,
                cwd=CHECKOUT,
                start_new_session=True,
            )

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def end(self, name: str, number: signal.Signals) -> None:
        """Signal a process and its children, and wait for it."""
        process = self.processes.pop(name)
        os.killpg(process.pid, number)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)

    def wait_for(self, what: str, ready: Callable[[], bool]) -> None:
        until = time.monotonic() + 180
        while not ready():
            for name, process in self.processes.items():
                assert process.poll() is None, f"{name} ended:\n{self.log(name).read_text()[-3000:]}"
            told = {name: self.log(name).read_text()[-1500:] for name in self.processes}
            assert time.monotonic() < until, f"waited in vain for {what}: {told}"
            time.sleep(0.5)
