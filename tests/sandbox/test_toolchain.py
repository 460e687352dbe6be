"""The tools on the agent's PATH work inside the sandbox, and the harness fills in where things are."""

from __future__ import annotations

import json
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from tests.sandbox.conftest import make_place
from vvb_resources.benchmark.models import SandboxPolicy, SystemConfig
from vvb_resources.errors import SandboxError
from vvb_resources.harnesses.base import LaunchContext, get_harness
from vvb_resources.sandbox.base import SandboxRequest, SandboxView
from vvb_resources.sandbox.local import LocalSandbox
from vvb_resources.sandbox.toolchain import fill_bin


def test_tools_work_inside(sandbox: LocalSandbox, tmp_path: Path) -> None:
    place = make_place(tmp_path / "run")
    fill_bin(place.bin)
    script = (
        "set -e; tts --voice en 'one two three four five' delivery/en.wav; tts --voice zh '一二三' delivery/zh.wav; "
        "tts --speed 320 'one two three four five' delivery/fast.wav; "
        "ffmpeg -v error -i delivery/en.wav delivery/en.mp3; "
        "python -c 'import skia, numpy, scipy, PIL, matplotlib, librosa, soundfile; print(numpy.ones(3).sum())'"
    )
    view = sandbox.view(place)
    request = SandboxRequest(place, ("sh", "-c", script), view.environment, SandboxPolicy(), time.time() + 60)
    outcome = sandbox.run(request)
    assert (place.logs / "stderr.txt").read_text() == ""
    assert outcome.ended == "self"
    assert (place.logs / "stdout.txt").read_text() == "3.0\n"
    seconds = {}
    for name in ("en", "zh", "fast"):
        with wave.open(str(place.delivery / f"{name}.wav")) as sound:
            assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (22050, 1, 2)
            seconds[name] = sound.getnframes() / 22050
            samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")
        assert np.abs(samples).max() > 3000  # audible: above -21 dBFS
    assert seconds["fast"] < seconds["en"]
    assert (place.delivery / "en.mp3").stat().st_size > 1000


def test_writing_to_a_tool_does_not_change_the_machines_own(sandbox: LocalSandbox, tmp_path: Path) -> None:
    place = make_place(tmp_path / "run")
    fill_bin(place.bin)
    assert (place.bin / "ffmpeg").is_symlink() or (place.bin / "ffmpeg").stat().st_nlink == 1


VIEW = SandboxView(work="/w", agent="/a", python="/py", path="/bin")


def test_generic_harness_fills_each_placeholder_once() -> None:
    system = SystemConfig(
        id="s",
        name="S",
        lab="L",
        harness="generic",
        command=("{python}", "{agent}/main.py", "--json={}", "{prompt}", "{other}"),
        env={"CONFIG": "{work}/home/config"},
        log="home/log.jsonl",
        parser="generic",
    )
    launch = get_harness("generic").launch(LaunchContext(system, "Read {python} and go.", VIEW, None, 0.0))
    assert launch.argv == ("/py", "/a/main.py", "--json={}", "Read {python} and go.", "{other}")
    assert launch.env == {"CONFIG": "/w/home/config"}
    assert (launch.log, launch.parser) == ("home/log.jsonl", "generic")


def test_unknown_harness_names_the_known_ones() -> None:
    with pytest.raises(SandboxError, match=r"no harness 'nope' -- use one of: .*generic"):
        get_harness("nope")


def test_view_is_what_the_agent_finds(sandbox: LocalSandbox, tmp_path: Path) -> None:
    place = make_place(tmp_path / "run")
    (place.agent / "kit.py").write_text("name = 'kit'\n")
    view = sandbox.view(place)
    code = f"import json, os, sys\nsys.path.insert(0, {view.agent!r})\n"
    code += "import kit\nprint(json.dumps([kit.name, os.getcwd()]))"
    request = SandboxRequest(place, (view.python, "-c", code), view.environment, SandboxPolicy(), time.time() + 20)
    sandbox.run(request)
    assert json.loads((place.logs / "stdout.txt").read_text()) == ["kit", view.work]
