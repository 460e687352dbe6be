"""The first process of a run's container: starts the supervisor, carries its links to the outside, lists what is left.

Run as a script (`python3 -I -S inside.py`) by the image's Python with the standard library alone, as the container's
root without the rights of one; the agent is another user and can neither end nor change it. It outlives the platform:
the deadline is kept and the outcome written whether or not somebody still waits for them.

Its standard input is one line, the supervisor's request with `links` ([port, path of a Unix socket] each, carried from
127.0.0.1) and `keep` (paths below the work folder). Left in the control folder: outcome.json, the bounded logs, and
left.json, the list of the regular files below each kept path, those at its top first. `inside.py list WORK OUT PATH...`
makes that list alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[3]))  # isolated mode leaves even the script's own folder out

from vvb_resources.gateway.relay import listen
from vvb_resources.sandbox import supervisor

MAX_LISTED = 25_000
MAX_DEPTH = 40


def list_files(root: str) -> dict[str, Any]:
    """{files: [[path relative to root, size]...], more: bool, bytes: int} of regular files; links are not followed."""
    files: list[list[Any]] = []
    total, more = 0, False
    level, depth = [""], 0
    while level and depth < MAX_DEPTH and not more:
        below: list[str] = []
        for prefix in level:
            try:
                entries = sorted(os.scandir(os.path.join(root, prefix)), key=lambda entry: os.fsencode(entry.name))
            except OSError:
                continue
            for entry in entries:
                path = f"{prefix}/{entry.name}" if prefix else entry.name
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        below.append(path)
                    elif stat.S_ISREG((status := entry.stat(follow_symlinks=False)).st_mode):
                        files.append([path, status.st_size])
                        total += status.st_size
                if len(files) + len(below) > MAX_LISTED:
                    more = True
                    break
        level, depth = below, depth + 1
    return {"files": files, "more": more or bool(level), "bytes": total}


async def run(request: dict[str, Any]) -> int:
    """Serve the links while the supervisor runs; returns its exit code."""
    servers = [await listen(path, port) for port, path in request.pop("links")]
    request["parent"] = os.getpid()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", supervisor.__file__, stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    await process.stdin.drain()
    code = await process.wait()
    for server in servers:
        server.close()
    return code


def write_list(work: str, out: str, keep: list[str]) -> None:
    """Write left.json at `out`."""
    supervisor.write_json(out, {path: list_files(os.path.join(work, path)) for path in keep})


def main() -> int:
    """The whole life of the container."""
    if sys.argv[1:2] == ["list"]:
        write_list(sys.argv[2], sys.argv[3], sys.argv[4:])
        return 0
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        sys.exit("the platform was gone before it had sent its request")
    request = json.loads(line)
    keep, work, outcome = request.pop("keep"), request["cwd"], request["outcome"]
    if shutil.which(request["argv"][0], path=request["env"].get("PATH")) is None:
        supervisor.write_json(outcome, {"ended": "no_program"})
        return 0
    code = asyncio.run(run(request))
    write_list(work, os.path.join(os.path.dirname(outcome), "left.json"), keep)
    return code


if __name__ == "__main__":
    sys.exit(main())
