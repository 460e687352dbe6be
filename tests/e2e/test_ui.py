"""The UI's own interface: one partition materialised, and a backfill of the whole graph, by webserver and daemon."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.platform import Platform, copy_of_starter

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ui")]

BACKFILL = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
STATUS = """query($id: String!) { partitionBackfillOrError(backfillId: $id) {
    ... on PartitionBackfill { status runs: runs(limit: 100) { status } } } }"""
NODES = """{ assetNodes { assetKey { path } groupName isPartitioned
    partitionStats { numMaterialized numFailed numPartitions } assetMaterializations(limit: 1) { runId } } }"""
MATERIALIZATION = """query($key: AssetKeyInput!, $partitions: [String!]) { assetNodeOrError(assetKey: $key) {
    ... on AssetNode { assetMaterializations(partitions: $partitions, limit: 1) {
        metadataEntries { label __typename ... on MarkdownMetadataEntry { mdStr } } } } } }"""


STALE = """query($key: AssetKeyInput!, $partitions: [String!]!) { assetNodeOrError(assetKey: $key) {
    ... on AssetNode { staleStatusByPartition(partitions: $partitions) } } }"""
RUNS = ["vector|BOUNCE", "vector|ORBIT"]


class Ui:
    """`vvb ui` on a free port."""

    def __init__(self, platform: Platform, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = log
        with log.open("w") as output:
            self.process = subprocess.Popen(
                platform.command("ui", "--port", str(self.port)),
                env=platform.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def ask(self, query: str, **variables: Any) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            data=json.dumps({"query": query, "variables": variables}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            document = json.load(answer)
        assert "errors" not in document, document["errors"]
        return document["data"]

    def wait_for(self, ready: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not ready():
            assert self.process.poll() is None, self.log.read_text()[-4000:]
            assert time.monotonic() < until, self.log.read_text()[-4000:]
            time.sleep(1.0)

    def is_up(self) -> bool:
        try:
            return bool(self.ask(NODES)["assetNodes"])
        except OSError:
            return False

    def backfill(self, **parameters: Any) -> str:
        """Launch a backfill and wait for its end; returns its status."""
        launched = self.ask(BACKFILL, p=parameters)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        state: dict[str, Any] = {}

        def ended() -> bool:
            state.update(self.ask(STATUS, id=launched["backfillId"])["partitionBackfillOrError"])
            return state["status"] not in ("REQUESTED", "CANCELING")

        self.wait_for(ended, 600)
        return str(state["status"])

    def stale(self, *path: str) -> list[str]:
        """Dagster's own word on the two runs of an asset."""
        answer = self.ask(STALE, key={"path": list(path)}, partitions=RUNS)
        return list(answer["assetNodeOrError"]["staleStatusByPartition"])

    def nodes(self) -> dict[str, dict[str, Any]]:
        return {"/".join(node["assetKey"]["path"]): node for node in self.ask(NODES)["assetNodes"]}


@pytest.fixture
def ui(tmp_path: Path) -> Iterator[tuple[Ui, Platform]]:
    platform = Platform(copy_of_starter(tmp_path, ("ORBIT", "BOUNCE"), ("vector",), ("dense",)), tmp_path / "home")
    running = Ui(platform, tmp_path / "ui.log")
    try:
        running.wait_for(running.is_up, 120)
        yield running, platform
    finally:
        os.killpg(running.process.pid, signal.SIGTERM)
        try:
            running.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(running.process.pid, signal.SIGKILL)


def test_the_whole_graph_is_backfilled_and_then_one_partition_is_stale_and_made(ui: tuple[Ui, Platform]) -> None:
    server, platform = ui
    keys = [{"path": name.split("/")} for name in server.nodes()]
    assert server.nodes()["dense/l2_verdicts"]["groupName"] == "dense"
    assert server.backfill(assetSelection=keys, allPartitions=True, title="all") == "COMPLETED_SUCCESS"

    for name, node in server.nodes().items():
        if node["isPartitioned"]:
            stats = node["partitionStats"]
            assert stats["numMaterialized"] == stats["numPartitions"] > 0, name
            assert stats["numFailed"] == 0, name
        else:
            assert node["assetMaterializations"], f"{name} was not made"
    assert platform.json("plan")["stale"] == []
    row = platform.json("leaderboard")["systems"][0]
    assert (row["system"], row["delivered"], row["complete"]) == ("vector", 2, True)

    found = server.ask(MATERIALIZATION, key={"path": ["dense", "l2_verdicts"]}, partitions=["vector|ORBIT"])
    entries = found["assetNodeOrError"]["assetMaterializations"][0]["metadataEntries"]
    shown = {entry["label"]: entry.get("mdStr", "") for entry in entries}
    assert {"verdicts", "raw reply of dense", "judges", "sources", "video"} <= set(shown)
    assert "| V01 | True | visual | dense | pass |" in shown["verdicts"]

    family = ("judgment", "l2_verdicts", "l3_scores")
    assert {part: server.stale("dense", part) for part in family} == {key: ["FRESH", "FRESH"] for key in family}
    assert server.stale("run_scores") == ["FRESH", "FRESH"]

    before = platform.manifests()
    one = [{"path": ["dense", part]} for part in family]
    selection = {"assetSelection": one, "partitionNames": ["vector|ORBIT"], "title": "one"}
    assert server.backfill(**selection) == "COMPLETED_SUCCESS"
    assert platform.manifests() == before, "what is fresh is published again, and not made"

    # An edited rubric: the sensor publishes it, Dagster calls exactly that task's judgment stale, and it can be made.
    rubric = platform.benchmark / "tasks" / "ORBIT" / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace('title: "Night blue"', 'title: "Night blue throughout"'))
    server.wait_for(lambda: server.stale("dense", "judgment") == ["FRESH", "STALE"], 120)
    assert server.stale("l1_checks") == ["FRESH", "FRESH"]
    assert server.backfill(**selection) == "COMPLETED_SUCCESS"
    assert server.stale("dense", "judgment") == ["FRESH", "FRESH"]
    changed = {path for path, manifest in platform.manifests().items() if manifest != before[path]}
    assert {path for path in changed if path.startswith("dense/")} == {f"dense/{part}/vector/ORBIT" for part in family}

    report = platform.json("run")
    assert report["failed"] == {}
    assert set(report["made"]) <= {"run_scores", "tables", "human"}, "a run in the terminal finds the UI's work"
    assert platform.json("plan")["stale"] == []
