"""The sensor `automation` of a running UI, watched: what it asks for is read from its runs, what was made from disk."""

from __future__ import annotations

import time
from collections import Counter

from ruamel.yaml import YAML

from tests.e2e.asked import Found, Judged
from tests.e2e.ui import Ui


class Automation:
    """The sensor, and what it has asked for since it was last looked at."""

    def __init__(self, ui: Ui, platform: Judged) -> None:
        self.ui, self.platform = ui, platform
        self.seen: set[str] = set()
        self.before = platform.manifests()

    def settle(self, ticks: int = 1) -> tuple[Counter[tuple[str, str | None]], Found]:
        """Wait until it has looked and wants nothing, `ticks` times one after the other.

        Returns what it asked for since the last call, how often, and what was made. What a later tick asks for without
        reason is in the answer of the next call: only the last one has to wait for a second tick.
        """
        since = time.time()

        def quiet() -> bool:
            found = [tick for tick in self.ui.sensor("automation")["ticks"] if tick["timestamp"] > since]
            for tick in found:
                assert tick["status"] != "FAILURE", tick["error"]["message"]
            last = found[:ticks]
            idle = all(t["status"] == "SKIPPED" and "wait for what is being made" not in t["skipReason"] for t in last)
            busy = self.ui.runs("QUEUED", "NOT_STARTED", "STARTING", "STARTED")
            return len(last) == ticks and idle and not busy

        self.ui.wait_for(quiet, 240)
        asked: Counter[tuple[str, str | None]] = Counter()
        for run in self.ui.runs():
            if run["runId"] in self.seen:
                continue
            self.seen.add(run["runId"])
            if run["tags"].get("dagster/sensor_name") == "automation":
                assert run["status"] == "SUCCESS", run
                steps = YAML(typ="safe").load(run["runConfigYaml"])["ops"]
                listed = [p for step in steps.values() for p in step["config"]["partitions"]] or [None]
                asked.update(("/".join(key["path"]), p) for key in run["assetSelection"] for p in listed)
        made = self.platform.made_since(self.before)
        self.before = self.platform.manifests()
        return asked, made

    @property
    def why(self) -> str:
        """What the last tick said."""
        return str(self.ui.sensor("automation")["ticks"][0]["skipReason"])
