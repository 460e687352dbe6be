"""A backfill that is really in the middle: two runs, each with one judgment stored and one that is being paid for.

The stand-in holds its answers until a test lets them go, so that what a test kills is killed at this moment and no
other, on a fast machine and on a slow one.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dagster import AssetCheckKey, AssetKey
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.tags import BACKFILL_ID_TAG

from tests.e2e.asked import SYSTEMS, TASKS, Judged
from tests.e2e.models import model_of
from tests.standin.server import StandIn
from tests.standin.shapes import Fault
from tests.webserver import Webserver
from vvb_assets.processes import PID_TAG
from vvb_assets.provenance import recorded_versions
from vvb_assets.running import open_instance
from vvb_assets.settings import Settings

RUNS = sorted(f"{system}|{task}" for system in SYSTEMS for task in TASKS)
ASSETS = ("J1/judgment", "J1/l2_verdicts", "J1/l3_scores", "run_scores")
WHOLE = {"numMaterialized": len(RUNS), "numFailed": 0, "numPartitions": len(RUNS)}
UNFINISHED = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")
GIVEN = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
EACH = os.environ.get("VVB_KILLS") == "each"  # `make test-full`: each process by itself
ROUTE, HELD = "gemini.generate", "ORBIT"


class Gate:
    """Holds a stand-in's answers about one task until it is opened; the calls are paid for all the same."""

    def __init__(self, service: StandIn) -> None:
        self.held = 0
        self._lock, self._open = threading.Lock(), threading.Event()
        self._open.set()
        service.plan = self._pass

    def close(self) -> None:
        """From now on, hold them."""
        self.held = 0
        self._open.clear()

    def open(self) -> None:
        """Answer what is held, and everything that comes."""
        self._open.set()

    def _pass(self, route: str, marker: str, n: int) -> Fault | None:
        if (route, marker) == (ROUTE, HELD) and not self._open.is_set():
            with self._lock:
                self.held += 1
            self._open.wait(300)
        return None


def mark_held(platform: Judged) -> None:
    """Write into the prompt of the task that is held what the stand-in knows it by."""
    prompt = platform.benchmark / "tasks" / HELD / "prompt.md"
    prompt.write_text(f"{prompt.read_text()}\n[[marker: {HELD}]]\n")


@dataclass
class Disturbance:
    """What a test does to a backfill, and what was seen of it. `wait`: until something holds, with a limit."""

    server: Webserver
    platform: Judged
    gate: Gate
    wait: Callable[[str, Callable[[], bool]], None]
    seconds: dict[str, float] = field(default_factory=dict)
    _model: str = "gemini-4-argon"
    _round: int = 0

    def during(self, what: str, strike: Callable[[list[int]], None], *, again: int) -> None:
        """Make all judgments stale, start a backfill, `strike` in the middle, and see it to its end.

        `strike` is given the processes of the two runs, each of which has one of its judgments stored, one paid for.
        `again`: how many of the calls in flight are paid a second time.
        """
        self._round += 1
        model = f"gemini-4-argon-{self._round}"
        self.platform.edit("panels/J1.yaml", f"model: {self._model}\n", f"model: {model}\n")
        self._model = model
        old = self._digests("judgment")
        self.gate.close()
        backfill = self.server.launch(list(ASSETS))
        self.wait(f"{what}: the middle", lambda: len(self._made_since(old)) == self.gate.held == 2)
        stored = self._made_since(old)
        assert len(stored) == 2
        started = [run for run in self.server.runs("STARTED") if run["tags"].get(BACKFILL_ID_TAG) == backfill]
        workers = [int(run["tags"][PID_TAG]) for run in started]
        assert len(workers) == 2

        since = time.monotonic()
        strike(workers)
        self.gate.open()
        self.wait(f"{what}: the end", lambda: self.server.has_ended(backfill))
        self.seconds[what] = time.monotonic() - since

        assert self.server.status(backfill) == "COMPLETED_SUCCESS", what
        self.wait(f"{what}: the runs", lambda: self.server.runs(*UNFINISHED) == [])
        now = self._digests("judgment")
        assert {key: now[key] for key in stored} == stored, f"{what}: what was stored was made again"
        assert not {*now.values()} & {*old.values()}, f"{what}: something was not made"
        self._check_calls(what, model, again)
        self._check_records(what, backfill)

    def _made_since(self, old: dict[str, str]) -> dict[str, str]:
        return {key: digest for key, digest in self._digests("judgment").items() if old.get(key) != digest}

    def _digests(self, part: str) -> dict[str, str]:
        """Each manifest of an asset of J1, whole (also when it was made), by partition."""
        folder = self.platform.artifacts / "J1" / part
        found = folder.rglob("artifact.json")
        texts = {path.parent.relative_to(folder).as_posix(): json.loads(path.read_text()) for path in found}
        return {name: f"{text['made_at']} {text['data_version']}" for name, text in texts.items()}

    def _calls(self, model: str) -> list[str]:
        """What was asked of a model, a text for each call that came in, answered or not."""
        calls = self.platform.service.calls(ROUTE)
        return [json.dumps(call.json, sort_keys=True) for call in calls if model_of(call) == model]

    def _check_calls(self, what: str, model: str, again: int) -> None:
        """Each video is asked about once, but for the calls whose answers had nobody left to go to."""
        asked = Counter(about(call, self.platform) for call in self._calls(model))
        assert len(asked) == len(RUNS), (what, asked)
        assert sorted(asked.values()) == [1] * (len(RUNS) - again) + [2] * again, (what, asked)

    def _check_records(self, what: str, backfill: str) -> None:
        """Dagster's records say the same as the store: counts, versions, and each check's result on what it judged."""
        for asset in ASSETS:
            self.wait(f"{what}: counts of {asset}", lambda asset=asset: self.server.stats(asset) == WHOLE)  # type: ignore[misc]
        settings = Settings.resolve(benchmark=self.platform.benchmark)
        workspace = settings.open()
        with open_instance(workspace.home) as instance:
            for asset in ASSETS:
                node = workspace.graph.nodes[asset]
                found = workspace.store.manifests(asset, workspace.graph.partitions(node))
                assert recorded_versions(instance, node) == {p: m.data_version for p, m in found.items()}, what
                for name, _ in node.checks:
                    records = instance.event_log_storage.get_asset_check_execution_history(
                        AssetCheckKey(AssetKey(asset.split("/")), name),
                        limit=1000,
                        status=GIVEN,
                    )
                    runs = {run.run_id for run in instance.get_runs() if run.tags.get(BACKFILL_ID_TAG) == backfill}
                    assert {r.partition for r in records if r.run_id in runs} == set(RUNS), (what, name)


def about(call: str, platform: Judged) -> str:
    """Which video a call is about: the file that it names."""
    parts = json.loads(call)["contents"][0]["parts"]
    (uri,) = [part["fileData"]["file_uri"] for part in parts if "fileData" in part]
    sent = [u["data"] for u in platform.service.uploads.values() if uri.endswith(str(u["file"].get("name")))]
    assert len(sent) == 1, uri
    return hashlib.sha256(bytes(sent[0])).hexdigest()


def kill_tree(pid: int) -> None:
    """kill -9 of a process and of everything below it, found before any of them dies."""
    below = [pid]
    for one in below:
        below += children_of(one)
    for one in below:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue


def children_of(pid: int) -> list[int]:
    """Ids of a process's children."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
