"""The starter benchmark, run once for all tests that look at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.platform import Platform, copy_of_starter


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """All eight tasks by all three systems, judged by all three panels, in a copy that tests may edit (and restore).

    The data home's name is a pattern to whatever takes a path for one.
    """
    folder: Path = tmp_path_factory.mktemp("starter")
    platform = Platform(copy_of_starter(folder), folder / "home [1] *")
    report = platform.json("run")
    assert report["failed"] == {}
    return platform
