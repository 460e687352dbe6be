"""The late polisher: a scripted system that previews again and again, and on some tasks renders too late."""
