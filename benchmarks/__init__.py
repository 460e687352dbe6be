"""Measurements of the platform itself; docs/performance.md holds their results."""
