"""One sound clip for all tests of media: 64x48, 30 fps, 1 s, a tone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.media.clips import make_clip


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mp4")
