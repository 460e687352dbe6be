"""What a provider is, and how one is found by its file's name.

A provider is a module of this folder with
    VERSION       what in its own code could change a reply (how it puts a request on the wire; what an instrument
                  measures)
    MEASURES      does it use probes; a model judge never sees them, so a changed probe must not cost it a call
    PAID          do its calls pass the budget and the gate (an instrument's do not)
    create        makes the provider for one judge from the services a run has
    reply_text    the reply in the wire format out of a stored body: pure, so that a newer reader reads old ones
    media_tokens  tokens that the service counts for a video, for the estimate of a call
    delete_upload only where files are left with the service: deletes one that a killed process has left
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.errors import JudgeError
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.types import JudgeRequest, RawReply
from vvb_resources.judges.uploads import UploadList


@dataclass(frozen=True)
class Services:
    """What a run offers a provider: the cache of what was derived from blinded videos, and the list of what it leaves
    with its service (None: what is left there is deleted when the provider closes, and not after a kill)."""

    cache: ObservationCache
    uploads: UploadList | None = None


class Provider(Protocol):
    """Asks one judge about one video, as often as is needed for a whole answer."""

    def answer(self, request: JudgeRequest) -> RawReply:
        """Ask once. Whatever came over the wire is returned, failures included, with the outcome its envelope states.

        Raises JudgeError when nothing came and asking again is pointless (configuration, key, tool).
        """
        ...

    def close(self) -> None:
        """Take back what was left with the service (uploaded files). Never raises."""
        ...


class ProviderModule(Protocol):
    """The module of a provider."""

    VERSION: str
    MEASURES: bool
    PAID: bool

    def create(self, judge: JudgeConfig, services: Services) -> Provider:
        """The provider of one judge. Raises JudgeError when the judge's configuration is not for it."""
        ...

    def reply_text(self, body: bytes) -> str:
        """The text in the wire format held by a stored body; "" when it holds none. Never raises."""
        ...

    def media_tokens(self, judge: JudgeConfig, duration_s: float, width: int, height: int) -> int:
        """Tokens of a video of `duration_s` seconds and `width` x `height` pixels as this judge is given it."""
        ...


def delete_orphans(uploads: UploadList) -> list[str]:
    """Delete what killed processes have left with services; returns a line for each. Without its key a file stays."""
    told = []
    for upload in uploads.orphans():
        key = os.environ.get(upload.key or "")
        delete = getattr(provider_module(upload.provider), "delete_upload", None)
        if not key or delete is None:
            continue
        try:
            delete(upload, key)
        except ImportError:
            continue  # its SDK is not installed any more
        uploads.forget(upload.name)
        told.append(f"deleted an upload left with {upload.provider} by a process that was killed")
    return told


def provider_names() -> tuple[str, ...]:
    """The providers there are."""
    import vvb_resources.judges.providers as here

    return tuple(sorted(module.name for module in pkgutil.iter_modules(here.__path__) if module.name != "base"))


@lru_cache  # a listing of a folder each time otherwise, and a plan asks ten thousand times
def provider_module(name: str) -> ProviderModule:
    """The provider's module. Raises JudgeError for a name without a file."""
    if name not in provider_names():
        raise JudgeError(
            f"unknown judge provider {name!r}", where="panel", remedy=f"use one of: {', '.join(provider_names())}"
        )
    return cast(ProviderModule, importlib.import_module(f"vvb_resources.judges.providers.{name}"))
