"""Partitions of the graph: two dimensions, {system, task}; a panel is a key prefix (docs/design/graph.md)."""

from __future__ import annotations

import dagster as dg

from vvb_assets.graph import Dims, Graph


class Partitions:
    """The partitions definitions of one graph; each is built once, so that Dagster sees them as the same."""

    def __init__(self, graph: Graph) -> None:
        self.system = dg.StaticPartitionsDefinition(list(graph.systems))
        self.task = dg.StaticPartitionsDefinition(list(graph.tasks))
        self.run = dg.MultiPartitionsDefinition({"system": self.system, "task": self.task})

    def of(self, dims: Dims) -> dg.PartitionsDefinition | None:  # type: ignore[type-arg]
        """The definition for a node's dimensions; None for an unpartitioned one."""
        return {"none": None, "system": self.system, "task": self.task, "run": self.run}[dims]
