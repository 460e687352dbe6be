"""The walls of the local sandbox where bubblewrap (bwrap) works: no network, own processes, a closed file system.

Inside, the agent sees /usr and the loader's files, the Python it is given, its own folders, and nothing else of this
machine; paths are the same as outside. What bwrap itself refuses on a machine (no user namespaces) is found by a probe.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.sandbox.base import SandboxPlace

PROBE_TIMEOUT_S = 10.0
SHM_MB = 256  # /dev/shm is memory: bounded, yet large enough for a browser
TMP_MB = 256
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "mime.types")
ETC_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "ssl", "ca-certificates", "pki")
AGENT_ID = 1000
GATEWAY_FOLDER = "/run/vvb"

# Tried in this order: as an ordinary user of its own namespace, else with what a privileged caller may do without one.
VARIANTS: tuple[tuple[str, ...], ...] = (
    ("--unshare-user", "--uid", str(AGENT_ID), "--gid", str(AGENT_ID), "--disable-userns"),
    ("--unshare-user", "--uid", str(AGENT_ID), "--gid", str(AGENT_ID)),
    (),
)


@dataclass(frozen=True)
class Bubblewrap:
    """A bwrap that works here: its program, its version, and the variant of flags that the probe found."""

    program: str
    version: str
    user_flags: tuple[str, ...]

    def wrap(
        self,
        place: SandboxPlace,
        command: tuple[str, ...],
        *,
        network: bool,
        shown: tuple[str, ...] = (),
        socket: Path | None = None,
    ) -> list[str]:
        """The command line that runs `command` inside the walls, with `place.work` as current folder.

        `shown` are further folders of this machine that the agent may read; the folder of `socket` (the model
        gateway's) is shown as /run/vvb.

        `{status_fd}` stands for a descriptor on which bwrap reports (its man page: --json-status-fd): an `exit-code`
        comes only if the command really started, which tells a fault of the walls from one of the agent.
        """
        root, tools = place.root, tool_roots()
        argv = [*self._base(network), "--json-status-fd", "{status_fd}"]
        if any(
            path.startswith("/tmp/") for path in (str(root), *tools, *shown)
        ):  # mount points must not fall into the work folder
            argv += ["--size", str(TMP_MB << 20), "--tmpfs", "/tmp"]
        else:
            argv += ["--bind", f"{place.work}/tmp", "/tmp"]
        for path in (*tools, *shown):
            argv += ["--ro-bind", path, path]
        if socket is not None:
            argv += ["--ro-bind", str(socket.parent), GATEWAY_FOLDER]
        argv += ["--bind", str(place.work), str(place.work)]
        for folder in (place.inputs, place.bin, place.agent):
            argv += ["--ro-bind", str(folder), str(folder)]
        argv += ["--ro-bind", f"{root}/etc/passwd", "/etc/passwd", "--ro-bind", f"{root}/etc/group", "/etc/group"]
        return [*argv, "--remount-ro", "/", "--chdir", str(place.work), "--", *command]

    def prepare(self, place: SandboxPlace) -> None:
        """Write the account files that the agent sees instead of this machine's."""
        uid = AGENT_ID if self.user_flags else os.getuid()
        gid = AGENT_ID if self.user_flags else os.getgid()
        etc = place.root / "etc"
        etc.mkdir()
        (etc / "passwd").write_text(f"agent:x:{uid}:{gid}:agent:{place.work}/home:/bin/sh\n")
        (etc / "group").write_text(f"agent:x:{gid}:\n")

    def _base(self, network: bool) -> list[str]:
        return [self.program, *self.user_flags, *_walls(network)]


@functools.cache
def find_bubblewrap() -> tuple[Bubblewrap | None, str]:
    """The bubblewrap of this machine, or None and the reason in words. Probed once, by running `true` inside."""
    program = shutil.which("bwrap")
    if program is None:
        return None, "bubblewrap is not installed"
    reason = ""
    for flags in VARIANTS:
        try:
            done = subprocess.run(
                [program, *flags, *_walls(network=False), "--", "true"],
                capture_output=True,
                text=True,
                timeout=PROBE_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, f"bubblewrap does not run here ({error})"
        if done.returncode == 0:
            version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.split()
            return Bubblewrap(program, version[-1] if version else "unknown", flags), ""
        reason = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    return None, f"bubblewrap is installed but may not make namespaces here ({reason})"


def _walls(network: bool) -> list[str]:
    """Flags that do not depend on the run: namespaces, system folders, /proc, /dev."""
    argv = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
    argv += [] if network else ["--unshare-net"]
    argv += ["--die-with-parent", "--cap-drop", "ALL"]
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            argv += ["--symlink", os.readlink(path), name]
        elif path.is_dir():
            argv += ["--ro-bind", name, name]
    for name in ETC + (ETC_NETWORK if network else ()):
        path = Path("/etc") / name
        if path.exists():  # the target of a link such as resolv.conf, not the link, whose target is not there inside
            argv += ["--ro-bind", str(path.resolve()), str(path)]
    argv += ["--ro-bind-try", "/sys/devices/system/cpu", "/sys/devices/system/cpu"]
    argv += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]  # it would be memory that nobody bounds
    return [*argv, "--size", str(SHM_MB << 20), "--tmpfs", "/dev/shm"]


def seen_inside(path: Path) -> bool:
    """Does the agent find `path` of this machine inside the walls?"""
    return any(path.is_relative_to(root) for root in ("/usr", *tool_roots()))


def tool_roots() -> list[str]:
    """Folders that hold the Python given to the agent (its environment, its base, and links between), without /usr."""
    roots = {sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)}
    link = sys.executable
    while os.path.islink(link):
        link = os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
        roots.add(os.path.dirname(os.path.dirname(link)))
    inside = {"/", *SYSTEM}
    return sorted(r for r in roots if r not in inside and not r.startswith(("/usr/", "/lib/")) and os.path.isdir(r))
