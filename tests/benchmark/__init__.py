"""Tests of benchmark folders: loader, linter, digests, schemas."""
