"""Making one partition: lock, look whether it is fresh, else make it in a staging folder and commit it durably."""

from __future__ import annotations

import time
from dataclasses import dataclass

from vvb_assets.graph import Node, Workspace, name_of
from vvb_assets.plan import expected_inputs
from vvb_resources.errors import StoreError, VvbError
from vvb_resources.store.artifacts import Manifest


@dataclass(frozen=True)
class Outcome:
    """The artifact as it stands after the call, and whether this call made it."""

    manifest: Manifest
    made: bool


class UpstreamMissingError(VvbError):
    """An input was never made; this partition has to wait for it."""


def current_inputs(workspace: Workspace, node: Node, partition: str | None) -> dict[str, str]:
    """Data versions of the inputs as the store has them now; raises UpstreamMissingError when one is lacking."""
    graph, store = workspace.graph, workspace.store
    versions: dict[str, dict[str | None, str]] = {}
    for key in node.inputs:
        source = graph.nodes[key]
        upstream = graph.upstream(node, partition, source)
        if source.version_of is not None:
            for each in upstream:  # a file that was edited counts at once, whoever asks first
                make_partition(workspace, source, each)
        versions[key] = {p: m.data_version for p, m in store.manifests(key, upstream).items()}
        if not node.partial and len(versions[key]) < len(upstream):
            lacking = next(p for p in upstream if p not in versions[key])
            raise UpstreamMissingError(
                f"needs {name_of(key, lacking)}, which has not been made",
                where=name_of(node.key, partition),
                remedy="make it first (vvb run, or materialise it in the UI)",
            )
    return expected_inputs(graph, node, partition, versions)


def make_partition(workspace: Workspace, node: Node, partition: str | None, *, force: bool = False) -> Outcome:
    """Make `partition` of `node` unless it is fresh (or `force`). A held artifact is only made when missing or forced.

    Raises what the maker raises; then the old artifact, if any, is untouched.
    """
    store = workspace.store
    with store.locked(node.key, partition):
        existing = store.load(node.key, partition)
        inputs = current_inputs(workspace, node, partition)
        if existing is not None and not force:
            fresh = existing.code_version == node.code_version and dict(existing.inputs) == inputs
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
                inputs=inputs,
                seconds=time.monotonic() - started,
                summary=made.summary,
                checks=made.checks,
                keep_old=node.held,
            )
        if made.committed is not None:
            made.committed()
    return Outcome(manifest, made=True)
