"""Language models behind one interface: which engine a name means, what is refused, and that nothing is fetched."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from vvb_resources.errors import MediaError
from vvb_resources.media.engines import OpenAIWhisper, load_model
from vvb_resources.media.facts import Span
from vvb_resources.media.language import language_facts


class Weights:
    """What `whisper.load_model` gives, as far as it is used here (openai-whisper 20250625: `detect_language` of one
    spectrogram returns token and chances)."""

    def __init__(self, multilingual: bool) -> None:
        self.is_multilingual = multilingual
        self.dims = SimpleNamespace(n_mels=80)
        self.mels: list[NDArray[np.float32]] = []

    def detect_language(self, mel: NDArray[np.float32]) -> tuple[int, dict[str, float]]:
        self.mels.append(mel)
        return 50259, {"de": 0.1, "en": 0.7, "cy": 0.2}


class Package(ModuleType):
    """The package's functions with its signatures; a name it would fetch from the network is an error here."""

    def __init__(self, multilingual: bool = True) -> None:
        super().__init__("whisper")
        self.weights = Weights(multilingual)
        self.loaded: list[str] = []

    def available_models(self) -> list[str]:
        return ["base", "base.en", "large", "large-v3"]

    def load_model(self, name: str, device: Any = None, download_root: Any = None, in_memory: bool = False) -> Weights:
        assert name not in self.available_models(), "would be fetched"
        self.loaded.append(name)
        return self.weights

    def pad_or_trim(self, array: NDArray[np.float32], length: int = 480_000) -> NDArray[np.float32]:
        return np.pad(array[:length], (0, max(0, length - len(array))))

    def log_mel_spectrogram(self, audio: NDArray[np.float32], n_mels: int = 80) -> NDArray[np.float32]:
        return np.zeros((n_mels, len(audio) // 160), dtype=np.float32)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Package:
    fake = Package()
    monkeypatch.setitem(sys.modules, "whisper", fake)
    return fake


def test_a_pt_file_is_openai_whispers(package: Package, tmp_path: Path) -> None:
    weights = tmp_path / "tiny.pt"
    weights.touch()
    facts = language_facts(np.zeros(64_000, dtype=np.float32), (Span(start=1, end=3),), str(weights))
    assert package.loaded == [str(weights)]
    assert (facts.measured, facts.engine) == (True, "openai-whisper tiny")
    assert [(w.language, w.p) for w in facts.windows] == [("en", 0.7)]
    assert package.weights.mels[0].shape == (80, 3_000)  # 30 s at 100 a second, whatever was heard


def test_a_name_is_looked_up_in_the_cache_and_never_fetched(
    package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(MediaError, match="no weights at"):
        OpenAIWhisper("base")
    assert package.loaded == []
    (tmp_path / "whisper").mkdir()
    for name in ("base.pt", "large-v3.pt"):
        (tmp_path / "whisper" / name).touch()
    load_model.cache_clear()
    load_model("openai-whisper:base")
    load_model("openai-whisper:large")
    assert package.loaded == [str(tmp_path / "whisper" / name) for name in ("base.pt", "large-v3.pt")]


def test_a_model_that_knows_only_english_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "whisper", Package(multilingual=False))
    (tmp_path / "base.en.pt").touch()
    with pytest.raises(MediaError, match="not multilingual"):
        OpenAIWhisper(str(tmp_path / "base.en.pt"))


def test_a_missing_package_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "whisper", None)
    load_model.cache_clear()
    facts = language_facts(np.zeros(16_000, dtype=np.float32), (Span(start=0, end=1),), "openai-whisper:base")
    assert (facts.measured, facts.windows) == (False, ())
    assert "cannot be loaded" in str(facts.reason)


def test_faster_whisper_takes_every_other_name_and_fetches_nothing(tmp_path: Path) -> None:
    load_model.cache_clear()
    for name in ("faster-whisper:no-such-model", str(tmp_path)):
        with pytest.raises(MediaError, match="cannot be loaded"):
            load_model(name)
