"""The asset graph as data: nodes, their partitions and their inputs. No Dagster here.

One table of nodes serves both the plan (what is stale, and why) and the Dagster definitions, so that the command
line and the UI can never disagree about an edge. Each stage contributes its nodes from `<stage>/make.py`;
`build_graph` strings them together in the order of the design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from vvb_resources.benchmark.loader import Benchmark
from vvb_resources.errors import VvbError
from vvb_resources.store.artifacts import ArtifactStore, Manifest
from vvb_resources.store.digests import digest_value
from vvb_resources.store.home import Home

Dims = Literal["none", "task", "system", "run"]


@dataclass(frozen=True)
class Made:
    """What a maker leaves: the digest of the content, figures for people, and the outcome of its asset checks.

    `checks` maps a check's name to {"passed": bool, "description": str, "severity": "WARN" | "ERROR"}. `committed` is
    called once the artifact is safe on disk: what the maker still kept for the case that it would not be can go.
    """

    data_version: str
    summary: Mapping[str, Any] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    committed: Callable[[], None] | None = None


@dataclass(frozen=True)
class Workspace:
    """What every maker may use: the benchmark's files, the store, and where shared stores lie."""

    benchmark: Benchmark
    home: Home
    graph: Graph

    @cached_property
    def store(self) -> ArtifactStore:
        return ArtifactStore(self.home)

    def payload(self, asset: str, partition: str | None) -> tuple[Manifest, Path]:
        """Manifest and files of an upstream artifact. Raises VvbError when it was not made."""
        manifest = self.store.load(asset, partition)
        if manifest is None:
            raise VvbError("has not been made", where=name_of(asset, partition), remedy="make it first: vvb run")
        return manifest, self.store.payload(manifest)


@dataclass(frozen=True)
class Moot:
    """While `input` has `version`, the inputs in `others` are not looked at: without a video, no rubric is."""

    input: str
    version: str
    others: tuple[str, ...]


Maker = Callable[[Workspace, "Node", "str | None", Path], Made]


@dataclass(frozen=True)
class Node:
    """An asset. `inputs` are keys of upstream nodes, projected onto this node's partition by name.

    - `version_of`: a configuration asset; its data version follows from the benchmark's files alone
    - `partial`: is built on those of its inputs that exist (scores and tables)
    - `held`: expensive; made when missing, but a stale one only on demand (rollouts)
    - `prepare`: does what is better done for many partitions at once, before they are made one by one
    - `batch`: partitions a Dagster run; `workers`: partitions at once within a run
    - `moot`: when some inputs do not count
    - `facets`: figures of the summary that may be an input by themselves -> the inputs that they follow from
    - `uses`: inputs of which only a facet counts, not the whole version (docs/design/versions.md)
    - `remember`: figures of a payload that is about to be replaced, kept in the partition's history
    """

    key: str
    stage: str
    dims: Dims
    inputs: tuple[str, ...]
    code_version: str
    make: Maker
    description: str
    group: str
    kinds: tuple[str, ...] = ()
    version_of: Callable[[Benchmark, str | None], str] | None = None
    partial: bool = False
    held: bool = False
    batch: int = 25
    workers: int = 1
    op: str = ""
    checks: tuple[tuple[str, str], ...] = ()
    judges: int = 0
    prepare: Callable[[Workspace, Sequence[str]], None] | None = None
    moot: Moot | None = None
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uses: Mapping[str, str] = field(default_factory=dict)
    remember: Callable[[Path], Mapping[str, Any]] | None = None

    @property
    def op_name(self) -> str:
        """Nodes of one op are made together in one Dagster step, partition by partition."""
        return self.op or self.key


@dataclass(frozen=True)
class Graph:
    """Nodes in topological order, and the partitions of each dimension."""

    nodes: Mapping[str, Node]
    systems: tuple[str, ...]
    tasks: tuple[str, ...]

    def partitions(self, node: Node) -> list[str] | list[None]:
        """All partition keys of a node, in the order of systems, then tasks. Unpartitioned: [None]."""
        match node.dims:
            case "none":
                return [None]
            case "task":
                return list(self.tasks)
            case "system":
                return list(self.systems)
            case "run":
                return [run_key(system, task) for system in self.systems for task in self.tasks]

    def upstream(self, node: Node, partition: str | None, source: Node) -> list[str] | list[None]:
        """Partitions of `source` that `partition` of `node` is made from."""
        one = self.project(node, [partition], source)
        if one is None:
            return self.partitions(source)
        return [None] if one[0] is None else [one[0]]

    def project(self, node: Node, partitions: Sequence[str | None], source: Node) -> Sequence[str | None] | None:
        """For each of a node's partitions the one of `source` that it is made from; None: it is made from all."""
        if source.dims == node.dims:
            return partitions
        if source.dims == "none":
            return [None] * len(partitions)
        if node.dims == "run":
            part = 0 if source.dims == "system" else 1
            return [split_run(partition)[part] for partition in partitions if partition is not None]
        return None

    def ops(self) -> list[tuple[Node, ...]]:
        """Nodes grouped by op, in topological order."""
        grouped: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            grouped.setdefault(node.op_name, []).append(node)
        return [tuple(nodes) for nodes in grouped.values()]

    def downstream_of(self, keys: Iterable[str]) -> set[str]:
        """Keys of every node that is reached from `keys` (without them)."""
        reached = set(keys)
        for node in self.nodes.values():
            if reached.intersection(node.inputs):
                reached.add(node.key)
        return reached.difference(keys)


def run_key(system: str, task: str) -> str:
    """Partition key of a run; dimensions in name order, as Dagster writes them."""
    return f"{system}|{task}"


def split_run(partition: str) -> tuple[str, str]:
    """System and task of a run's partition key."""
    system, task = partition.split("|")
    return system, task


def name_of(asset: str, partition: str | None) -> str:
    """How a partition of an asset is named to people."""
    return f"{asset}[{partition}]" if partition else asset


def fan_in_version(versions: Mapping[str | None, str]) -> str:
    """Version of an input that is made of many partitions: a digest over those that exist."""
    return digest_value({partition or "": version for partition, version in versions.items()})
