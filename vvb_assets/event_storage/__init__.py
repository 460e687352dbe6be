"""Dagster's storages with an event log that writes a batch of asset events in one transaction."""

from __future__ import annotations

EVENTS_AT_ONCE = 500
"""Most events in one transaction (DAGSTER_EVENT_BATCH_SIZE). Publishing sends smaller batches of its own size."""
