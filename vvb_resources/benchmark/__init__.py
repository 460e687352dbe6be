"""A benchmark is a folder: its formats (`models`, `probes`), loader, linter, content digests and JSON Schemas."""
