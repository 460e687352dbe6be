"""Who speaks is the benchmark's choice; the agent's command stays the same."""

from __future__ import annotations

import json
import sys
import wave
from pathlib import Path

import pytest

from vvb_resources.sandbox import tts

# Another program that speaks: a sample for each character it was given, and its options in a file beside.
SPEAKER = """
import sys, wave
text = sys.stdin.read()
with wave.open(sys.argv[1], "wb") as out:
    out.setnchannels(1); out.setsampwidth(2); out.setframerate(8000); out.writeframes(bytes(2 * len(text)))
open(sys.argv[1] + ".txt", "w").write(" ".join(sys.argv[2:]))
"""


def test_another_program_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", SPEAKER, "{out}", "voice={voice}", "speed={speed}"]
    monkeypatch.setenv(tts.COMMAND_VARIABLE, json.dumps(command))
    out = tmp_path / "a.wav"
    assert tts.main(["--voice", "zh", "--speed", "200", "你好吗", str(out)]) == 0
    with wave.open(str(out)) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (8000, 3)
    assert (tmp_path / "a.wav.txt").read_text() == "voice=zh speed=200"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "-c", "import sys; sys.exit('no licence')"], "ended with 1: no licence"),
        ([sys.executable, "-c", "pass"], "ended with 0: no message"),  # nothing was written
        (["no-such-speaker"], "No such file"),
    ],
)
def test_a_program_that_does_not_speak_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str], said: str
) -> None:
    monkeypatch.setenv(tts.COMMAND_VARIABLE, json.dumps(command))
    assert tts.main(["hello", str(tmp_path / "a.wav")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert said in message
