"""The Docker sandbox: a fresh container a run, that keeps its own deadline and outlives a platform that was killed.

`run` fills volumes, starts the container, waits, copies out what the agent left, and only then removes everything. Each
step can be cut short by a `kill -9`; `resume` goes on from wherever that was. docs/design/sandbox.md has the reasons.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import (
    DISK_FACTOR,
    GatewayPoint,
    Isolation,
    Resources,
    SandboxOutcome,
    SandboxPlace,
    SandboxRequest,
    SandboxView,
    WallsError,
)
from vvb_resources.sandbox.docker import container as engine_run
from vvb_resources.sandbox.docker.container import AGENT, CONTROL, LINKS, WORK, Plan
from vvb_resources.sandbox.docker.ending import Ending, finish
from vvb_resources.sandbox.docker.engine import Image, connect, find_image, resources, talking
from vvb_resources.sandbox.docker.leftovers import CARD, put_away, resume
from vvb_resources.sandbox.docker.naming import Names
from vvb_resources.sandbox.docker.proxy import serve_mirrors
from vvb_resources.sandbox.helpers import link_folder
from vvb_resources.sandbox.reaper import mark
from vvb_resources.store.atomic import write_json

LOG_BYTES = 16 << 20
GATEWAY_PORT, PROXY_PORT = 8642, 8643  # in a network space of the container's own, so that nothing else has them
GATEWAY_SOCKET, PROXY_SOCKET = "gateway", "mirrors"
NETWORKS = {
    "none": "no network",
    "gateway": "no network but the model gateway",
    "gateway_and_mirrors": "no network but the model gateway and package mirrors",
    "open": "network open by policy",
}


class DockerSandbox:
    """`base.Sandbox` in containers of the engine that DOCKER_HOST names."""

    outlives = True

    def __init__(self, policy: SandboxPolicy) -> None:
        """Raises SandboxError when there is no engine, or no image of the policy's name."""
        client = connect()
        self.image: Image = find_image(client, policy)
        with talking("docker info"):
            self.info: dict[str, Any] = client.info()
        self.given: Resources = resources(policy, self.info)

    def prepare(self, place: SandboxPlace) -> None:
        """Nothing to do: the image has the tools."""

    def view(self, place: SandboxPlace) -> SandboxView:
        """Folders have the same place in every container."""
        return SandboxView(
            work=WORK,
            agent=engine_run.AGENT_FILES,
            python="python3",
            path=self.image.env.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            tools=self.image.tools,
            memory_mb=self.given.memory_mb,
        )

    def isolation(self, policy: SandboxPolicy) -> Isolation:
        """A container's walls, what it is given, and what of the benchmark's wishes this machine lacks."""
        given = self.given
        lacking = (
            ""
            if given.comparable
            else f"; NOT COMPARABLE: {given.cpus_asked} CPUs and {given.memory_mb_asked} MiB are asked for"
        )
        return Isolation(
            network="open" if policy.network == "open" else "closed",
            filesystem="closed",
            statement=f"Docker {self.info.get('ServerVersion', '?')}, image {self.image.id[7:19]}: "
            f"{NETWORKS[policy.network]}, a closed file system, processes of its own, {given.cpus} CPUs, "
            f"{given.memory_mb} MiB{lacking}",
        )

    @contextlib.contextmanager
    def gateway(self, place: SandboxPlace, policy: SandboxPolicy) -> Iterator[GatewayPoint]:
        """See `base.Sandbox.gateway`: a Unix socket, which the container's first process makes a port of its own."""
        if policy.network == "none":
            raise SandboxError(
                "the agent calls a model, and the policy allows it no gateway",
                where="benchmark.yaml: sandbox.network",
                remedy="use network: gateway",
            )
        with link_folder(place) as folder:
            yield GatewayPoint(url=f"http://127.0.0.1:{GATEWAY_PORT}", socket=folder / GATEWAY_SOCKET)

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        """See `base.Sandbox.run`. An interrupt of the caller removes the container before it is passed on."""
        place, policy = request.place, request.policy
        place.logs.mkdir(exist_ok=True)
        names = Names.of(place.root)
        with contextlib.ExitStack() as stack:
            folder = request.gateway.socket.parent if request.gateway and request.gateway.socket else None
            links, env = [], {**self.image.env, **request.env}
            if folder is not None and request.gateway and request.gateway.socket:
                links.append([GATEWAY_PORT, f"{LINKS}/{request.gateway.socket.name}"])
            if policy.network == "gateway_and_mirrors":
                folder = folder or stack.enter_context(link_folder(place))
                log = place.logs / "mirrors.jsonl"
                socket = folder / PROXY_SOCKET
                stack.enter_context(serve_mirrors(socket, policy.mirrors, log, place, request.deadline))
                links.append([PROXY_PORT, f"{LINKS}/{PROXY_SOCKET}"])
                env.update(proxy_environment(f"http://127.0.0.1:{PROXY_PORT}"))
            ending = Ending(
                deadline=request.deadline,
                keep=("delivery", *request.keep),
                bounds=(DISK_FACTOR * policy.file_mb << 20, policy.files),
                linked=bool(links),
                image=self.image.id,
                resources=self.given,
                isolation=self.isolation(policy),
            )
            write_json(place.root / CARD, {**ending.model_dump(mode="json"), "mark": mark(place.root)})
            client = connect()
            try:
                with talking(names.container):
                    made = engine_run.create(client, Plan(place, policy, self.image, self.given, folder))
                    asked = supervisor_request(request, env, self.given, links, ending)
                    engine_run.send(client, made, asked)
                outcome = finish(client, place, ending)
            except BaseException:
                with contextlib.suppress(WallsError), talking(names.container):
                    engine_run.remove(client, names)
                (place.root / CARD).unlink(missing_ok=True)
                raise
        assert outcome is not None  # None is for resumed runs alone
        return put_away(client, place, outcome)

    def resume(self, place: SandboxPlace) -> SandboxOutcome | None:
        """See `leftovers.resume`."""
        return resume(place)


def proxy_environment(url: str) -> dict[str, str]:
    """The variables by which pip, npm, apt and curl find a proxy."""
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    return {**dict.fromkeys(names, url), "no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}


def supervisor_request(
    request: SandboxRequest, env: dict[str, str], given: Resources, links: list[list[Any]], ending: Ending
) -> dict[str, Any]:
    """What the container's first process is sent (inside.py, supervisor.py)."""
    policy = request.policy
    return {
        "argv": list(request.command),
        "cwd": WORK,
        "env": env,
        "deadline": request.deadline,
        "mark": {},
        "state": f"{CONTROL}/state.json",
        "outcome": f"{CONTROL}/outcome.json",
        "stdout": f"{CONTROL}/stdout.txt",
        "stderr": f"{CONTROL}/stderr.txt",
        "log_bytes": LOG_BYTES,
        "memory": given.memory_mb << 20,
        "processes": policy.processes,
        "file": policy.file_mb << 20,
        "disk": DISK_FACTOR * policy.file_mb << 20,
        "cpus": None,  # the engine's quota
        "drop_capabilities": False,  # becoming an ordinary user does
        "user": [AGENT, AGENT],
        "own_cgroup": True,
        "kept": f"{CONTROL}/kept",
        "links": links,
        "keep": list(ending.keep),
    }
