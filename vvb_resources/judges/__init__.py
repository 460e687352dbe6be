"""Judges: the request, the raw reply and its store, the reading, the routing of a panel, and the providers.

Nothing here knows the graph. A provider is one file of `providers/`; whatever it answers is stored raw before anything
reads it, and verdicts are a pure reading of what is stored.
"""
