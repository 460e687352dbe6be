"""What is missing or stale, and why: computed from files and manifests, without making anything.

An artifact is fresh when it exists, was made by the stage's code version, and each input's data version that its
manifest records equals the input's version now. An input that is itself about to be made has no version yet; what hangs
on it is listed with `expected: null` and may turn out unchanged, in which case it is not made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vvb_assets.graph import Graph, Node, Workspace, fan_in_version
from vvb_resources.store.artifacts import Manifest

Versions = dict[str, dict[str | None, str]]


@dataclass(frozen=True)
class Reason:
    """Why an artifact is stale: the input's version that was used, and the one that holds now (None: not made yet)."""

    input: str
    recorded: str | None
    expected: str | None


@dataclass(frozen=True)
class Stale:
    """A partition to make. `missing`: there is none yet; `held`: stale, but only made on demand."""

    asset: str
    partition: str | None
    reasons: tuple[Reason, ...]
    missing: bool
    held: bool = False
    calls: int = 0
    usd: float | None = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "asset": self.asset,
            "partition": self.partition,
            "missing": self.missing,
            "reasons": [{"input": r.input, "recorded": r.recorded, "expected": r.expected} for r in self.reasons],
        }


@dataclass
class Plan:
    """`stale` is what `vvb run` would make, in order; `held` what it would leave alone; `fresh` counts the rest.

    `judging`: calls, tokens and USD by panel, judge and system, where they were estimated (panels/estimates.py).
    """

    stale: list[Stale] = field(default_factory=list)
    held: list[Stale] = field(default_factory=list)
    fresh: int = 0
    judging: list[dict[str, Any]] = field(default_factory=list)

    def of(self, key: str) -> list[str | None]:
        """Partitions of one asset that are to be made."""
        return [item.partition for item in self.stale if item.asset == key]

    def to_json(self) -> dict[str, Any]:
        """The `vvb plan --json` document."""
        unpriced = any(item.usd is None for item in self.stale)
        judging = {"judging": self.judging} if self.judging else {}
        return judging | {
            "stale": [item.to_json() for item in self.stale],
            "held": [item.to_json() for item in self.held],
            "totals": {
                "partitions": len(self.stale),
                "calls": sum(item.calls for item in self.stale),
                "usd": None if unpriced else round(sum(item.usd or 0.0 for item in self.stale), 6),
            },
        }


def expected_inputs(graph: Graph, node: Node, partition: str | None, versions: Versions) -> dict[str, str]:
    """Data version of each input as it stands; an input that does not exist is left out."""
    expected = {}
    for key in node.inputs:
        source = graph.nodes[key]
        upstream = graph.upstream(node, partition, source)
        found = {p: versions[key][p] for p in upstream if p in versions[key]}
        if not found:
            continue
        expected[key] = fan_in_version(found) if _fans_in(node, source) else next(iter(found.values()))
    return expected


def _fans_in(node: Node, source: Node) -> bool:
    return source.dims not in {"none", node.dims} and node.dims != "run"


def make_plan(workspace: Workspace, *, rerun_held: bool = False) -> Plan:
    """Compare every artifact of the graph with what it would be made from now."""
    graph, store, plan = workspace.graph, workspace.store, Plan()
    versions: Versions = {}
    pending: dict[str, set[str | None]] = {}
    delivered: dict[str | None, bool] = {}
    for node in graph.nodes.values():
        partitions = graph.partitions(node)
        manifests = store.manifests(node.key, partitions)
        versions[node.key] = {p: m.data_version for p, m in manifests.items()}
        pending[node.key] = set()
        if node.key == "l1_checks":
            delivered = {p: bool(m.summary.get("delivered")) for p, m in manifests.items()}
        for partition in partitions:
            manifest = manifests.get(partition)
            if node.version_of is not None:
                reasons = _source_reasons(workspace, node, partition, manifest, versions)
            else:
                reasons = _reasons(graph, node, partition, manifest, versions, pending)
            if not reasons:
                plan.fresh += 1
                continue
            held = node.held and manifest is not None and not rerun_held
            calls = node.judges if delivered.get(partition, True) else 0
            item = Stale(node.key, partition, tuple(reasons), manifest is None, held, calls, 0.0)
            if held:
                plan.held.append(item)
            else:
                plan.stale.append(item)
                if node.version_of is None:
                    pending[node.key].add(partition)
    return plan


def _source_reasons(
    workspace: Workspace, node: Node, partition: str | None, manifest: Manifest | None, versions: Versions
) -> list[Reason]:
    """A configuration asset is compared with its file; what hangs on it sees the file's version at once."""
    assert node.version_of is not None
    current = node.version_of(workspace.benchmark, partition)
    versions[node.key][partition] = current
    if manifest is not None and manifest.data_version == current and manifest.code_version == node.code_version:
        return []
    return [Reason("file", manifest.data_version if manifest else None, current)]


def _reasons(
    graph: Graph,
    node: Node,
    partition: str | None,
    manifest: Manifest | None,
    versions: Versions,
    pending: Mapping[str, set[str | None]],
) -> list[Reason]:
    expected = expected_inputs(graph, node, partition, versions)
    waiting = {
        key
        for key in node.inputs
        if pending[key] and not pending[key].isdisjoint(graph.upstream(node, partition, graph.nodes[key]))
    }
    if manifest is None:
        if node.partial and not expected and not waiting:
            return []  # a table of nothing: none of what it is built on exists, and none of it is about to
        return [Reason(key, None, None if key in waiting else expected.get(key)) for key in node.inputs]
    reasons = []
    if manifest.code_version != node.code_version:
        reasons.append(Reason("code", manifest.code_version, node.code_version))
    for key in node.inputs:
        recorded = manifest.inputs.get(key)
        if key in waiting:
            reasons.append(Reason(key, recorded, None))
        elif recorded != expected.get(key) and (key in expected or node.partial):
            reasons.append(Reason(key, recorded, expected.get(key)))
    return reasons
