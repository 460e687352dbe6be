"""A Docker engine of the tests' own, with its socket and pid file in a folder that is gone afterwards; and its images.

The base image is made by debootstrap, so that no image registry is needed. The engine's data stay in a cache folder
(VVB_TEST_CACHE, default ~/.cache/vibevideobench), for two minutes' work are not worth repeating; containers of an
earlier session that was killed are removed from it first.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from vvb_resources.store.home import CHECKOUT

PROGRAMS = ("dockerd", "containerd", "runc", "debootstrap")
PR_SET_PDEATHSIG = 1
SBIN = ":/usr/sbin:/sbin"
BASE, SMALL, AGENTS = "vvb-test/base:1", "vvb-test/small:1", "vvb-test/agents:1"
RECIPE = "vvb-test/recipe"
HARNESSES = "claude_code codex gemini_cli"
CERTIFICATES = Path("/usr/local/share/ca-certificates")  # where Debian keeps what a machine trusts beside its own list


class EngineError(RuntimeError):
    """No engine, or no image, and why."""


def install_programs() -> None:
    """Install the engine where that needs no question. Raises EngineError when something is missing afterwards."""
    if os.geteuid() != 0:
        raise EngineError("an engine of the tests' own needs root")
    if missing():
        subprocess.run([CHECKOUT / "deploy" / "install-docker"], capture_output=True, check=False)
    if missing():
        raise EngineError(f"not installed: {', '.join(missing())}")


def missing() -> list[str]:
    """Programs that are not here."""
    return [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + SBIN) is None]


def cache_folder() -> Path:
    """Where the engine's data are kept between runs of the tests."""
    chosen = os.environ.get("VVB_TEST_CACHE")
    folder = Path(chosen) if chosen else Path.home() / ".cache" / "vibevideobench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Engine:
    """A running dockerd. Two sessions at once take turns."""

    def __init__(self) -> None:
        self.lock = (cache_folder() / "docker.lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.data = cache_folder() / "docker"
        self.folder = Path(tempfile.mkdtemp(prefix="vvb-docker-"))
        self.log = self.folder / "dockerd.log"
        self.host = f"unix://{self.folder}/docker.sock"
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self.start()
            self.clear()
        except BaseException:
            self.close()
            raise

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "DOCKER_HOST": self.host, "PATH": os.environ["PATH"] + SBIN}

    def start(self) -> None:
        """Start the engine and wait until it answers. Raises EngineError with its last words when it does not."""
        command = ["dockerd", "--host", self.host, "--pidfile", str(self.folder / "docker.pid")]
        command += ["--data-root", str(self.data), "--exec-root", str(self.folder / "exec")]
        # No default network: no container of ours has one, and a machine may not let its firewall be touched.
        command += ["--bridge", "none", "--iptables=false", "--ip6tables=false"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
                cwd="/",
                preexec_fn=end_with_parent,  # noqa: PLW1509 - the tests have one thread here
            )
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(EngineError):
                self.docker("version")
                return
            if self.process.poll() is not None or time.monotonic() > until:
                raise EngineError(" ".join(self.log.read_text()[-600:].split()))
            time.sleep(0.1)

    def docker(self, *arguments: str) -> str:
        """Run the command-line client; returns its output. Raises EngineError."""
        return self._run(["docker", *arguments])

    def clear(self) -> None:
        """Remove every container and volume: nobody else uses this engine."""
        for container in self.docker("ps", "--all", "--quiet").split():
            self.docker("rm", "--force", container)
        for volume in self.docker("volume", "ls", "--quiet").split():
            self.docker("volume", "rm", volume)

    def build_small(self) -> None:
        """The reduced image (Python, Node, ffmpeg, speech, no harness) on a base made here. Raises EngineError."""
        if not self.docker("images", "--quiet", BASE).strip():
            self._run([CHECKOUT / "deploy/sandbox/base", BASE])
        self._build(SMALL, "")

    def build_agents(self) -> None:
        """The reduced image with three harnesses from npm, each a further layer. Raises EngineError."""
        self._build(AGENTS, HARNESSES)

    def _build(self, tag: str, harnesses: str) -> None:
        """Build an image unless the engine's data have one of the same recipe."""
        name = tag.split("/")[1].split(":", maxsplit=1)[0]
        sources = [*sorted((CHECKOUT / "deploy" / "sandbox").rglob("*")), CHECKOUT / "vvb_resources/sandbox/tts.py"]
        text = b"".join(path.read_bytes() for path in sources if path.is_file() and path.stem != "full")
        recipe = f"{RECIPE}-{name}:{hashlib.sha256(text + harnesses.encode()).hexdigest()[:16]}"
        if not self.docker("images", "--quiet", recipe).strip():
            options = build_options(tag, harnesses)
            self._run([CHECKOUT / "deploy/sandbox/build", *options, "--", "--network", "host"])
            for other in self.docker("images", "--format", "{{.Repository}}:{{.Tag}}", f"{RECIPE}-{name}").split():
                self.docker("rmi", other)  # of an earlier recipe
            self.docker("tag", tag, recipe)
            self.clear()
        self.docker("tag", recipe, tag)

    def _run(self, command: list[str | Path]) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            said = " ".join((done.stdout + done.stderr).split())
            raise EngineError(f"{command[0]} {command[1]}: {said[-900:]}")
        return done.stdout

    def left_over(self) -> list[str]:
        """Every container, volume and network that is not the engine's own."""
        found = self.docker("ps", "--all", "--format", "container {{.Names}}").splitlines()
        found += self.docker("volume", "ls", "--format", "volume {{.Name}}").splitlines()
        networks = self.docker("network", "ls", "--format", "network {{.Name}}").splitlines()
        return found + [name for name in networks if name.split()[1] not in ("bridge", "host", "none")]

    def close(self) -> None:
        """End the engine and remove its folder; what it mounted there is unmounted first."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(30)
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for mount in sorted((m for m in mounts if m.startswith(str(self.folder))), reverse=True):
            subprocess.run(["umount", "--lazy", mount], capture_output=True, check=False)
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)
        self.lock.close()


def end_with_parent() -> None:
    """Let this process have SIGTERM when its parent is gone: an engine must not outlive tests that were killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def build_options(tag: str, harnesses: str) -> list[str]:
    """Options of deploy/sandbox/build for a reduced image, with the certificates that this machine trusts."""
    options = ["--base", BASE, "--tag", tag, "--parts", "small", "--harnesses", harnesses]
    for certificate in sorted(CERTIFICATES.glob("*.crt")):
        options += ["--certificate", str(certificate)]
    return options
