"""A small graph by hand: files -> run -> check -> score -> table, over two systems and two tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from vvb_assets.graph import Graph, Made, Node, Workspace
from vvb_assets.making import make_partition
from vvb_assets.plan import make_plan
from vvb_resources.benchmark.models import Automation
from vvb_resources.store.home import Home


@dataclass
class World:
    """What makers see: file contents by (asset, partition), and how often each artifact was made."""

    root: Path
    files: dict[tuple[str, str | None], str] = field(default_factory=dict)
    output: dict[str, str] = field(default_factory=dict)
    made: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    broken: set[tuple[str, str | None]] = field(default_factory=set)
    code: dict[str, str] = field(default_factory=dict)
    systems: tuple[str, ...] = ("a", "b")
    tasks: tuple[str, ...] = ("x", "y")
    automation: Automation = field(default_factory=lambda: Automation(rollouts="missing"))

    def workspace(self) -> Workspace:
        nodes = [
            self._file("spec", "task"),
            self._file("limits", "none"),
            self._node("rollout", "run", ("spec",), held=True),
            self._node("checked", "run", ("rollout", "limits")),
            self._node("scored", "run", ("checked",), partial=True),
            self._node("table", "none", ("scored",), partial=True),
        ]
        graph = Graph({node.key: node for node in nodes}, self.systems, self.tasks)
        benchmark = SimpleNamespace(config=SimpleNamespace(name="world", automation=self.automation))
        return Workspace(cast(Any, benchmark), Home(self.root, "world"), graph)

    def _file(self, key: str, dims: Any) -> Node:
        def version(_: Any, partition: str | None) -> str:
            return "file:" + self.files.get((key, partition), "first")

        def make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
            return Made(version(None, partition))

        return Node(key, "tasks", dims, (), "1", make, f"{key} file", "g", version_of=version)

    def _node(self, key: str, dims: Any, inputs: tuple[str, ...], **more: Any) -> Node:
        def make(workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
            if (key, partition) in self.broken:
                raise RuntimeError("broken on purpose")
            self.made[key, partition] += 1
            (out / "text").write_text("x")
            upstream = ",".join(
                m.data_version
                for i in inputs
                for m in workspace.store.manifests(
                    i, workspace.graph.upstream(node, partition, workspace.graph.nodes[i])
                ).values()
            )
            return Made(self.output.get(key) or f"{key}({upstream})", summary={"n": 1})

        return Node(key, key, dims, inputs, self.code.get(key, "1"), make, key, "g", **more)

    def make_all(self, rerun_held: bool = False) -> list[tuple[str, str | None]]:
        """What `vvb run` does, without Dagster; returns what was made now."""
        before = Counter(self.made)
        for node in self.workspace().graph.nodes.values():
            workspace = self.workspace()
            for partition in make_plan(workspace, rerun_held=rerun_held).of(node.key):
                make_partition(workspace, node, partition, force=rerun_held and node.held)
        return sorted((self.made - before).elements(), key=str)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
