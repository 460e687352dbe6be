"""Which version each input of an artifact has now, for whole columns of partitions at once, and which of them count.

The one place that knows how an input's version follows from the partitions it is made of; the plan asks for all
partitions of an asset, the maker for the one it is about to make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vvb_assets.graph import Graph, Node, fan_in_version

Versions = Mapping[str, Mapping[str | None, str]]
Column = list[str | None]


def expected_columns(
    graph: Graph, node: Node, partitions: Sequence[str | None], versions: Versions
) -> dict[str, Column]:
    """Data version of each input as it stands, a column an input, aligned with `partitions`; None: does not exist."""
    columns: dict[str, Column] = {}
    for key in node.inputs:
        source, known = graph.nodes[key], versions[key]
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
        making = pending[key]
        if not making:
            continue
        projected = graph.project(node, partitions, graph.nodes[key])
        columns[key] = [True] * len(partitions) if projected is None else [p in making for p in projected]
    return columns


def not_counting(node: Node, inputs: Mapping[str, str | None]) -> tuple[str, ...]:
    """Inputs that make no difference while the others are as in `inputs`."""
    moot = node.moot
    return moot.others if moot is not None and inputs.get(moot.input) == moot.version else ()


def differing(
    node: Node, recorded: Mapping[str, str], expected: Mapping[str, str | None], ignored: Sequence[str]
) -> list[str]:
    """Inputs whose recorded version is not the one that holds now, in the node's order; then those it has no more.

    `ignored`: see `not_counting`. An input that does not exist counts only where the node is built on what exists:
    everything else waits for it.
    """
    found = [
        key
        for key in node.inputs
        if key not in ignored
        and recorded.get(key) != expected.get(key)
        and (expected.get(key) is not None or node.partial)
    ]
    return found + sorted(set(recorded) - set(node.inputs))
