"""Making one partition: lock, look whether it is fresh, else make it in a staging folder and commit it durably."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vvb_assets.expected import expected_inputs, made_from, slots_of
from vvb_assets.graph import Node, Workspace, name_of
from vvb_resources.errors import StoreError, VvbError
from vvb_resources.store.artifacts import Manifest


@dataclass(frozen=True)
class Outcome:
    """The artifact as it stands after the call, and whether this call made it."""

    manifest: Manifest
    made: bool


class UpstreamMissingError(VvbError):
    """An input was never made; this partition has to wait for it."""


@dataclass(frozen=True)
class Inputs:
    """The inputs of a partition as the store has them now.

    `counting`: what the artifact is compared with; `versions`: whole data versions, for the record; `facets`: the
    figures that stand in `counting` in place of a whole version.
    """

    counting: dict[str, str]
    versions: dict[str, str]
    facets: dict[str, str]


def current_inputs(workspace: Workspace, node: Node, partition: str | None) -> Inputs:
    """The inputs of a partition as the store has them now; raises UpstreamMissingError when one is lacking."""
    graph, store = workspace.graph, workspace.store
    slots: dict[str, dict[str | None, str]] = {}
    for key in node.inputs:
        source = graph.nodes[key]
        upstream = graph.upstream(node, partition, source)
        if source.version_of is not None:
            for each in upstream:  # a file that was edited counts at once, whoever asks first
                try:
                    make_partition(workspace, source, each)
                except VvbError:
                    if not node.partial:
                        raise  # a table of what exists goes on with the file as it was last read (bad votes, say)
        slots |= slots_of(source, store.manifests(key, upstream))
        if not node.partial and len(slots[key]) < len(upstream):
            lacking = next(p for p in upstream if p not in slots[key])
            raise UpstreamMissingError(
                f"needs {name_of(key, lacking)}, which has not been made",
                where=name_of(node.key, partition),
                remedy="make it first (vvb run, or materialise it in the UI)",
            )
    counting = expected_inputs(graph, node, partition, slots)
    whole = expected_inputs(graph, replace(node, uses={}), partition, slots) if node.uses else counting
    return Inputs(counting, whole, {key: counting[key] for key in node.uses if key in counting})


def make_partition(workspace: Workspace, node: Node, partition: str | None, *, force: bool = False) -> Outcome:
    """Make `partition` of `node` unless it is fresh (or `force`). A held artifact is only made when missing or forced.

    Raises what the maker raises; then the old artifact, if any, is untouched.
    """
    store = workspace.store
    with store.locked(node.key, partition):
        existing = store.load(node.key, partition)
        inputs = current_inputs(workspace, node, partition)
        if existing is not None and not force:
            fresh = made_from(node, existing, inputs.counting)
            if node.version_of is not None:
                fresh = fresh and existing.data_version == node.version_of(workspace.benchmark, partition)
            if fresh or node.held:
                return Outcome(existing, made=False)
        started = time.monotonic()
        with store.staging(node.key, partition) as out:
            try:
                made = node.make(workspace, node, partition, out)
            except BaseException:
                if node.held and out.is_dir():
                    store.keep_failed(out, node.key, partition)
                raise
            if not made.data_version:
                raise StoreError("the maker gave no data version", where=name_of(node.key, partition))
            manifest = store.commit(
                out,
                asset=node.key,
                partition=partition,
                data_version=made.data_version,
                code_version=node.code_version,
                inputs=inputs.versions,
                facets=inputs.facets,
                remembered=_remembered(workspace, node, existing),
                seconds=time.monotonic() - started,
                summary=made.summary,
                checks=made.checks,
                keep_old=node.held,
            )
        if made.committed is not None:
            made.committed()
    return Outcome(manifest, made=True)


def _remembered(workspace: Workspace, node: Node, existing: Manifest | None) -> Mapping[str, Any]:
    """Figures of the payload that is about to be replaced, for its history; nothing when it cannot be read any more."""
    if existing is None or node.remember is None:
        return {}
    try:
        return node.remember(workspace.store.payload(existing))
    except (OSError, ValueError, KeyError, VvbError):
        return {}  # a damaged payload is a reason to make it again, not to refuse that
