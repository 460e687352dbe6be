"""The end of a run in a container: waiting for it, enforcing it from outside, and bringing out what it left.

Nothing here depends on who started the container: after a `kill -9` of the platform, the next one does the same from
the run's card. The container is not removed here, but by the caller once the copy is known to be whole.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import (
    Ended,
    Isolation,
    Limit,
    PostMortem,
    Resources,
    SandboxOutcome,
    SandboxPlace,
    WallsError,
)
from vvb_resources.sandbox.collect import protect
from vvb_resources.sandbox.docker import container as engine_run
from vvb_resources.sandbox.docker.container import CONTROL, WORK
from vvb_resources.sandbox.docker.copying import read_file, take
from vvb_resources.sandbox.docker.engine import absent, talking
from vvb_resources.sandbox.docker.naming import Names
from vvb_resources.sandbox.helpers import served_until
from vvb_resources.store.atomic import sync_tree, write_json
from vvb_resources.store.trees import remove_tree

POLL_S = 0.2
GRACE_S = 2.5  # after the deadline the supervisor ends the agent; after this too, the container is killed
OUTCOME_BYTES, LEFT_BYTES, LOG_FILE_BYTES = 1 << 20, 64 << 20, 40 << 20
LAST_OUTPUT = 2000
NOTHING: dict[str, Any] = {"files": [], "more": False, "bytes": 0}


class Ending(BaseModel):
    """What is needed to end a run, kept beside it on disk: how long, what to bring out, and how much of it at most.

    `linked`: the agent was given a way out (its model gateway, mirrors), which a helper process serves.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    deadline: float
    keep: tuple[str, ...]
    bounds: tuple[int, int]
    linked: bool
    image: str
    resources: Resources
    isolation: Isolation


def finish(client: Any, place: SandboxPlace, ending: Ending, *, resumed: bool = False) -> SandboxOutcome | None:
    """Wait until the container is over, at most to a moment after its deadline; copy out and describe what it left.

    None: the container never started, or was over before the agent was. Raises SandboxError when the agent's program
    is not in the image, WallsError when the run is lost.
    """
    names = Names.of(place.root)
    with talking(names.container):
        try:
            state = engine_run.state(client, names.container)
        except WallsError:
            if resumed:
                return None
            raise
        if resumed and state["Status"] == "created":
            return None
        if resumed and state["Running"] and ending.linked and not served_until(place, None):
            _kill(client, names.container)
            raise _link_gone(place)
        killed = _wait(client, names.container, ending.deadline)
        state = engine_run.state(client, names.container)
        told = read_file(client, names.container, f"{CONTROL}/outcome.json", OUTCOME_BYTES)
        report: dict[str, Any] | None = json.loads(told) if told else None
        if report is not None and report["ended"] == "no_program":
            raise SandboxError(
                "the agent's program is not in the sandbox's image",
                where=str(place.root),
                remedy="correct `command` in the system's file, or build the image with it",
            )
        if resumed and report is None and not state["OOMKilled"] and time.time() < ending.deadline:
            return None  # it lost its parent before it had its request
        _fetch(client, names.container, place, ending)
    outcome = _outcome(place, ending, state, report, killed)
    if resumed and ending.linked and not served_until(place, outcome.started_at + outcome.seconds):
        raise _link_gone(place)
    return outcome


def _link_gone(place: SandboxPlace) -> WallsError:
    return WallsError(
        "the agent lost its way to the model gateway or to the mirrors before it ended",
        where=str(place.root),
        remedy="the run is made again; this attempt's folder is kept",
    )


def _wait(client: Any, container: str, deadline: float) -> bool:
    """Wait for the container; True when it had to be killed after its deadline."""
    killed = False
    while engine_run.state(client, container)["Running"]:
        if time.time() > deadline + GRACE_S and not killed:
            killed = True
            _kill(client, container)
        time.sleep(POLL_S)
    return killed


def _kill(client: Any, container: str) -> None:
    try:
        client.kill(container)
    except Exception as error:  # it ended in this very moment
        if not (absent(error) or "is not running" in str(error)):
            raise


def _fetch(client: Any, container: str, place: SandboxPlace, ending: Ending) -> None:
    """Bring kept paths and logs to the host, durably and read-only. May be done again after it was cut short."""
    told = read_file(client, container, f"{CONTROL}/left.json", LEFT_BYTES)
    if told is None:  # the supervisor did not come to see the end
        engine_run.list_again(client, Names.of(place.root), ending.image, ending.keep)
        told = read_file(client, container, f"{CONTROL}/left.json", LEFT_BYTES)
    listed = json.loads(told or b"{}")
    for path in ending.keep:
        target = place.work / path
        remove_tree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        take(client, container, f"{WORK}/{path}", target, listed.get(path, NOTHING), ending.bounds)
        if target.is_dir() and not target.is_symlink():
            sync_tree(target)
            protect(target)
    for name in ("stdout.txt", "stderr.txt"):
        content = read_file(client, container, f"{CONTROL}/{name}", LOG_FILE_BYTES)
        (place.logs / name).write_bytes(content or b"")
    engine_says = client.logs(container, tail=50, stdout=True, stderr=True)
    (place.logs / "container.txt").write_bytes(engine_says[-LOG_FILE_BYTES:])
    sync_tree(place.logs)


def _outcome(
    place: SandboxPlace, ending: Ending, state: dict[str, Any], report: dict[str, Any] | None, killed: bool
) -> SandboxOutcome:
    """What the supervisor and the engine say, as one outcome."""
    started, finished = _seconds(state["StartedAt"]), _seconds(state["FinishedAt"])
    post_mortem = PostMortem(
        image=ending.image,
        exit_code=int(state["ExitCode"]),
        oom_killed=bool(state["OOMKilled"]),
        oom_kills=report.get("oom_kills", 0) if report else 0,
        killed_from_outside=killed,
        started_at=started,
        finished_at=finished,
        last_output=_last_output(place.logs),
    )
    write_json(place.logs / "post_mortem.json", post_mortem.model_dump(mode="json"))
    if report is None and not (killed or post_mortem.oom_killed):
        says = (place.logs / "container.txt").read_bytes().decode("utf-8", "replace").strip().splitlines()
        raise WallsError(
            f"the container ended with {state['ExitCode']} and no outcome: {says[-1] if says else 'no message'}",
            where=str(place.root),
            remedy="run it again; the folder of this attempt is kept",
        )
    ended, exit_code, signal, limit = _how(report, post_mortem)
    began = report["started_at"] if report else started or finished or 0.0
    return SandboxOutcome(
        ended=ended,
        exit_code=exit_code,
        signal=signal,
        limit=limit,
        started_at=began,
        seconds=report["seconds"] if report else max(0.0, (finished or began) - began),
        cpu_s=report["cpu_s"] if report else 0.0,
        peak_rss_mb=report["peak_rss"] / 2**20 if report else 0.0,
        killed=report["killed"] if report else 0,
        stdout_bytes=report["stdout_bytes"] if report else 0,
        stderr_bytes=report["stderr_bytes"] if report else 0,
        isolation=ending.isolation,
        kept=report.get("kept") if report else None,
        resources=ending.resources,
        post_mortem=post_mortem,
    )


def _how(report: dict[str, Any] | None, seen: PostMortem) -> tuple[Ended, int | None, int | None, Limit | None]:
    """(ended, exit code, signal, limit). Without a report the container was killed: at its deadline, or for memory."""
    if report is None:
        return ("timed_out", None, None, None) if seen.killed_from_outside else ("error", None, None, "memory")
    cause = str(report["ended"])
    if cause == "deadline":
        return "timed_out", None, None, None
    if cause == "limit":
        return "error", None, None, report["limit"]
    if cause != "exited":
        raise WallsError(f"the supervisor ended the agent: {cause}", remedy="run it again")
    code = int(report["code"])
    signal = -code if code < 0 else None
    if signal == 9 and seen.oom_kills:  # the kernel's SIGKILL, and it says why
        return "error", None, signal, "memory"
    return ("self" if code == 0 else "error"), (code if code >= 0 else None), signal, None


def _seconds(stamp: str) -> float | None:
    """Unix seconds of the engine's time stamp (RFC 3339 with nanoseconds); None for its zero."""
    if stamp.startswith("0001"):
        return None
    whole, _, rest = stamp.rstrip("Z").partition(".")
    fraction = float(f"0.{rest}") if rest.isdigit() else 0.0
    return dt.datetime.fromisoformat(whole).replace(tzinfo=dt.UTC).timestamp() + fraction


def _last_output(logs: Path) -> str:
    """The end of what the agent said, errors before results."""
    for name in ("stderr.txt", "stdout.txt"):
        with (logs / name).open("rb") as handle:
            handle.seek(max(0, os.fstat(handle.fileno()).st_size - LAST_OUTPUT))
            text = handle.read().decode("utf-8", "replace").strip()
        if text:
            return text
    return ""
