"""The events of a synthetic store, inserted in bulk: one materialisation a manifest, as publishing writes it.

SYNTHETIC, for load and shape. Rows go through the storage's own `store_event_batch`, so that index tables and tags are
those of real events, on SQLite and on PostgreSQL. Left out are the check results and the metadata that describes a
payload, which the synthetic store does not have. All events belong to one run id that has no run.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator

import dagster as dg
from dagster._core.events import DagsterEvent, StepMaterializationData
from dagster._core.events.log import EventLogEntry

from vvb_assets.graph import Node, Workspace
from vvb_assets.provenance import Pointers, asset_key, version_tags

RUN = "8f3c4c52-0000-4000-8000-000000000009"
BATCH = 1000


def insert_events(workspace: Workspace, instance: dg.DagsterInstance, keys: Collection[str] | None = None) -> int:
    """Insert the materialisation of every manifest of the assets `keys` (all of them by default); return how many.

    In the graph's order, so that each event points to those of its inputs.
    """
    written = 0
    for node in workspace.graph.nodes.values():
        if keys is None or node.key in keys:
            entries = list(_entries(workspace, instance, node))
            for first in range(0, len(entries), BATCH):
                instance.event_log_storage.store_event_batch(entries[first : first + BATCH])
            written += len(entries)
    return written


def _entries(workspace: Workspace, instance: dg.DagsterInstance, node: Node) -> Iterator[EventLogEntry]:
    pointers = Pointers(instance, workspace.graph)
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION.value
    for partition, manifest in workspace.store.manifests(node.key, workspace.graph.partitions(node)).items():
        tags = version_tags(node, manifest, pointers)
        made = dg.AssetMaterialization(
            asset_key(node.key), partition=partition, tags=tags, metadata=dict(manifest.summary)
        )
        event = DagsterEvent(kind, "synthetic", step_key="s", event_specific_data=StepMaterializationData(made))
        yield EventLogEntry(None, 10, "", RUN, time.time(), step_key="s", job_name="synthetic", dagster_event=event)
