"""What is missing or stale, and why: computed from files and manifests, without making anything.

An artifact is fresh when it exists, was made by the stage's code version, and each input's data version that its
manifest records equals the input's version now. An input that is itself about to be made has no version yet; what hangs
on it is listed with `expected: null` and may turn out unchanged, in which case it is not made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vvb_assets.expected import (
    Column,
    differing,
    expected_columns,
    not_counting,
    recorded_version,
    slots_of,
    touched,
    waiting_columns,
)
from vvb_assets.graph import Node, Workspace
from vvb_assets.rates import Rates
from vvb_resources.store.artifacts import Manifest


@dataclass(frozen=True)
class Reason:
    """Why an artifact is stale: the input's version that was used, and the one that holds now.

    `expected` None: it is about to be made; where `gone`, there is no such input any more (a removed panel).
    """

    input: str
    recorded: str | None
    expected: str | None
    gone: bool = False

    def to_json(self) -> dict[str, Any]:
        """A row of the plan's `reasons`."""
        gone = {"gone": True} if self.gone else {}
        return {"input": self.input, "recorded": self.recorded, "expected": self.expected} | gone


@dataclass(frozen=True)
class Stale:
    """A partition to make. `missing`: there is none yet; `held`: stale, but only made on demand.

    `seconds`: what making it took before, or what others of its kind take (rates.py); None while nothing is known.
    """

    asset: str
    partition: str | None
    reasons: tuple[Reason, ...]
    missing: bool
    held: bool = False
    calls: int = 0
    usd: float | None = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """An entry of the plan's `stale` or `held`."""
        return {
            "asset": self.asset,
            "partition": self.partition,
            "missing": self.missing,
            "reasons": [reason.to_json() for reason in self.reasons],
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


def make_plan(workspace: Workspace, *, rerun_held: bool = False) -> Plan:
    """Compare every artifact of the graph with what it would be made from now.

    Whole columns are compared first (all partitions of an asset, input by input): what is looked at one by one is only
    what differs somewhere. Raises StoreError when a manifest is unreadable.
    """
    graph, store, plan = workspace.graph, workspace.store, Plan()
    versions: dict[str, dict[str | None, str]] = {}
    pending: dict[str, set[str | None]] = {}
    undelivered: set[str | None] = set()
    for node in graph.nodes.values():
        partitions: Sequence[str | None] = graph.partitions(node)
        manifests = store.manifests(node.key, graph.partitions(node))
        versions |= slots_of(node, manifests)
        pending |= {slot: set() for slot in touched(node, node.inputs)}
        if node.key == "l1_checks":
            undelivered = {p for p, m in manifests.items() if not m.summary.get("delivered")}
        if node.version_of is not None:
            current = {p: node.version_of(workspace.benchmark, p) for p in partitions}
            found = _source_reasons(node, manifests, current)
            versions[node.key] = dict(current)  # what hangs on a file sees the file's version at once
        else:
            expected = expected_columns(graph, node, partitions, versions)
            waiting = waiting_columns(graph, node, partitions, pending)
            found = _reasons(node, partitions, manifests, expected, waiting)
        plan.fresh += len(partitions) - len(found)
        rates = Rates(node, manifests)
        for partition, reasons in found.items():
            manifest = manifests.get(partition)
            held = node.held and manifest is not None and not rerun_held
            calls = 0 if partition in undelivered else node.judges
            item = Stale(
                node.key, partition, reasons, manifest is None, held, calls, seconds=rates.seconds_of(partition)
            )
            (plan.held if held else plan.stale).append(item)
            if not held and node.version_of is None:
                changed = ["missing"] if manifest is None else [reason.input for reason in reasons]
                for slot in touched(node, changed):
                    pending[slot].add(partition)
    return plan


def _source_reasons(
    node: Node, manifests: Mapping[str | None, Manifest], current: Mapping[str | None, str]
) -> dict[str | None, tuple[Reason, ...]]:
    """A configuration asset is compared with its file."""
    found: dict[str | None, tuple[Reason, ...]] = {}
    for partition, version in current.items():
        manifest = manifests.get(partition)
        if manifest is None or manifest.data_version != version:
            found[partition] = (Reason("file", manifest.data_version if manifest else None, version),)
        elif manifest.code_version != node.code_version:
            found[partition] = (Reason("code", manifest.code_version, node.code_version),)
    return found


def _reasons(
    node: Node,
    partitions: Sequence[str | None],
    manifests: Mapping[str | None, Manifest],
    expected: Mapping[str, Column],
    waiting: Mapping[str, list[bool]],
) -> dict[str | None, tuple[Reason, ...]]:
    """Partitions that are missing or stale, in order, each with its reasons."""
    found: dict[str | None, tuple[Reason, ...]] = {}
    for index in _suspects(node, partitions, manifests, expected, waiting):
        manifest = manifests.get(partitions[index])
        holds = {key: column[index] for key, column in expected.items()}
        awaited = {key for key, column in waiting.items() if column[index]}
        if manifest is None:
            reasons = _reasons_of_missing(node, holds, awaited)
        else:
            reasons = _reasons_of_stale(node, manifest, holds, awaited)
        if reasons:
            found[partitions[index]] = reasons
    return found


def _suspects(
    node: Node,
    partitions: Sequence[str | None],
    manifests: Mapping[str | None, Manifest],
    expected: Mapping[str, Column],
    waiting: Mapping[str, list[bool]],
) -> Iterable[int]:
    """Places in `partitions` where anything at all differs: never too few, and mostly none."""
    if len(manifests) < len(partitions):
        return range(len(partitions))
    made = [manifests[p] for p in partitions]
    inputs = [m.inputs for m in made]
    differ: set[int] = set()
    if any(m.code_version != node.code_version for m in made):
        differ |= {i for i, m in enumerate(made) if m.code_version != node.code_version}
    count = len(node.inputs)
    differ |= {i for i, recorded in enumerate(inputs) if len(recorded) != count}
    for key, column in expected.items():
        recorded = [m.facets.get(key) for m in made] if key in node.uses else [each.get(key) for each in inputs]
        if recorded != column:
            differ |= {i for i, (was, now) in enumerate(zip(recorded, column, strict=True)) if was != now}
    for column_waiting in waiting.values():
        differ |= {i for i, awaited in enumerate(column_waiting) if awaited}
    return sorted(differ)


def _reasons_of_missing(node: Node, holds: Mapping[str, str | None], awaited: set[str]) -> tuple[Reason, ...]:
    if node.partial and not awaited and not any(holds.values()):
        return ()  # a table of nothing: none of what it is built on exists, and none of it is about to
    return tuple(Reason(key, None, None if key in awaited else holds[key]) for key in node.inputs)


def _reasons_of_stale(
    node: Node, manifest: Manifest, holds: Mapping[str, str | None], awaited: set[str]
) -> tuple[Reason, ...]:
    code = [Reason("code", manifest.code_version, node.code_version)] * (manifest.code_version != node.code_version)
    sure = {key: None if key in awaited else version for key, version in holds.items()}
    ignored = not_counting(node, sure)
    changed = {*differing(node, manifest, holds, ignored), *awaited.difference(ignored)}
    inputs = [Reason(key, recorded_version(node, manifest, key), sure[key]) for key in node.inputs if key in changed]
    gone = [Reason(key, manifest.inputs[key], None, gone=True) for key in sorted(changed - set(node.inputs))]
    return (*code, *inputs, *gone)
