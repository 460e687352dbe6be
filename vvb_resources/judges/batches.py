"""Requests through the batch interfaces of services: written down, handed over, waited for, stored, and only then read.

    <root>/<token>.json     a batch: whose it is, its id once it is known, and the reply key behind each custom id

The record is on disk before the batch is handed over and is removed when every reply is stored, so that a process that
is killed at any moment leaves what the next one needs: it looks for the batch by its token, waits for it and stores its
replies, and pays for none of them again. Money is set aside for each request before, and settled after, as for a call.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.errors import JudgeError, PausedError, VvbError
from vvb_resources.judges.batching.base import Batchable, BatchService, Line, batch_service
from vvb_resources.judges.calls import CallDesk
from vvb_resources.judges.providers.base import Services, provider_module
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.service import Answered, api_key, raw_reply
from vvb_resources.judges.types import JudgeRequest
from vvb_resources.store.atomic import write_json
from vvb_resources.store.processes import is_dead

MAX_REQUESTS, MAX_BYTES = 1000, 90_000_000
"""Of one batch: below the limits of all three services."""
POLL_S = (0.2, 60.0)
WINDOW_S = 26 * 3600.0
"""Services answer within a day; a batch that is older is given up."""

GONE, FIND_TRIES = 404, 8

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """A request and the panel it is for."""

    request: JudgeRequest
    panel: str


@dataclass
class Batch:
    """The record of a batch. `items`: reply key and key parts by custom id; `entries`: its places in the ledger."""

    token: str
    judge: dict[str, Any]
    panel: str
    host: str
    pid: int
    at: float
    items: dict[str, dict[str, Any]]
    id: str | None = None
    entries: dict[str, int] = field(default_factory=dict)

    @property
    def config(self) -> JudgeConfig:
        """The judge that is asked."""
        return JudgeConfig.model_validate_json(json.dumps(self.judge))


class BatchRunner:
    """Runs batches for one desk; records lie in `root` (made when first needed)."""

    def __init__(self, root: Path, desk: CallDesk, replies: ReplyStore, services: Services) -> None:
        self.root, self.desk, self.replies, self.services = root, desk, replies, services

    def ask(self, asked: Sequence[Asked]) -> set[str]:
        """Ask all of `asked`, and store what comes; returns the reply keys that were asked.

        What is not answered in the end (refused, expired, over a limit of money) is simply not in the store then.
        Raises JudgeError for a judge without key, SDK or price.
        """
        judges: dict[str, list[Asked]] = {}
        for one in {each.request.key: each for each in asked}.values():
            name = json.dumps([one.panel, one.request.judge.model_dump(mode="json")], sort_keys=True)
            judges.setdefault(name, []).append(one)
        made: list[Batch] = []
        try:
            for group in judges.values():
                made += self._submitted(group)
        finally:
            self._collect(made)
        return {item["key"] for batch in made for item in batch.items.values()}

    def resume(self) -> None:
        """Wait for what other processes have handed over: stored by them, or by this one where they are gone."""
        while True:
            self._collect(self._resumed())
            others = [batch for batch in self._records() if batch.pid != os.getpid()]
            if not any(time.time() - batch.at < WINDOW_S for batch in others):
                return
            self.desk.sleep(POLL_S[0])

    # ------------------------------------------------------------ handing over

    def _submitted(self, group: Sequence[Asked]) -> list[Batch]:
        """The judge's requests in batches of a size that its service takes."""
        made: list[Batch] = []
        batch, lines, size = self._new(group[0]), list[Line](), 0
        for asked in group:
            try:
                line = self._line(batch, asked, len(lines))
            except PausedError as pause:
                log.warning("%s", pause)  # what is before it goes, what is after it waits for another run
                break
            except VvbError:
                self._drop(batch, 0.0)
                raise
            except Exception as error:  # its video could not be sent, say: it is asked by itself
                log.warning("not in a batch for %s: %s", asked.request.judge.id, type(error).__name__)
                continue
            lines.append(line)
            size += len(json.dumps(line[1]))
            if len(lines) >= MAX_REQUESTS or size >= MAX_BYTES:
                made += self._hand_over(batch, lines)
                batch, lines, size = self._new(group[0]), [], 0
        if lines:
            return made + self._hand_over(batch, lines)
        self._drop(batch, 0.0)
        return made

    def _new(self, asked: Asked) -> Batch:
        """A batch, on disk before anything is sent for it."""
        judge = asked.request.judge.model_dump(mode="json")
        batch = Batch(uuid.uuid4().hex[:16], judge, asked.panel, socket.gethostname(), os.getpid(), time.time(), {})
        self._save(batch)
        return batch

    def _line(self, batch: Batch, asked: Asked, number: int) -> Line:
        """Money set aside for a request, and its body. Raises PausedError before a limit, and what an upload raises."""
        request = asked.request
        module = provider_module(request.judge.provider)
        entry = self.desk.reserve(module, request, asked.panel, seconds=WINDOW_S, batch=True)
        name = f"{batch.token}-{number}"
        provider = cast(Batchable, module.create(request.judge, self.services))
        try:
            body = provider.body(request, batch.token)
        except BaseException:
            self.desk.ledger.settle(entry, 0.0)  # nothing was asked
            provider.close()
            raise
        batch.items[name] = {"key": request.key, "parts": request.key_parts, "plain": request.plain}
        batch.entries[name] = entry
        return name, body

    def _hand_over(self, batch: Batch, lines: Sequence[Line]) -> list[Batch]:
        self._save(batch)
        try:
            batch.id = self._service(batch).submit(batch.token, lines)
        except Exception as error:
            # It may have arrived all the same; the token tells. Where nobody can say, the record stays for another run.
            log.warning("a batch for %s was not confirmed (%s)", batch.config.id, type(error).__name__)
            batch.id = self._found(batch)
            if batch.id is None:
                self._drop(batch, 0.0)
                return []
        self._save(batch)
        return [batch]

    # ------------------------------------------------------------ waiting and storing

    def _resumed(self) -> list[Batch]:
        """Batches of processes that are gone, now ours. One that never reached its service is forgotten."""
        found = []
        for batch in self._records():
            if batch.pid == os.getpid() or not is_dead(batch.host, batch.pid):
                continue
            if batch.id is None:
                batch.id = self._found(batch)
            if batch.id is None:
                self._drop(batch, 0.0)  # it was never handed over
                continue
            batch.host, batch.pid = socket.gethostname(), os.getpid()
            self._save(batch)
            found.append(batch)
        return found

    def _found(self, batch: Batch) -> str | None:
        """The batch's id, asked of its service a few times. Raises JudgeError when that cannot be reached."""
        pause = POLL_S[0]
        for left in reversed(range(FIND_TRIES)):
            try:
                return self._service(batch).find(batch.token, batch.at)
            except VvbError:
                raise
            except Exception as error:
                if not left:
                    raise JudgeError(
                        f"its service cannot be asked about a batch ({type(error).__name__})",
                        where=f"judge {batch.config.id}",
                        remedy="run again when it can be reached: the batch is looked for, and not paid twice",
                    ) from error
            self.desk.sleep(pause)
            pause *= 2
        raise AssertionError

    def _collect(self, open_: list[Batch]) -> None:
        """Wait for all of them; store each as soon as it has ended."""
        pause = POLL_S[0]
        waiting = list(open_)
        while waiting:
            for batch in list(waiting):
                if self._ended(batch) and self._store(batch):
                    waiting.remove(batch)
                    pause = POLL_S[0]
            if waiting:
                self.desk.sleep(pause)
                pause = min(POLL_S[1], pause * 1.5)

    def _ended(self, batch: Batch) -> bool:
        assert batch.id is not None
        try:
            return self._service(batch).ended(batch.id)
        except VvbError:
            raise
        except Exception as error:
            log.info("batch %s: %s", batch.id, type(error).__name__)
            return _lost(batch, error)

    def _store(self, batch: Batch) -> bool:
        """Every reply on disk, then the money, then the record goes. False: the results are to be had another time."""
        assert batch.id is not None
        judge, service = batch.config, self._service(batch)
        module: Any = provider_module(judge.provider)
        price = self.desk.batch_price(judge)
        try:
            answers = dict(service.results(batch.id))
        except Exception as error:
            if not _lost(batch, error):
                return False
            log.warning("the results of a batch for %s cannot be had (%s)", judge.id, type(error).__name__)
            self._drop(batch, None)
            return True
        gate = self.desk.gates.of(judge)
        for name, item in batch.items.items():
            answered = answers.get(name, Answered(None, b"", {}, "the batch ended without an answer"))
            raw = raw_reply(item["key"], judge.provider, answered, module.read_envelope)
            raw = self.desk.priced(raw, price)
            self.replies.put(item["key"], item["parts"], raw)
            if raw.outcome == "schema" and not item["plain"]:
                gate.plain = True
            self.desk.ledger.settle(batch.entries[name], 0.0 if answered.status is None else raw.usd)
        with contextlib.suppress(Exception):  # nothing of a result depends on it
            service.forget(batch.id)
        self._drop(batch, None, settle=False)
        return True

    def _drop(self, batch: Batch, usd: float | None, *, settle: bool = True) -> None:
        """Forget a batch, and take back what it was given. `usd`: what each request cost; None: unknown."""
        if settle:
            for entry in batch.entries.values():
                self.desk.ledger.settle(entry, usd)
        if self.services.uploads is not None:
            module: Any = provider_module(batch.config.provider)
            for upload in self.services.uploads.of_batch(batch.token):
                with contextlib.suppress(VvbError):
                    module.delete_upload(upload, api_key(batch.config))
                    self.services.uploads.forget(upload.name)
        (self.root / f"{batch.token}.json").unlink(missing_ok=True)

    @staticmethod
    def _service(batch: Batch) -> BatchService:
        judge = batch.config
        service = batch_service(judge, api_key(judge))
        assert service is not None, "a batch is only made for a provider with a batch interface"
        return service

    def _save(self, batch: Batch) -> None:
        write_json(self.root / f"{batch.token}.json", asdict(batch))

    def _records(self) -> Iterator[Batch]:
        for file in sorted(self.root.glob("*.json")):
            try:
                yield Batch(**json.loads(file.read_text()))
            except FileNotFoundError:
                continue  # another process has just finished with it


def _lost(batch: Batch, error: Exception) -> bool:
    """Does the error mean that the batch will never be had: its service does not know it, or it is older than a day."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    return status == GONE or time.time() - batch.at > WINDOW_S
