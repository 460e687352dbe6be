"""What automation asks for: the partitions of the plan that can be made now, in as few runs as possible. No Dagster.

A sweep compares every artifact with what it would be made from, as `vvb plan` does, and walks the graph in
topological order. A stale partition is

- waiting, while what it is made from is being made or will be (its turn comes with a later sweep)
- left, when nobody will make it: held, not permitted, over the limit, failed too often, or without its inputs; what
  is built on what exists does not wait for it
- ready otherwise, and asked for.

Nothing here knows time or the event log: both are given, so that the same state always asks for the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vvb_assets.expected import expected_inputs, made_from, slot, slots_of
from vvb_assets.graph import Graph, Node, Workspace
from vvb_assets.plan import Plan, Stale
from vvb_resources.store.artifacts import Manifest
from vvb_resources.store.digests import digest_value

LARGEST_RUN = 1000  # partitions; a run's configuration lists them
VERSION_LENGTH = 16

Price = Callable[[list[Stale]], list["float | None"]]


@dataclass(frozen=True)
class Policy:
    """What a sweep may ask for: ops by name, missing rollouts or not, and how many USD are left today."""

    ops: frozenset[str]
    rollouts: bool = False
    usd: float = 0.0
    attempts: int = 3


@dataclass(frozen=True)
class Busy:
    """What others are at: partitions of unfinished runs by asset, and assets of a backfill that is under way."""

    partitions: Mapping[str, frozenset[str | None]] = field(default_factory=dict)
    assets: frozenset[str] = frozenset()

    def has(self, asset: str, partition: str | None) -> bool:
        """Is somebody making this partition, or about to."""
        return asset in self.assets or partition in self.partitions.get(asset, ())


@dataclass(frozen=True)
class Tries:
    """How often a version has failed, and whether it is time for another try."""

    failed: int = 0
    due: bool = True


@dataclass(frozen=True)
class Request:
    """One run: the assets of an op, exactly these partitions, and the version that each is expected to get."""

    op: str
    assets: tuple[str, ...]
    partitions: tuple[str | None, ...]
    versions: tuple[str, ...]

    @property
    def key(self) -> str:
        """Digest of the set of (partition, expected version)."""
        return digest_value([self.op, self.assets, sorted(zip(map(str, self.partitions), self.versions, strict=True))])


@dataclass
class Sweep:
    """What a sweep found. `left` counts by reason what nobody will make; `current` are the versions still wanted."""

    requests: list[Request] = field(default_factory=list)
    waiting: int = 0
    left: Counter[str] = field(default_factory=Counter)
    usd: float = 0.0
    current: set[str] = field(default_factory=set)

    @property
    def summary(self) -> str:
        """One line for the sensor's page."""
        parts = [f"{self.waiting} wait for what is being made"] if self.waiting else []
        parts += [f"{count} {why}" for why, count in sorted(self.left.items())]
        return "; ".join(parts) or "everything is fresh"


HELD = "stale rollouts are held: vvb run --rerun-rollouts makes them"
ROLLOUTS = "missing rollouts: not permitted (automation.rollouts in benchmark.yaml)"
UNLOADED = "are new in the benchmark's files: reload the code location"
ELSEWHERE = "are left to others"
UNCHANGED = "lack what they are made from, or differ only by what is left"
FAILED = "failed too often: see their runs, then reset this sensor's cursor"
UNPRICED = "judgments have no known price"
LIMIT = "judgments wait for money: the limit of a day is reached (automation.usd_day in benchmark.yaml)"


@dataclass(frozen=True)
class _Candidate:
    """A partition of an op: its assets that the plan names, and those of them that can be made (or published) now."""

    partition: str | None
    nodes: tuple[Node, ...]
    making: tuple[Node, ...]
    judging: Stale | None


class Sweeper:
    """One sweep over a workspace; `sweep` is its only public use."""

    def __init__(
        self,
        workspace: Workspace,
        plan: Plan,
        loaded: Graph,
        recorded: Callable[[Node], Mapping[str | None, str]],
        busy: Busy,
        policy: Policy,
        tries: Callable[[str], Tries],
        price: Price,
    ) -> None:
        """`loaded` is the graph as Dagster has it, `recorded` the data versions of an asset's newest events."""
        self.workspace, self.graph = workspace, workspace.graph
        self.loaded, self.recorded, self.busy = loaded, recorded, busy
        self.policy, self.tries, self.price = policy, tries, price
        self.stale: dict[str, dict[str | None, Stale]] = {}
        for item in [*plan.stale, *plan.held]:
            self.stale.setdefault(item.asset, {})[item.partition] = item
        self.versions: dict[str, dict[str | None, str]] = {}
        self.manifests: dict[str, dict[str | None, Manifest]] = {}
        self.events: dict[str, Mapping[str | None, str]] = {}
        self.waits: dict[str, set[str | None]] = {}
        self.known: dict[str, set[str | None]] = {}
        self.found = Sweep()

    def sweep(self) -> Sweep:
        """What to ask for now."""
        for nodes in self.graph.ops():
            for node in nodes:
                self._read(node)
            if nodes[0].version_of is not None:
                continue  # published by whoever reads the files; in time for what hangs on it
            ready: list[tuple[_Candidate, str]] = []
            for candidate in self._candidates(nodes):
                version = self._version(candidate)
                why = self._why_not(candidate, version)
                if why == "":
                    ready.append((candidate, version))
                elif why is None:
                    self._wait(candidate)
                else:
                    self.found.left[why] += 1
            self._request(nodes[0].op_name, self._affordable(ready))
        return self.found

    def _read(self, node: Node) -> None:
        partitions = self.graph.partitions(node)
        self.waits[node.key] = set()
        self.known[node.key] = set(self.loaded.partitions(node)) if node.key in self.loaded.nodes else set()
        if node.version_of is not None:
            self.versions[node.key] = {p: node.version_of(self.workspace.benchmark, p) for p in partitions}
            return
        manifests = self.workspace.store.manifests(node.key, partitions)
        self.manifests[node.key], self.events[node.key] = manifests, self.recorded(node)
        self.versions |= slots_of(node, manifests)

    def _candidates(self, nodes: tuple[Node, ...]) -> list[_Candidate]:
        """Partitions of an op that are stale, missing, or whose event was lost, in graph order."""
        to_make: dict[str | None, list[Node]] = {}
        for node in nodes:
            stale = self.stale.get(node.key, {})
            for partition in self.graph.partitions(node):
                if partition in stale or self._is_lost(node, partition):
                    to_make.setdefault(partition, []).append(node)
        return [self._candidate(partition, chosen) for partition, chosen in to_make.items()]

    def _candidate(self, partition: str | None, chosen: list[Node]) -> _Candidate:
        """Those of the chosen assets that would come out differently if they were made from what is there now."""
        making: list[Node] = []
        for node in chosen:
            made_with = {n.key for n in making}.intersection(node.inputs)
            if self._lacks(node, partition, made_with):
                continue
            if made_with or self._is_lost(node, partition) or not self._is_fresh(node, partition):
                making.append(node)
        judging = next((self.stale[n.key].get(partition) for n in making if n.judges and n.key in self.stale), None)
        return _Candidate(partition, tuple(chosen), tuple(making), judging)

    def _is_lost(self, node: Node, partition: str | None) -> bool:
        """The artifact is there, and no event says so: it was lost in a crash."""
        manifest = self.manifests[node.key].get(partition)
        return manifest is not None and self.events[node.key].get(partition) != manifest.data_version

    def _is_fresh(self, node: Node, partition: str | None) -> bool:
        """Made from what is there (the rule of `make_partition`): stale, if at all, only by what is left."""
        manifest = self.manifests[node.key].get(partition)
        if manifest is None:
            return False
        return made_from(node, manifest, expected_inputs(self.graph, node, partition, self.versions))

    def _lacks(self, node: Node, partition: str | None, made_with: set[str]) -> bool:
        """An input is not there; or, of a table built on what exists, nothing is there but files.

        What follows from files alone is no reason for a run while its step has nothing else to be built on.
        """
        made = [self.graph.nodes[key] for key in node.inputs if self.graph.nodes[key].version_of is None]
        if not made:
            ground = self._ground(node.op_name)
            return bool(ground) and not any(self.versions[key] for key in ground)
        there = [
            source.key in made_with or p in self.versions[source.key]
            for source in made
            for p in self.graph.upstream(node, partition, source)
        ]
        return not (any(there) if node.partial else all(there))

    def _ground(self, op: str) -> set[str]:
        """Assets that a step is built on, besides files and what it makes itself."""
        sources = {key for node in self.graph.nodes.values() if node.op_name == op for key in node.inputs}
        nodes = (self.graph.nodes[key] for key in sources)
        return {node.key for node in nodes if node.version_of is None and node.op_name != op}

    def _version(self, candidate: _Candidate) -> str:
        """Digest of what the partition would be made from now: the version that it is expected to get."""
        expected = {}
        for node in candidate.making:
            inner = {n.key for n in candidate.making}.intersection(node.inputs)
            versions = {slot(node, k): {} if k in inner else self.versions[slot(node, k)] for k in node.inputs}
            expected[node.key] = [node.code_version, expected_inputs(self.graph, node, candidate.partition, versions)]
        version = digest_value([candidate.partition, expected])[:VERSION_LENGTH]
        self.found.current.add(version)
        return version

    def _why_not(self, candidate: _Candidate, version: str) -> str | None:
        """Why a candidate is not asked for: None while it waits, a reason when it is left, "" when it is ready."""
        partition, first = candidate.partition, candidate.nodes[0]
        if any(self.busy.has(node.key, partition) for node in candidate.nodes):
            return None
        if any(partition not in self.known[node.key] for node in candidate.nodes):
            return UNLOADED
        if first.held and partition in self.stale.get(first.key, {}):
            if self.stale[first.key][partition].held:
                return HELD
            if not self.policy.rollouts:
                return ROLLOUTS
        for node in candidate.nodes:
            for key in node.inputs:
                source = self.graph.nodes[key]
                if source.op_name == node.op_name:
                    continue
                if not self.waits[key].isdisjoint(self.graph.upstream(node, partition, source)):
                    return None
        if first.op_name not in self.policy.ops:
            return ELSEWHERE
        if not candidate.making:
            return UNCHANGED
        tries = self.tries(version)
        if tries.failed >= self.policy.attempts:
            return FAILED
        return "" if tries.due else None

    def _wait(self, candidate: _Candidate) -> None:
        self.found.waiting += 1
        self._mark(candidate)

    def _mark(self, candidate: _Candidate) -> None:
        """What hangs on it waits, whether it is being made already or asked for now."""
        for node in candidate.nodes:
            self.waits[node.key].add(candidate.partition)

    def _affordable(self, ready: list[tuple[_Candidate, str]]) -> list[tuple[_Candidate, str]]:
        """Those that the money of the day covers, in graph order; an unknown price is never asked for."""
        judging = [c.judging for c, _ in ready if c.judging is not None]
        prices = iter(self.price(judging) if judging else [])
        covered = []
        for candidate, version in ready:
            usd = next(prices) if candidate.judging is not None else 0.0
            if usd is None:
                self.found.left[UNPRICED] += 1
            elif usd > 0 and self.found.usd + usd > self.policy.usd:
                self.found.left[LIMIT] += 1
            else:
                self.found.usd += usd
                covered.append((candidate, version))
                self._mark(candidate)
        return covered

    def _request(self, op: str, covered: list[tuple[_Candidate, str]]) -> None:
        """One run for each subset of the op's assets that is stale together."""
        groups: dict[tuple[str, ...], list[tuple[str | None, str]]] = {}
        for candidate, version in covered:
            groups.setdefault(tuple(n.key for n in candidate.making), []).append((candidate.partition, version))
        for assets, members in groups.items():
            for start in range(0, len(members), LARGEST_RUN):
                part = members[start : start + LARGEST_RUN]
                self.found.requests.append(Request(op, assets, tuple(p for p, _ in part), tuple(v for _, v in part)))
