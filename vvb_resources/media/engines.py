"""Models that name the language of speech, behind one interface: faster-whisper for every day, openai-whisper as the
paper used it. Both read multilingual Whisper weights from a folder, a file or the local cache; nothing is downloaded.

A model is written `NAME or PATH`, optionally behind an engine: `faster-whisper:base`, `openai-whisper:/models/base.pt`.
Without one, a `.pt` file is openai-whisper's and everything else faster-whisper's.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vvb_resources.errors import MediaError
from vvb_resources.store.digests import digest_bytes, digest_value

SETTING = "VVB_WHISPER_MODEL"
FASTER, OPENAI = "faster-whisper", "openai-whisper"
_MIB = 1 << 20


class LanguageModel(Protocol):
    """Anything that names the language of speech."""

    @property
    def name(self) -> str:
        """Engine and model, for the record."""

    def detect(self, pcm: NDArray[np.float32]) -> tuple[str, float]:
        """Most probable language (ISO 639-1) and its probability of mono 16 kHz speech, shape (n,), at most 30 s."""


class FasterWhisper:
    """A CTranslate2 Whisper model on the CPU, from a folder or the local cache."""

    def __init__(self, model: str) -> None:
        """Load `model`. Raises MediaError when it is not there, cannot be read or knows only English."""
        try:
            from faster_whisper import WhisperModel

            self._model = WhisperModel(model, device="cpu", compute_type="int8", cpu_threads=2, local_files_only=True)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise _unusable(model, error) from error
        if not self._model.model.is_multilingual:
            raise _english_only(model)
        self._name = f"{FASTER} {Path(model).name}"

    @property
    def name(self) -> str:
        """Engine and model, for the record."""
        return self._name

    def detect(self, pcm: NDArray[np.float32]) -> tuple[str, float]:
        """See LanguageModel."""
        language, p, _ = self._model.detect_language(audio=np.ascontiguousarray(pcm, dtype=np.float32))
        return str(language), float(p)


class OpenAIWhisper:
    """OpenAI's Whisper on PyTorch (the extra `whisper`), from a `.pt` file or the local cache."""

    def __init__(self, model: str) -> None:
        """Load `model`. Raises MediaError when package or weights are missing, unreadable or know only English."""
        try:
            import whisper  # the package of openai-whisper

            self._package: ModuleType = whisper
            self._model = whisper.load_model(str(_cached(whisper, model)), device="cpu")
        except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
            raise _unusable(model, error) from error
        if not self._model.is_multilingual:
            raise _english_only(model)
        self._name = f"{OPENAI} {Path(model).stem}"

    @property
    def name(self) -> str:
        """Engine and model, for the record."""
        return self._name

    def detect(self, pcm: NDArray[np.float32]) -> tuple[str, float]:
        """See LanguageModel."""
        window = self._package.pad_or_trim(np.ascontiguousarray(pcm, dtype=np.float32))
        mel = self._package.log_mel_spectrogram(window, n_mels=self._model.dims.n_mels)
        _, chances = self._model.detect_language(mel)
        language = max(chances, key=chances.__getitem__)
        return str(language), float(chances[language])


@lru_cache(maxsize=2)
def load_model(model: str) -> LanguageModel:
    """The model that `model` names (see the module). Raises MediaError when it cannot be used."""
    engine, name = _engine(model)
    return OpenAIWhisper(name) if engine == OPENAI else FasterWhisper(name)


def chosen_model(configured: str | None = None, root: Path | None = None) -> str | None:
    """The model to use: `VVB_WHISPER_MODEL` (where this machine keeps it), else what the benchmark's file names, which
    may be a path below the benchmark's folder `root`."""
    if configured and root and (root / configured).exists():
        configured = str(root / configured)
    return os.environ.get(SETTING) or configured


def model_identity(model: str | None) -> str:
    """What `model` is, wherever it lies: engine and a digest of its weights; `none`, or `missing` and its name.

    Data version of the graph's `speech_model`. Weights are gigabytes and a plan asks every time: names, sizes, and the
    first and last MiB of each file stand for them.
    """
    if not model:
        return "none"
    engine, name = _engine(model)
    try:
        place = _weights(engine, name)
        files = [place] if place.is_file() else sorted(file for file in place.iterdir() if file.is_file())
        if not files:
            raise FileNotFoundError(f"no weights in {place}")
        parts = [(file.name if place.is_dir() else "", file.stat().st_size, _ends(file)) for file in files]
    except (ImportError, OSError, ValueError):
        return f"missing {engine} {Path(name).name}"
    return f"{engine} {Path(name).stem} {digest_value(parts)}"


def _engine(model: str) -> tuple[str, str]:
    engine, found, name = model.partition(":")
    if not found or engine not in (FASTER, OPENAI):
        return (OPENAI if model.endswith(".pt") else FASTER), model
    return engine, name


def _weights(engine: str, name: str) -> Path:
    """Folder or file of the weights. Raises OSError or ValueError when there are none on this machine."""
    if Path(name).exists():
        return Path(name)
    if engine == OPENAI:
        import whisper

        return _cached(whisper, name)
    from faster_whisper.utils import download_model

    return Path(download_model(name, local_files_only=True))


def _ends(file: Path) -> str:
    """Digest of the first and last MiB of `file`."""
    with file.open("rb") as stream:
        first = stream.read(_MIB)
        stream.seek(max(0, file.stat().st_size - _MIB))
        return digest_bytes(first + stream.read(_MIB))


def _cached(package: ModuleType, model: str) -> Path:
    """The weights' file. By name alone, openai-whisper would fetch what its cache lacks: so the cache is asked first,
    and a path handed on, which it never fetches."""
    if model not in package.available_models():
        path = Path(model)
    else:
        root = os.getenv("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        path = Path(root) / "whisper" / f"{ALIASES.get(model, model)}.pt"
    if not path.is_file():
        raise FileNotFoundError(f"no weights at {path}")
    return path


ALIASES = {"large": "large-v3", "turbo": "large-v3-turbo"}  # names of openai-whisper whose file has another name


def _unusable(model: str, error: Exception) -> MediaError:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return MediaError(f"speech model {model!r} cannot be loaded ({reason})", remedy=f"see {SETTING} in docs/l1.md")


def _english_only(model: str) -> MediaError:
    return MediaError(f"speech model {model!r} is not multilingual", remedy=f"see {SETTING} in docs/l1.md")
