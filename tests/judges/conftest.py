"""One scheduled clip for all tests of this folder, encoded once a session."""

from __future__ import annotations

import pytest

from tests.judges.clips import blinded, schedule, schedule_sound
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.media.blinding import BlindedMedia


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> BlindedMedia:
    """The clip of `clips.schedule`, 8 s, with sound."""
    return blinded(tmp_path_factory.mktemp("clip"), 8.0, schedule, schedule_sound())


@pytest.fixture(scope="session")
def silent_clip(tmp_path_factory: pytest.TempPathFactory) -> BlindedMedia:
    """The same picture without a sound stream."""
    return blinded(tmp_path_factory.mktemp("silent"), 8.0, schedule, None)


@pytest.fixture(scope="session")
def observations(tmp_path_factory: pytest.TempPathFactory) -> ObservationCache:
    """A cache that the tests share."""
    return ObservationCache(tmp_path_factory.mktemp("observations"))
