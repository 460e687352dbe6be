"""What a score was before, and which change moved it: from the kept history of every artifact behind it.

A change is a pair of neighbouring versions of one artifact. What moved it are the inputs whose versions differ; an
input that is an artifact itself was moved by a change of its own, and so on up to files and code: the causes. Every
link is a pair of digests, and a file's digest names the snapshot of what it held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from vvb_assets.graph import Node, Workspace, name_of, run_key
from vvb_resources.store.artifacts import Manifest
from vvb_resources.store.history import Past

MOST_FIELDS = 12  # of a file's difference; the snapshots have all


@dataclass(frozen=True)
class Cause:
    """A pair of versions of an input (or of `code`), or of a rollout by itself. `what`: the fields that differ."""

    input: str
    partition: str | None
    before: str | None
    after: str | None
    what: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """An entry of `moved_by` or `causes`."""
        name = name_of(self.input, self.partition)
        return {"input": name, "before": self.before, "after": self.after, "what": list(self.what)}


@dataclass(frozen=True)
class Change:
    """An artifact made anew: two versions, the figures that moved, what it was made from, and the causes."""

    asset: str
    partition: str | None
    before: Past
    after: Past
    figures: Mapping[str, tuple[Any, Any]]
    moved_by: tuple[Cause, ...]
    causes: tuple[Cause, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """An entry of `changes`."""
        return {
            "asset": self.asset,
            "partition": self.partition,
            "at": self.after.made_at,
            "before": self.before.data_version,
            "after": self.after.data_version,
            "figures": {name: list(pair) for name, pair in self.figures.items()},
            "moved_by": [cause.to_json() for cause in self.moved_by],
            "causes": [cause.to_json() for cause in self.causes],
        }


class Histories:
    """Changes of the artifacts of one workspace, read once each."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._read: dict[tuple[str, str | None], list[Change]] = {}

    def changes(self, asset: str, partition: str | None) -> list[Change]:
        """Changes of one artifact, oldest first; empty when it was made once or never."""
        if (asset, partition) not in self._read:
            self._read[asset, partition] = [
                self._change(asset, partition, before, after)
                for before, after in pairwise(self._past(asset, partition))
            ]
        return self._read[asset, partition]

    def _past(self, asset: str, partition: str | None) -> list[Past]:
        store, node = self.workspace.store, self.workspace.graph.nodes.get(asset)
        if not store.was_remade(asset, partition):
            return []
        current = store.load(asset, partition)
        known = node is not None and node.remember is not None and current is not None
        figures = node.remember(store.payload(current)) if known else {}  # type: ignore[union-attr,misc,arg-type]
        return store.history(asset, partition, figures)

    def _change(self, asset: str, partition: str | None, before: Past, after: Past) -> Change:
        moved = self._moved_by(asset, partition, before, after)
        change = Change(asset, partition, before, after, _moved_figures(before, after), moved)
        causes = [cause for each in moved for cause in self._causes_of(each)]
        if not causes and before.data_version != after.data_version:
            versions = (before.data_version, after.data_version)
            causes = [Cause(asset, partition, *versions, self._fields(*versions) or ("made again by itself",))]
        return Change(**{**change.__dict__, "causes": tuple(dict.fromkeys(causes))})

    def _moved_by(self, asset: str, partition: str | None, before: Past, after: Past) -> tuple[Cause, ...]:
        found = []
        if before.code_version != after.code_version:
            found.append(Cause("code", None, before.code_version, after.code_version))
        for key in dict.fromkeys((*before.inputs, *after.inputs)):
            was, now = before.inputs.get(key), after.inputs.get(key)
            if was != now:
                found.append(Cause(key, self._upstream(asset, partition, key), was, now, self._fields(was, now)))
        return tuple(found)

    def _upstream(self, asset: str, partition: str | None, key: str) -> str | None:
        """The partition of an input, where it is one."""
        nodes = self.workspace.graph.nodes
        if asset not in nodes or key not in nodes:
            return None
        upstream = self.workspace.graph.upstream(nodes[asset], partition, nodes[key])
        return upstream[0] if len(upstream) == 1 else None

    def _fields(self, was: str | None, now: str | None) -> tuple[str, ...]:
        store = self.workspace.store
        old, new = (store.content(digest) if digest else None for digest in (was, now))
        return tuple(_differences(old, new)[:MOST_FIELDS]) if old is not None and new is not None else ()

    def _causes_of(self, moved: Cause) -> list[Cause]:
        """Up to files and code: the causes of the input's own change, or the input itself."""
        node: Node | None = self.workspace.graph.nodes.get(moved.input)
        if node is None or node.version_of is not None or moved.before is None or moved.after is None:
            return [moved]
        steps = self.changes(moved.input, moved.partition)
        ends = [n for n, c in enumerate(steps) if c.after.data_version == moved.after]
        starts = [n for n, c in enumerate(steps) if c.before.data_version == moved.before]
        if not ends or not starts:
            return [moved]
        last = ends[-1]
        first = max((n for n in starts if n <= last), default=last)
        return [cause for step in steps[first : last + 1] for cause in step.causes] or [moved]


def run_history(workspace: Workspace, system: str, task: str, check: str | None = None) -> dict[str, Any]:
    """Changes of everything a run's scores rest on, oldest first; with `check`, those that moved its verdict alone.

    The document of `vvb explain --history --json`. Raises StoreError when a history cannot be read.
    """
    histories, partition = Histories(workspace), run_key(system, task)
    parts = ("l2_verdicts",) if check else ("judgment", "l2_verdicts", "l3_scores")
    assets = [f"{panel}/{part}" for panel in workspace.benchmark.panels for part in parts]
    if not check:
        assets = ["rollout", "l1_measurements", "l1_checks", "blinded_media", *assets, "run_scores"]
    changes = [change for asset in assets for change in histories.changes(asset, partition)]
    if check:
        changes = [c for c in changes if f"verdicts.{check}" in c.figures]
    changes.sort(key=lambda change: change.after.made_at)
    board = [] if check else [c for c in histories.changes("leaderboard", None) if _about(c, system)]
    return {
        "system": system,
        "task": task,
        "check": check,
        "changes": [change.to_json() for change in changes],
        "leaderboard": [_of_system(change, system) for change in board],
    }


def _about(change: Change, system: str) -> bool:
    return any(name.startswith(f"systems.{system}.") for name in change.figures)


def _of_system(change: Change, system: str) -> dict[str, Any]:
    """A change of the leaderboard with the figures of one system."""
    found = change.to_json()
    prefix = f"systems.{system}."
    found["figures"] = {k[len(prefix) :]: v for k, v in found["figures"].items() if k.startswith(prefix)}
    return found


def _moved_figures(before: Past, after: Past) -> dict[str, tuple[Any, Any]]:
    old, new = ({**_flat(past.summary), **_flat(past.figures)} for past in (before, after))
    return {name: (old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)}


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Nested mappings and lists as dotted names; list members go by their `id`, where they have one."""
    if isinstance(value, Mapping):
        items = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list) and value and all(isinstance(inner, Mapping) for inner in value):
        items = [(str(inner.get("id", place)), inner) for place, inner in enumerate(value)]
    else:
        return {name: value}
    found: dict[str, Any] = {}
    for key, inner in items:
        found |= _flat(inner, f"{name}.{key}" if name else key)
    return found


def _differences(old: Any, new: Any) -> list[str]:
    """Fields of two versions of a file that differ, as `name: old -> new`."""
    was, now = _flat(old), _flat(new)
    return [
        f"{name}: {_short(was.get(name))} -> {_short(now.get(name))}"
        for name in {**was, **now}
        if was.get(name) != now.get(name)
    ]


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def history_rows(workspace: Workspace, manifest: Manifest) -> list[dict[str, Any]]:
    """One row a change of an artifact, newest first, for the UI: when (UTC), which figures moved, why, and versions.

    Digests are cut to the length that payload folders are named by: whole, they push what was said out of the page.
    """
    changes = Histories(workspace).changes(manifest.asset, manifest.partition)
    return [
        {
            "at": change.after.made_at[:19].replace("T", " "),
            "moved": "; ".join(f"{k}: {_short(a)} -> {_short(b)}" for k, (a, b) in change.figures.items()) or "nothing",
            "because": "; ".join(told(cause) for cause in change.causes) or "it was asked for",
            "versions": f"{_cut(change.before.data_version)} -> {_cut(change.after.data_version)}",
        }
        for change in reversed(changes)
    ]


def told(cause: Cause) -> str:
    """A cause in one line."""
    what = f" ({', '.join(cause.what)})" if cause.what else ""
    return f"{name_of(cause.input, cause.partition)} {_cut(cause.before)} -> {_cut(cause.after)}{what}"


def _cut(version: str | None) -> str:
    """A digest by its first figures; any other version (of code, of a facet) whole."""
    if version is None:
        return "nothing"
    return version[:8] if len(version) == 32 and not version.strip("0123456789abcdef") else version
