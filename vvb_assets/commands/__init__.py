"""The commands of `vvb`, one file a subject; each is thin over the graph and the plain functions."""
