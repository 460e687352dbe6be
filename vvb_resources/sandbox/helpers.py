"""Processes that serve one run and may outlive the platform: what an agent in a container needs after a `kill -9`.

The platform starts a helper with one line on its standard input (never a file: it may hold keys) and waits for one line
back. From then on the helper lives until it is told to end (SIGTERM) or its time is over, whether or not the platform
does. Its state file in the run's folder says who it is, and in the end when it ended: so that the next platform can
tell whether a run was served to its end, and end what nobody needs.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vvb_resources
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxPlace
from vvb_resources.sandbox.processes import identity
from vvb_resources.sandbox.reaper import alive, boot_id, kill_exactly, mark
from vvb_resources.store.atomic import write_json

LINGER_S = 30.0  # after the run's deadline: by then its container is over, whoever enforced that
END_S = 5.0
SLACK_S = 0.5
LINKS, LINK_PREFIX = "links", "vvb-links-"


@contextlib.contextmanager
def helper(place: SandboxPlace, name: str, module: str, request: dict[str, Any], until: float) -> Iterator[None]:
    """Run `python -m module` beside the run in `place` until the context ends, or without us until Unix time `until`.

    Raises SandboxError with the helper's own words when it cannot serve.
    """
    state = _state(place, name)
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(place.root / f"helper-{name}.txt").open("wb"),
        env={**os.environ, "PYTHONPATH": _path()},
        start_new_session=True,  # an interrupt at the terminal is for the platform
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        line = json.dumps({**request, "state": str(state), "mark": mark(place.root), "until": until})
        with contextlib.suppress(BrokenPipeError):  # told by the missing answer
            process.stdin.write(line.encode() + b"\n")
            process.stdin.close()
        answer = process.stdout.readline().decode("utf-8", "replace").strip()
        if answer != "ready":
            raise SandboxError(f"the run's {name} cannot serve ({answer or 'no message'})", where=str(place.root))
        yield
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextlib.contextmanager
def link_folder(place: SandboxPlace) -> Iterator[Path]:
    """A folder for sockets, until the context ends, or without us until `end_helpers`.

    Not below the run's folder, which only names it by a link: the path of a socket may have about a hundred bytes.
    """
    folder = Path(tempfile.mkdtemp(prefix=LINK_PREFIX))
    name = place.root / LINKS
    name.unlink(missing_ok=True)
    name.symlink_to(folder)
    folder.chmod(0o711)  # the container's first process may look up a name in it; the sockets are open to it alone
    try:
        yield folder
    finally:
        _remove_links(place)


def _remove_links(place: SandboxPlace) -> None:
    name = place.root / LINKS
    if name.is_symlink():
        folder = Path(os.readlink(name))
        if folder.name.startswith(LINK_PREFIX):
            shutil.rmtree(folder, ignore_errors=True)
        name.unlink(missing_ok=True)


def end_helpers(place: SandboxPlace) -> None:
    """End every helper of the run in `place` that still lives; each closes its books first if it can."""
    _end_processes(place)
    _remove_links(place)


def _end_processes(place: SandboxPlace) -> None:
    for path in place.root.glob("helper-*.json"):
        content = _read(path)
        if not _living(content):
            continue
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(content["helper"]["pid"]), signal.SIGTERM)
        until = time.monotonic() + END_S
        while alive(content["helper"]) and time.monotonic() < until:
            time.sleep(0.02)
        kill_exactly(content["helper"])


def served_until(place: SandboxPlace, moment: float | None) -> bool:
    """Did the run in `place` have helpers, and have all of them served until Unix time `moment` (None: now)?"""
    contents = [_read(path) for path in place.root.glob("helper-*.json")]
    return bool(contents) and all(
        _living(content) or (moment is not None and content.get("ended_at", 0.0) >= moment - SLACK_S)
        for content in contents
    )


def end_unowned(owner: Path, claimed: set[str]) -> list[str]:
    """End helpers below `owner` whose platform is gone, but for those of runs in `claimed`; returns the runs' names."""
    ended = []
    for path in sorted(owner.glob("*/helper-*.json")):
        content = _read(path)
        mine = content.get("mark", {})
        owned = mine.get("boot") == boot_id() and alive(mine["parent"])
        if path.parent.name not in claimed and not owned and _living(content):
            end_helpers(SandboxPlace(path.parent))
            ended.append(path.parent.name)
    return ended


# ---------------------------------------------------------------- in the helper


def serve(start: Any) -> None:
    """The whole life of a helper: `start(request)` makes it serve and returns a function that ends that.

    Raises nothing: what `start` raises is told to the platform in one line. `request["remove"]`, a folder with sockets,
    is removed at the end, since the platform that made it may be gone.
    """
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        return
    request = json.loads(line)
    state = {"mark": request["mark"], "helper": identity(os.getpid()), "boot": boot_id()}
    write_json(Path(request["state"]), state)
    try:
        stop = start(request)
    except (OSError, SandboxError) as error:
        print(" ".join(str(error).split()), flush=True)
        return
    print("ready", flush=True)
    ended.wait(max(0.0, request["until"] - time.time()))
    moment = time.time()
    stop()
    write_json(Path(request["state"]), {**state, "ended_at": moment})
    if request.get("remove"):
        shutil.rmtree(request["remove"], ignore_errors=True)


def _living(content: dict[str, Any]) -> bool:
    return content.get("boot") == boot_id() and alive(content["helper"])


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def _state(place: SandboxPlace, name: str) -> Path:
    return place.root / f"helper-{name}.json"


def _path() -> str:
    """Where the helper finds this package, as this process does."""
    here = str(Path(vvb_resources.__file__).resolve().parents[1])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
