"""What a removed or renamed system, task or panel leaves behind, and what it was called when it is only a rename."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vvb_assets.graph import Graph, Node, Workspace, name_of
from vvb_resources.store.artifacts import UNPARTITIONED
from vvb_resources.store.orphans import Levels, Orphan, find_orphans


@dataclass(frozen=True)
class Left:
    """An orphan and why it is one: the system, task, panel or asset that the benchmark does not have."""

    orphan: Orphan
    why: str

    def to_json(self) -> dict[str, Any]:
        """An entry of the plan's `orphans`."""
        manifest = self.orphan.manifest
        return {
            "asset": manifest.asset,
            "partition": manifest.partition,
            "why": self.why,
            "bytes": self.orphan.bytes,
            "made_at": manifest.made_at,
            "data_version": manifest.data_version,
        }

    @property
    def name(self) -> str:
        """The artifact as people name it."""
        return name_of(self.orphan.manifest.asset, self.orphan.manifest.partition)


def left_behind(workspace: Workspace) -> list[Left]:
    """Artifacts of systems, tasks, panels and assets that the benchmark no longer has. They count for nothing."""
    graph = workspace.graph
    known = {node.key: _levels(graph, node) for node in graph.nodes.values()}
    return [Left(orphan, _why(graph, orphan)) for orphan in find_orphans(workspace.store, known)]


def _levels(graph: Graph, node: Node) -> Levels:
    systems, tasks = frozenset(graph.systems), frozenset(graph.tasks)
    match node.dims:
        case "none":
            return (frozenset((UNPARTITIONED,)),)
        case "task":
            return (tasks,)
        case "system":
            return (systems,)
        case "run":
            return (systems, tasks)


def _why(graph: Graph, orphan: Orphan) -> str:
    manifest = orphan.manifest
    if manifest.asset not in graph.nodes:
        panel, _, inner = manifest.asset.partition("/")
        return f"no panel {panel}" if inner else f"no asset {manifest.asset}"
    node = graph.nodes[manifest.asset]
    parts = (manifest.partition or "").split("|")
    names = {"task": ("task",), "system": ("system",), "run": ("system", "task"), "none": ()}[node.dims]
    there = {"task": graph.tasks, "system": graph.systems}
    gone = [f"no {kind} {part}" for kind, part in zip(names, parts, strict=False) if part not in there[kind]]
    return ", ".join(gone) or "partitioned otherwise now"


def by_reason(left: Sequence[Left]) -> dict[str, tuple[int, int]]:
    """Artifacts and bytes by reason, in order of first appearance."""
    sums: dict[str, tuple[int, int]] = {}
    for item in left:
        count, size = sums.get(item.why, (0, 0))
        sums[item.why] = (count + 1, size + item.orphan.bytes)
    return sums
