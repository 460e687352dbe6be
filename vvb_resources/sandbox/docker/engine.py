"""The Docker engine behind the containers: reaching it, what it has, and what a run is given of it.

The engine is the one that DOCKER_HOST names (default: /var/run/docker.sock). Every call of the SDK that can fail for
the engine's sake goes through `talking`, so that a fault of it is one typed line.
"""

from __future__ import annotations

import contextlib
import functools
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import Resources, WallsError

DEFAULT_IMAGE = "vibevideobench-sandbox:1"
TOOLS_FILE = "/opt/vvb/tools.tsv"
TIMEOUT_S = 60
HOST_SHARE = 0.9  # of the machine's memory: an agent must not crowd out the platform that measures it
MAX_TOOLS_BYTES = 1 << 16


def connect() -> Any:
    """A low-level client of the engine (docker.APIClient), for one thread. Raises SandboxError when there is none."""
    try:
        import docker
    except ImportError as error:
        raise SandboxError(
            "the Docker sandbox needs Docker's Python library",
            where="benchmark.yaml: sandbox.kind",
            remedy="pip install 'vibevideobench[docker]'",
        ) from error
    try:
        client = docker.APIClient(version="auto", timeout=TIMEOUT_S, **docker.utils.kwargs_from_env())
        client.ping()
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxError(
            f"no Docker engine answers ({_short(error)})",
            where="benchmark.yaml: sandbox.kind: docker",
            remedy="start Docker, or set DOCKER_HOST to an engine that runs",
        ) from error
    return client


def engine_version() -> dict[str, Any]:
    """`docker version` of the engine. Raises SandboxError when there is none."""
    found: dict[str, Any] = connect().version()
    return found


@contextlib.contextmanager
def talking(where: str) -> Iterator[None]:
    """Turn what the SDK raises into WallsError: the engine failed, the run is lost, another attempt may succeed."""
    import docker
    import requests

    try:
        yield
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise WallsError(
            f"the Docker engine failed: {_short(error)}", where=where, remedy="see that Docker runs (vvb doctor)"
        ) from error


def absent(error: Exception) -> bool:
    """Does this error of the SDK say that the object is not there (any more)?"""
    return getattr(getattr(error, "response", None), "status_code", None) == 404


@dataclass(frozen=True)
class Image:
    """An image as the engine has it: content id, the environment it sets, the tools that it says it has."""

    name: str
    id: str
    env: dict[str, str]
    tools: tuple[tuple[str, str], ...]


def find_image(client: Any, policy: SandboxPolicy) -> Image:
    """The policy's image. Raises SandboxError when the engine does not have it: nothing is pulled behind one's back."""
    import docker

    name = policy.image or DEFAULT_IMAGE
    try:
        details = client.inspect_image(name)
    except docker.errors.ImageNotFound as error:
        raise SandboxError(
            f"the engine has no image {name!r}",
            where="benchmark.yaml: sandbox.image",
            remedy="build it (deploy/sandbox/build) or pull it",
        ) from error
    env = dict(entry.split("=", 1) for entry in details["Config"].get("Env") or () if "=" in entry)
    return Image(name, details["Id"], env, _tools(client.base_url, details["Id"]))


@functools.cache
def _tools(_engine: str, image_id: str) -> tuple[tuple[str, str], ...]:
    """What the image's own list says, line by line `name<TAB>description`; empty for an image without such a list."""
    import docker

    client = connect()
    container = client.create_container(image_id, command=["true"], network_disabled=True)["Id"]
    try:
        stream, _ = client.get_archive(container, TOOLS_FILE)
        data = b"".join(stream)[:MAX_TOOLS_BYTES]
    except docker.errors.NotFound:
        return ()
    finally:
        client.remove_container(container, v=True, force=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        file = archive.extractfile(archive.getmembers()[0])
        text = file.read().decode("utf-8", "replace") if file else ""
    rows = [line.split("\t", 1) for line in text.splitlines() if "\t" in line]
    return tuple((row[0], row[1]) for row in rows)


def resources(policy: SandboxPolicy, info: dict[str, Any]) -> Resources:
    """What a run under `policy` is given on an engine whose `docker info` is `info` (NCPU, MemTotal in bytes).

    A machine that is smaller than the policy gives what it has, and the run is marked as not comparable.
    """
    cpus_here, memory_here = int(info["NCPU"]), int(info["MemTotal"] * HOST_SHARE) >> 20
    cpus = min(policy.cpus or cpus_here, cpus_here)
    memory = min(policy.memory_mb, memory_here)
    return Resources(
        cpus_asked=policy.cpus,
        cpus=cpus,
        memory_mb_asked=policy.memory_mb,
        memory_mb=memory,
        comparable=policy.cpus in (None, cpus) and memory == policy.memory_mb,
    )


def _short(error: Exception) -> str:
    """The engine's own words, on one line."""
    return " ".join(str(getattr(error, "explanation", None) or error).split())[:300]
