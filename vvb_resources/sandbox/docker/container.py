"""One run at the engine: volumes and their content, the container and its limits, and the removal of all of it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vvb_resources
from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.sandbox.base import DISK_FACTOR, Resources, SandboxPlace, WallsError
from vvb_resources.sandbox.docker.copying import Owned, put
from vvb_resources.sandbox.docker.engine import Image, absent
from vvb_resources.sandbox.docker.naming import OWNER, RUN, VOLUMES, Names

AGENT = 1000  # user and group of the agent in the image
WORK, INPUTS, AGENT_FILES, CONTROL, LINKS = "/work", "/work/inputs", "/agent", "/run/vvb", "/run/links"
FOLDERS = {"work": WORK, "inputs": INPUTS, "agent": AGENT_FILES, "control": CONTROL}
READ_ONLY = ("inputs", "agent")
PROGRAM = f"{CONTROL}/vvb_resources/sandbox/docker/inside.py"
# What inside.py needs, relative to the package: the standard library does the rest.
SOURCES = (
    "__init__.py",
    "gateway/__init__.py",
    "gateway/relay.py",
    "sandbox/__init__.py",
    "sandbox/bounded_log.py",
    "sandbox/keeping.py",
    "sandbox/processes.py",
    "sandbox/supervisor.py",
    "sandbox/docker/__init__.py",
    "sandbox/docker/inside.py",
)
# Of the supervisor alone: to become the agent's user, to end and to measure what that user has. The agent has none.
CAPABILITIES = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE")
OWN_PROCESSES, OWN_MEMORY_MB = 16, 128  # of the supervisor and its logs, beside what the agent may use
LIST_S = 60
TMPFS_SHARE, TMPFS_MB = 8, 1024  # /tmp and /dev/shm are memory: an eighth of it each, at most this


@dataclass(frozen=True)
class Plan:
    """All that a run's container is made from. `links` is the host folder with its Unix sockets, or None."""

    place: SandboxPlace
    policy: SandboxPolicy
    image: Image
    given: Resources
    links: Path | None

    @property
    def names(self) -> Names:
        return Names.of(self.place.root)


def create(client: Any, plan: Plan) -> str:
    """Make volumes, network and container of a run, and fill the volumes; returns the container's id. Nothing runs."""
    names = plan.names
    quota = f"{DISK_FACTOR * plan.policy.file_mb}m"
    for kind in VOLUMES:
        _volume(client, names, kind, quota if kind == "work" else None)
    _fill(client, plan)
    if plan.policy.network == "open":
        client.create_network(names.network, driver="bridge", labels=names.labels)
    mounts = [_mount(names, kind, kind in READ_ONLY) for kind in VOLUMES]
    if plan.links is not None:
        mounts.append({"Type": "bind", "Source": str(plan.links), "Target": LINKS, "ReadOnly": True})
    container = client.create_container(
        plan.image.id,
        command=["python3", "-I", "-S", PROGRAM],
        name=names.container,
        labels=names.labels,
        hostname="sandbox",
        user="0:0",
        working_dir=WORK,
        stdin_open=True,
        entrypoint=[],
        host_config=_host_config(client, plan, mounts),
    )
    return str(container["Id"])


def list_again(client: Any, names: Names, image: str, keep: tuple[str, ...]) -> None:
    """Make left.json of an ended run in a container of its own, which nothing of the agent's can disturb.

    The engine copies folders whole or not at all, so that what there is has to be known before. Raises WallsError when
    it takes more than a minute.
    """
    lister = client.create_container(
        image,
        command=["python3", "-I", "-S", PROGRAM, "list", WORK, f"{CONTROL}/left.json", *keep],
        name=names.lister,
        labels=names.labels,
        user="0:0",
        entrypoint=[],
        host_config=client.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            cap_add=["DAC_OVERRIDE"],
            mem_limit=OWN_MEMORY_MB << 20,
            mounts=[_mount(names, "work", True), _mount(names, "control", False)],
        ),
    )["Id"]
    try:
        client.start(lister)
        client.wait(lister, timeout=LIST_S)
    finally:
        _gone(client.remove_container, lister, force=True)


def remove(client: Any, names: Names) -> None:
    """Remove everything that carries the run's labels. Raises WallsError when something cannot be removed."""
    wanted = {"label": [f"{OWNER}={names.owner}", f"{RUN}={names.run}"]}
    for container in client.containers(all=True, filters=wanted):
        _gone(client.remove_container, container["Id"], force=True)
    for volume in client.volumes(filters=wanted)["Volumes"] or ():
        _gone(client.remove_volume, volume["Name"])
    for network in client.networks(filters=wanted):
        _gone(client.remove_network, network["Id"])


def left_runs(client: Any, owner: str) -> set[str]:
    """Runs of `owner` of which the engine still has anything."""
    wanted = {"label": [f"{OWNER}={owner}"]}
    found = [entry["Labels"] for entry in client.containers(all=True, filters=wanted)]
    found += [entry["Labels"] for entry in client.volumes(filters=wanted)["Volumes"] or ()]
    found += [entry["Labels"] for entry in client.networks(filters=wanted)]
    return {labels[RUN] for labels in found}


def _gone(call: Callable[..., Any], name: str, **options: Any) -> None:
    """Remove one object; that it is gone already, or is just going, is as good."""
    try:
        call(name, **options)
    except Exception as error:
        going = "is already in progress" in str(error)
        if not (absent(error) or going):
            raise


def _volume(client: Any, names: Names, kind: str, quota: str | None) -> None:
    """A labelled volume; bounded by the kernel where the engine's file system can (XFS with project quotas)."""
    if quota is not None:
        with contextlib.suppress(Exception):  # "no quota support": then the supervisor's measurement is the bound
            client.create_volume(names.volume(kind), labels=names.labels, driver_opts={"size": quota})
            return
    client.create_volume(names.volume(kind), labels=names.labels)


def _fill(client: Any, plan: Plan) -> None:
    """Put work folder, inputs, agent files and the supervisor's sources into the volumes, with their owners."""
    place, names = plan.place, plan.names
    filler = client.create_container(
        plan.image.id,
        command=["true"],
        name=names.filler,
        labels=names.labels,
        entrypoint=[],
        host_config=client.create_host_config(
            network_mode="none", mounts=[_mount(names, kind, False) for kind in VOLUMES]
        ),
    )["Id"]
    try:
        work = [Owned(path, path.name, AGENT) for path in sorted(place.work.iterdir()) if path != place.inputs]
        # The mount point itself, so that the agent may write there.
        put(client, filler, "/", [Owned(_empty(place.root / "mount"), "work", AGENT, 0o755)])
        put(client, filler, WORK, work)
        for kind, folder in (("inputs", place.inputs), ("agent", place.agent)):
            put(client, filler, FOLDERS[kind], [Owned(path, path.name, 0) for path in sorted(folder.iterdir())])
        package = Path(vvb_resources.__file__).parent
        put(client, filler, CONTROL, [Owned(package / source, f"vvb_resources/{source}", 0) for source in SOURCES])
        put(client, filler, "/run", [Owned(_empty(place.root / "mount"), "vvb", 0, 0o700)])
    finally:
        client.remove_container(filler, force=True)


def _empty(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _mount(names: Names, kind: str, read_only: bool) -> dict[str, Any]:
    return {
        "Type": "volume",
        "Source": names.volume(kind),
        "Target": FOLDERS[kind],
        "ReadOnly": read_only,
        "VolumeOptions": {"NoCopy": True},
    }


def _host_config(client: Any, plan: Plan, mounts: list[dict[str, Any]]) -> Any:
    policy, given = plan.policy, plan.given
    memory = (given.memory_mb + OWN_MEMORY_MB) << 20
    in_memory = min(TMPFS_MB, given.memory_mb // TMPFS_SHARE) << 20
    return client.create_host_config(
        network_mode=plan.names.network if policy.network == "open" else "none",
        read_only=True,
        cap_drop=["ALL"],
        cap_add=list(CAPABILITIES),
        security_opt=["no-new-privileges:true"],
        pids_limit=policy.processes + OWN_PROCESSES,
        mem_limit=memory,
        memswap_limit=memory,
        nano_cpus=given.cpus * 10**9,
        shm_size=in_memory,
        tmpfs={"/tmp": f"rw,nosuid,nodev,exec,size={in_memory},mode=1777"},
        mounts=mounts,
        ipc_mode="private",
        log_config={"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
    )


def send(client: Any, container: str, request: dict[str, Any]) -> None:
    """Start the container and hand it its request on standard input. Never a file or a variable: it may hold keys."""
    socket = client.attach_socket(container, params={"stdin": 1, "stream": 1})
    raw = getattr(socket, "_sock", socket)
    try:
        client.start(container)
        raw.sendall(json.dumps(request).encode() + b"\n")
    finally:
        socket.close()


def state(client: Any, container: str) -> dict[str, Any]:
    """`State` of `docker inspect`. Raises WallsError when the container is gone."""
    try:
        found: dict[str, Any] = client.inspect_container(container)["State"]
    except Exception as error:
        if absent(error):
            raise WallsError("the container of the run is gone", where=container, remedy="run it again") from error
        raise
    return found
