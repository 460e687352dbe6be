"""The sensor `tables` on the platform's own graph, before there is anything and when the first thing is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from vvb_assets.graph import Workspace
from vvb_assets.plan import make_plan
from vvb_assets.settings import Settings
from vvb_assets.sweep import UNCHANGED, Busy, Policy, Sweep, Sweeper, Tries
from vvb_resources.store.home import CHECKOUT

TABLES = frozenset({"human", "tables"})


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Settings(CHECKOUT / "task_data" / "starter", None, tmp_path / "home").open()


def sweep(workspace: Workspace) -> Sweep:
    """What the sensor asks for when every event is there and nobody is at work."""
    graph = workspace.graph
    return Sweeper(
        workspace,
        make_plan(workspace),
        graph,
        lambda node: {
            p: m.data_version for p, m in workspace.store.manifests(node.key, graph.partitions(node)).items()
        },
        Busy(),
        Policy(TABLES),
        lambda version: Tries(),
        lambda items: [0.0] * len(items),
    ).sweep()


def put(workspace: Workspace, asset: str, partition: str | None) -> None:
    """An artifact, as if it had been made."""
    with workspace.store.staging(asset, partition) as out:
        node = workspace.graph.nodes[asset]
        workspace.store.commit(
            out,
            asset=asset,
            partition=partition,
            data_version="0123456789abcdef",
            code_version=node.code_version,
            inputs={},
            seconds=0.0,
            summary={},
            checks={},
            keep_old=False,
        )


def test_a_fresh_deployment_starts_no_run(workspace: Workspace) -> None:
    assert {node.op_name for node in workspace.graph.nodes.values()} >= TABLES
    found = sweep(workspace)
    assert found.requests == []
    assert found.left[UNCHANGED] >= 1, "the ratings of no votes"


def test_the_human_study_is_made_as_far_as_there_is_anything_for_it(workspace: Workspace) -> None:
    put(workspace, "l1_checks", "vector|ORBIT")
    (request,) = sweep(workspace).requests
    assert (request.op, request.assets) == ("human", ("human_pairs", "bradley_terry")), "no agreement without results"
    put(workspace, "results", None)
    assert {request.op for request in sweep(workspace).requests} == {"tables"}, "the study waits for the new tables"
