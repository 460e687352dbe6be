"""Dagster's data-version tags: the only module that reads or writes them.

An event of an asset's partition carries the artifact's data version, the code version, and for each input its data
version and the storage id of the input's newest event (by which Dagster's stale logic for partitioned inputs goes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

from vvb_assets.graph import Graph, Node
from vvb_resources.store.artifacts import Manifest

MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION


def asset_key(node_key: str) -> dg.AssetKey:
    """Dagster's key of a node: `J1/judgment` -> ["J1", "judgment"]."""
    return dg.AssetKey(node_key.split("/"))


def recorded_versions(instance: dg.DagsterInstance, node: Node) -> dict[str | None, str]:
    """Data version of the newest event of each partition, in one query an asset."""
    key = asset_key(node.key)
    if node.dims == "none":
        event = instance.get_latest_data_version_record(key)
        if event is None or event.asset_materialization is None:
            return {}
        version = (event.asset_materialization.tags or {}).get(DATA_VERSION_TAG)
        return {None: version} if version else {}
    tags = instance.event_log_storage.get_latest_tags_by_partition(key, MATERIALIZATION, [DATA_VERSION_TAG])
    return {partition: found[DATA_VERSION_TAG] for partition, found in tags.items() if DATA_VERSION_TAG in found}


@dataclass
class Pointers:
    """Storage ids of the newest events of a node's inputs, read once a batch, before the versions are used.

    `batch` is what will be asked about: then only its upstream partitions are read, and not a column of thousands.
    """

    instance: dg.DagsterInstance
    graph: Graph
    batch: Sequence[tuple[Node, str | None]] | None = None
    _ids: dict[str, Mapping[str | None, int]] = field(default_factory=dict)

    def newest(self, source: Node, partitions: Iterable[str | None]) -> int | None:
        """The newest storage id among the partitions of an input; None when it has no event."""
        if source.key not in self._ids:
            self._ids[source.key] = self._read(source)
        found = [self._ids[source.key][p] for p in partitions if p in self._ids[source.key]]
        return max(found, default=None)

    def _read(self, source: Node) -> Mapping[str | None, int]:
        wanted = {
            p for node, made in self.batch or () for p in self.graph.upstream(node, made, source) if p is not None
        }
        return newest_ids(self.instance, source, wanted if self.batch is not None else None)


def newest_ids(
    instance: dg.DagsterInstance, node: Node, partitions: set[str] | None = None
) -> Mapping[str | None, int]:
    """Storage id of the newest event of each partition that has one; of `partitions` only, when given."""
    key = asset_key(node.key)
    if node.dims == "none":
        event = instance.get_latest_data_version_record(key)
        return {None: event.storage_id} if event else {}
    if partitions is not None and not partitions:
        return {}  # Dagster takes an empty set for all
    ids = instance.event_log_storage.get_latest_storage_id_by_partition(key, MATERIALIZATION, partitions)
    return dict(ids.items())


def version_tags(node: Node, manifest: Manifest, pointers: Pointers) -> dict[str, str]:
    """Tags of the event that publishes `manifest`."""
    tags = {
        DATA_VERSION_TAG: manifest.data_version,
        CODE_VERSION_TAG: manifest.code_version,
        DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
    }
    for key, version in manifest.inputs.items():
        if key not in pointers.graph.nodes:
            continue  # an input that has since left the benchmark (a removed panel)
        source = pointers.graph.nodes[key]
        tags[get_input_data_version_tag(asset_key(key))] = version
        pointer = pointers.newest(source, pointers.graph.upstream(node, manifest.partition, source))
        if pointer is not None:
            tags[get_input_event_pointer_tag(asset_key(key))] = str(pointer)
    return tags
