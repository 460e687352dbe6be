"""Files left with a service: named and written down before they are sent, so that none outlives a killed process.

    <root>/<name>.json     one a file: provider, endpoint, variable of the key, process; removed when the file is

A provider names its upload itself (a random word). A record whose process is gone is an orphan; the next run deletes
the file with the service and then the record. Services that cannot be reached, or no longer have the file, are no
fault: what is left expires by itself.
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.store.atomic import write_json
from vvb_resources.store.processes import is_dead

KEPT_S = 48 * 3600.0
"""Services delete an upload after this long by themselves."""


@dataclass(frozen=True)
class Upload:
    """A file with a service. `key` is the name of the variable that holds the API key, never its value.

    `batch` names the batch that needs it ("" for none): such a file stays until that batch is done.
    """

    name: str
    provider: str
    endpoint: str | None
    key: str | None
    host: str
    pid: int
    at: float
    batch: str = ""


class UploadList:
    """What this data home has left with services, in the folder `root` (made when first needed)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def announce(self, judge: JudgeConfig, batch: str = "") -> str:
        """Write down, durably, that a file is about to be sent for `judge`; returns the name to send it under."""
        name = uuid.uuid4().hex[:16]
        upload = Upload(
            name, judge.provider, judge.endpoint, judge.key, socket.gethostname(), os.getpid(), time.time(), batch
        )
        write_json(self.root / f"{name}.json", asdict(upload))
        return name

    def forget(self, name: str) -> None:
        """The file is gone from the service."""
        (self.root / f"{name}.json").unlink(missing_ok=True)

    def of_batch(self, batch: str) -> list[Upload]:
        """Files that a batch was given."""
        return [upload for upload in self._all() if upload.batch == batch]

    def orphans(self) -> list[Upload]:
        """Files whose process is gone and that no batch needs; older than KEPT_S they are forgotten at once."""
        found = []
        for upload in self._all():
            if time.time() - upload.at > KEPT_S:
                self.forget(upload.name)
            elif not upload.batch and is_dead(upload.host, upload.pid):
                found.append(upload)
        return found

    def _all(self) -> Iterator[Upload]:
        for file in sorted(self.root.glob("*.json")):
            try:
                yield Upload(**json.loads(file.read_text()))
            except FileNotFoundError:
                continue  # another process has just deleted its file
            except (ValueError, TypeError):
                file.unlink(missing_ok=True)  # not ours, or of another version: nothing to go by
