"""A gateway in a process of its own: it serves an agent that outlives the platform, until the run's deadline.

`python -m vvb_resources.gateway.process`, as a helper of a run (sandbox/helpers.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from vvb_resources.errors import SandboxError
from vvb_resources.gateway.running import Gateway
from vvb_resources.gateway.settings import GatewaySettings
from vvb_resources.sandbox.base import GatewayPoint, SandboxPlace
from vvb_resources.sandbox.helpers import LINGER_S, helper, serve


@contextlib.contextmanager
def outliving_gateway(
    settings: GatewaySettings, point: GatewayPoint, folder: Path, place: SandboxPlace
) -> Iterator[str]:
    """A gateway at the Unix socket of `point` that logs into the existing empty `folder`; gives the agent's base URL.

    It ends with the context, and without this process soon after the deadline. Raises SandboxError when it cannot
    listen.
    """
    if point.socket is None:
        raise SandboxError("a gateway that outlives the platform needs a socket", where=str(place.root))
    request = {
        "settings": settings.as_json(),
        "url": point.url,
        "socket": str(point.socket),
        "folder": str(folder),
        "remove": str(point.socket.parent),
    }
    with helper(place, "gateway", "vvb_resources.gateway.process", request, settings.deadline + LINGER_S):
        yield point.base_url(None)


def start(request: dict[str, Any]) -> Callable[[], None]:
    """Listen as the request says; returns what ends that."""
    settings = GatewaySettings.from_json(request["settings"])
    running = Gateway(
        settings, GatewayPoint(url=request["url"], socket=Path(request["socket"])), Path(request["folder"])
    )
    running.start()
    return running.stop


if __name__ == "__main__":
    serve(start)
