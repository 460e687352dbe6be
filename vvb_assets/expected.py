"""Which version each input of an artifact has now, for whole columns of partitions at once, and which of them count.

The one place that knows how an input's version follows from the partitions it is made of; the plan asks for all
partitions of an asset, the maker for the one it is about to make. Versions are looked up by slot: an asset's key for
its whole data version, `key#facet` for one figure of it (docs/design/versions.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from vvb_assets.graph import Graph, Node, fan_in_version
from vvb_resources.store.artifacts import Manifest

Versions = Mapping[str, Mapping[str | None, str]]
Column = list[str | None]


def slot(node: Node, key: str) -> str:
    """Where the version of a node's input is looked up."""
    return f"{key}#{node.uses[key]}" if key in node.uses else key


def slots_of(node: Node, manifests: Mapping[str | None, Manifest]) -> dict[str, dict[str | None, str]]:
    """Versions that an asset's artifacts give, by slot: whole, and each facet."""
    found = {node.key: {p: m.data_version for p, m in manifests.items()}}
    for facet in node.facets:
        found[f"{node.key}#{facet}"] = {p: facet_version(m, facet) for p, m in manifests.items()}
    return found


def facet_version(manifest: Manifest, facet: str) -> str:
    """A figure of an artifact's summary as a version of its own, readable: `delivered=true`."""
    return f"{facet}={json.dumps(manifest.summary.get(facet), ensure_ascii=False)}"


def expected_columns(
    graph: Graph, node: Node, partitions: Sequence[str | None], versions: Versions
) -> dict[str, Column]:
    """Version of each input as it stands, a column an input, aligned with `partitions`; None: does not exist."""
    columns: dict[str, Column] = {}
    for key in node.inputs:
        source, known = graph.nodes[key], versions[slot(node, key)]
        projected = graph.project(node, partitions, source)
        if projected is None:
            found = {p: known[p] for p in graph.partitions(source) if p in known}
            columns[key] = [fan_in_version(found) if found else None] * len(partitions)
        else:
            columns[key] = [known.get(p) for p in projected]
    return columns


def expected_inputs(graph: Graph, node: Node, partition: str | None, versions: Versions) -> dict[str, str]:
    """The same for one partition; an input that does not exist is left out."""
    columns = expected_columns(graph, node, [partition], versions)
    return {key: column[0] for key, column in columns.items() if column[0] is not None}


def waiting_columns(
    graph: Graph, node: Node, partitions: Sequence[str | None], pending: Mapping[str, set[str | None]]
) -> dict[str, list[bool]]:
    """For each input of which something is about to be made: which partitions hang on that."""
    columns: dict[str, list[bool]] = {}
    for key in node.inputs:
        making = pending[slot(node, key)]
        if not making:
            continue
        projected = graph.project(node, partitions, graph.nodes[key])
        columns[key] = [True] * len(partitions) if projected is None else [p in making for p in projected]
    return columns


def touched(node: Node, changed: Iterable[str]) -> list[str]:
    """Slots of a node that may be another once it is made again because of `changed` inputs (or `code`)."""
    changed = set(changed)
    every = [
        f"{node.key}#{f}"
        for f, sources in node.facets.items()
        if changed.difference(node.inputs) or changed.intersection(sources)
    ]
    return [node.key, *every]


def not_counting(node: Node, inputs: Mapping[str, str | None]) -> tuple[str, ...]:
    """Inputs that make no difference while the others are as in `inputs`."""
    moot = node.moot
    return moot.others if moot is not None and inputs.get(moot.input) == moot.version else ()


def recorded_version(node: Node, manifest: Manifest, key: str) -> str | None:
    """The version of an input that an artifact was made from, whole or the facet that counts."""
    return manifest.facets.get(key) if key in node.uses else manifest.inputs.get(key)


def differing(node: Node, manifest: Manifest, expected: Mapping[str, str | None], ignored: Sequence[str]) -> list[str]:
    """Inputs whose recorded version is not the one that holds now, in the node's order; then those it has no more.

    `ignored`: see `not_counting`. An input that does not exist counts only where the node is built on what exists:
    everything else waits for it.
    """
    found = [
        key
        for key in node.inputs
        if key not in ignored
        and recorded_version(node, manifest, key) != expected.get(key)
        and (expected.get(key) is not None or node.partial)
    ]
    return found + sorted(set(manifest.inputs) - set(node.inputs))


def made_from(node: Node, manifest: Manifest, inputs: Mapping[str, str | None]) -> bool:
    """Was an artifact made by the node's code from `inputs` (what counts of them)? Then making it again is idle."""
    if manifest.code_version != node.code_version:
        return False
    return not differing(node, manifest, inputs, not_counting(node, inputs))
