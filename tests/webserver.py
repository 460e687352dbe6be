"""The UI's own interface, asked as the UI asks it: GraphQL over HTTP on loopback."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any

BACKFILL = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
STATUS = """query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"""
NODES = """{ assetNodes { assetKey { path } groupName isPartitioned
    partitionStats { numMaterialized numFailed numPartitions } assetMaterializations(limit: 1) { runId } } }"""
STATS = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
    partitionStats { numMaterialized numFailed numPartitions } } } }"""
STALE = """query($key: AssetKeyInput!, $partitions: [String!]!) { assetNodeOrError(assetKey: $key) {
    ... on AssetNode { staleStatusByPartition(partitions: $partitions) } } }"""
RUNS = """query($filter: RunsFilter) { runsOrError(filter: $filter, limit: 500) { ... on Runs { results {
    runId status jobName runConfigYaml tags { key value } assetSelection { path } } } } }"""
SENSOR = """query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor { id sensorState {
    id selectorId status ticks(limit: 20) { status timestamp skipReason error { message } } } } } }"""
START = """mutation($s: SensorSelector!) { startSensor(sensorSelector: $s) {
    __typename ... on PythonError { message } } }"""
STOP = """mutation($id: String!) { stopSensor(id: $id) { __typename ... on PythonError { message } } }"""
RELOAD = """mutation($name: String!) { reloadRepositoryLocation(repositoryLocationName: $name) { __typename
    ... on WorkspaceLocationEntry { loadStatus locationOrLoadError { __typename
        ... on PythonError { message } } } } }"""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Webserver:
    """A webserver on a port of this machine; `location` is the name of its code location."""

    def __init__(self, port: int, location: str) -> None:
        self.port, self.location = port, location

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of an answer. Fails with its errors; raises OSError while nobody answers."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            data=json.dumps({"query": query, "variables": variables}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            document = json.load(answer)
        assert "errors" not in document, document["errors"]
        return document["data"]

    def is_up(self) -> bool:
        """Does it answer, and has it loaded the assets."""
        try:
            return bool(self.nodes())
        except OSError:
            return False

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Every asset by its key, with its counts."""
        return {"/".join(node["assetKey"]["path"]): node for node in self.ask(NODES)["assetNodes"]}

    def stats(self, key: str) -> dict[str, int] | None:
        """Partition counts of an asset; None while webserver or code location are not up, or after a crash.

        After a crash of the database the webserver answers with an error once for each connection that broke.
        """
        try:
            found = self.ask(STATS, key={"path": key.split("/")})["assetNodeOrError"]
        except OSError:
            return None
        stats: dict[str, int] | None = found.get("partitionStats")
        return stats

    def stale(self, key: str, partitions: list[str]) -> list[str]:
        """Dagster's own word on partitions of an asset: FRESH, STALE or MISSING."""
        answer = self.ask(STALE, key={"path": key.split("/")}, partitions=partitions)
        return list(answer["assetNodeOrError"]["staleStatusByPartition"])

    def launch(self, keys: list[str], partitions: list[str] | None = None) -> str:
        """Launch a backfill of assets, of all partitions unless some are named; returns its id."""
        which = {"partitionNames": partitions} if partitions else {"allPartitions": True}
        parameters = {"assetSelection": [{"path": key.split("/")} for key in keys], "title": "test", **which}
        launched = self.ask(BACKFILL, p=parameters)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        return str(launched["backfillId"])

    def status(self, backfill: str) -> str | None:
        """Where a backfill stands; None while nobody answers, or with an error, as the first answer after a crash."""
        try:
            return str(self.ask(STATUS, id=backfill)["partitionBackfillOrError"]["status"])
        except OSError:
            return None

    def has_ended(self, backfill: str) -> bool:
        """Is a backfill over, well or not."""
        return self.status(backfill) not in (None, "REQUESTED", "CANCELING", "FAILING")

    def runs(self, *statuses: str) -> list[dict[str, Any]]:
        """Runs, newest first, of some statuses (all, when none is named); tags as a dictionary."""
        found = self.ask(RUNS, filter={"statuses": list(statuses)} if statuses else {})["runsOrError"]["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]

    def sensor(self, name: str) -> dict[str, Any]:
        """State of a sensor, with its last ticks (newest first)."""
        state: dict[str, Any] = self.ask(SENSOR, s=self._sensor(name))["sensorOrError"]["sensorState"]
        return state

    def switch_on(self, name: str) -> None:
        """Start a sensor."""
        assert self.ask(START, s=self._sensor(name))["startSensor"]["__typename"] == "Sensor"

    def switch_off(self, name: str) -> None:
        """Stop a sensor."""
        done = self.ask(STOP, id=self.sensor(name)["id"])["stopSensor"]
        assert done["__typename"] == "StopSensorMutationResult", done

    def _sensor(self, name: str) -> dict[str, str]:
        return {"sensorName": name, "repositoryName": "__repository__", "repositoryLocationName": self.location}

    def reload(self) -> None:
        """Load the code location anew, as the UI's button does."""
        entry = self.ask(RELOAD, name=self.location)["reloadRepositoryLocation"]
        assert entry["locationOrLoadError"]["__typename"] == "RepositoryLocation", entry
