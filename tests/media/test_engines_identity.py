"""The graph's `speech_model`: weights have one identity wherever they lie, and their absence is one too."""

from __future__ import annotations

from pathlib import Path

import pytest

from vvb_resources.media.engines import chosen_model, model_identity


def weights(folder: Path, last: bytes = b"w") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.bin").write_bytes(b"0" * (3 << 20) + last)
    return folder


def test_equal_weights_are_one_model_wherever_they_lie(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    here, there = weights(tmp_path / "base"), weights(tmp_path / "elsewhere" / "base")
    other = weights(tmp_path / "other", b"x")
    assert model_identity(str(here)) == model_identity(f"faster-whisper:{there}")
    assert model_identity(str(here)).split()[:2] == ["faster-whisper", "base"]
    assert model_identity(str(here)).split()[2] != model_identity(str(other)).split()[2]


def test_no_model_and_a_missing_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert model_identity(None) == "none"
    assert model_identity(str(tmp_path / "gone.pt")) == "missing openai-whisper gone.pt"
    assert model_identity(str(tmp_path / "empty")) == "missing faster-whisper empty"
    assert model_identity("no-such-size") == "missing faster-whisper no-such-size"


def test_the_machines_setting_goes_before_the_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VVB_WHISPER_MODEL", raising=False)
    assert chosen_model("small") == "small"
    assert chosen_model("base", weights(tmp_path / "base").parent) == str(tmp_path / "base")
    monkeypatch.setenv("VVB_WHISPER_MODEL", "medium")
    assert chosen_model("small") == "medium"
    assert chosen_model() == "medium"
