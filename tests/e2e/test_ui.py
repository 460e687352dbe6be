"""The UI's own interface: one partition materialised, and a backfill of the whole graph, by webserver and daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.platform import Platform, copy_of_starter
from tests.e2e.ui import Ui, ui_of

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("ui")]

MATERIALIZATION = """query($key: AssetKeyInput!, $partitions: [String!]) { assetNodeOrError(assetKey: $key) {
    ... on AssetNode { assetMaterializations(partitions: $partitions, limit: 1) {
        metadataEntries { label __typename ... on MarkdownMetadataEntry { mdStr } } } } } }"""


RUNS = ["vector|BOUNCE", "vector|ORBIT"]


@pytest.fixture
def ui(tmp_path: Path) -> Iterator[tuple[Ui, Platform]]:
    platform = Platform(copy_of_starter(tmp_path, ("ORBIT", "BOUNCE"), ("vector",), ("dense",)), tmp_path / "home")
    with ui_of(platform, tmp_path / "ui.log") as running:
        yield running, platform


def test_the_whole_graph_is_backfilled_and_then_one_partition_is_stale_and_made(ui: tuple[Ui, Platform]) -> None:
    server, platform = ui
    assert server.nodes()["dense/l2_verdicts"]["groupName"] == "dense"
    assert server.backfill(list(server.nodes())) == "COMPLETED_SUCCESS"

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
    for name in (*(f"dense/{part}" for part in family), "run_scores"):
        assert server.stale(name, RUNS) == ["FRESH", "FRESH"], name

    before = platform.manifests()
    one = [f"dense/{part}" for part in family]
    assert server.backfill(one, ["vector|ORBIT"]) == "COMPLETED_SUCCESS"
    assert platform.manifests() == before, "what is fresh is published again, and not made"

    # An edited rubric: the sensor publishes it, Dagster calls exactly that task's judgment stale, and it can be made.
    rubric = platform.benchmark / "tasks" / "ORBIT" / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace('title: "Night blue"', 'title: "Night blue throughout"'))
    server.wait_for(lambda: server.stale("dense/judgment", RUNS) == ["FRESH", "STALE"], 120)
    assert server.stale("l1_checks", RUNS) == ["FRESH", "FRESH"]
    assert server.backfill(one, ["vector|ORBIT"]) == "COMPLETED_SUCCESS"
    assert server.stale("dense/judgment", RUNS) == ["FRESH", "FRESH"]
    changed = {path for path, manifest in platform.manifests().items() if manifest != before[path]}
    assert {path for path in changed if path.startswith("dense/")} == {f"dense/{part}/vector/ORBIT" for part in family}

    report = platform.json("run")
    assert report["failed"] == {}
    assert set(report["made"]) <= {"run_scores", "tables", "human"}, "a run in the terminal finds the UI's work"
    assert platform.json("plan")["stale"] == []
