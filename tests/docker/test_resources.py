"""What a run is given, what a smaller machine does to it, and what is known of it afterwards."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.docker.conftest import RunInContainer, policy_of, stdout
from tests.docker.engine import Engine
from tests.sandbox.conftest import make_place
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxRequest
from vvb_resources.sandbox.collect import collect
from vvb_resources.sandbox.docker.sandbox import DockerSandbox

pytestmark = pytest.mark.xdist_group("docker")


def test_limits_are_the_policys(run: RunInContainer, docker: Engine) -> None:
    code = """
import os, pathlib, resource
def first(*paths):
    return next(pathlib.Path(p).read_text().split() for p in paths if os.path.exists(p))
memory = first("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
pids = first("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max")
cpu = first("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
print(int(memory[0]) >> 20, pids[0], cpu[0], resource.getrlimit(resource.RLIMIT_FSIZE)[0] >> 20)
"""
    outcome, place, _ = run(code, cpus=1, memory_mb=300, processes=50, file_mb=32)
    assert stdout(place) == f"{300 + 128} {50 + 16} 100000 32\n"
    assert outcome.resources is not None
    assert outcome.resources.comparable


def test_a_smaller_machine_gives_what_it_has_and_says_so(run: RunInContainer, docker: Engine) -> None:
    here = DockerSandbox(policy_of()).info["NCPU"]
    outcome, _, _ = run("pass", cpus=here + 6, memory_mb=10**9)
    given = outcome.resources
    assert given is not None
    assert (given.cpus_asked, given.cpus, given.comparable) == (here + 6, here, False)
    assert given.memory_mb < given.memory_mb_asked == 10**9
    assert "NOT COMPARABLE" in outcome.isolation.statement


def test_post_mortem(run: RunInContainer) -> None:
    outcome, place, _ = run("import sys; print('all well'); print('it broke', file=sys.stderr); sys.exit(3)")
    seen = outcome.post_mortem
    assert (outcome.ended, outcome.exit_code, outcome.signal) == ("error", 3, None)
    assert seen is not None
    assert (seen.exit_code, seen.oom_killed, seen.killed_from_outside) == (0, False, False)
    assert seen.last_output == "it broke"
    assert seen.started_at is not None
    assert seen.finished_at is not None
    assert seen.started_at <= outcome.started_at <= seen.finished_at
    assert (place.logs / "post_mortem.json").exists()


def test_signal_of_the_agent(run: RunInContainer) -> None:
    outcome, _, _ = run("import os; os.kill(os.getpid(), 11)")
    assert (outcome.ended, outcome.exit_code, outcome.signal) == ("error", None, 11)


def test_a_program_that_the_image_lacks_is_the_configurations_fault(docker: Engine, tmp_path: Path) -> None:
    policy = policy_of()
    sandbox, place = DockerSandbox(policy), make_place(tmp_path / "sandbox" / "a--B--1")
    request = SandboxRequest(place, ("no-such-agent",), sandbox.view(place).environment, policy, time.time() + 9)
    with pytest.raises(SandboxError, match="the agent's program is not in the sandbox's image"):
        sandbox.run(request)


def test_an_image_that_is_not_here_is_one_clear_line(docker: Engine) -> None:
    with pytest.raises(SandboxError, match=r"sandbox.image: the engine has no image 'none:1' -- build it"):
        DockerSandbox(policy_of(image="none:1"))


def test_a_delivery_over_its_bounds_keeps_its_top(run: RunInContainer) -> None:
    """Sparse files have a size and take no room: ten of 7 MiB are over the bound of four times 8 MiB."""
    code = """
import os
os.makedirs("delivery/a")
for n in range(10):
    open(f"delivery/a/{n}.bin", "wb").truncate(7 << 20)
open("delivery/video.bin", "wb").write(b"top")
"""
    outcome, place, _ = run(code, file_mb=8)
    assert outcome.ended == "self"
    assert (place.delivery / "video.bin").read_bytes() == b"top"
    taken = collect(place.delivery, fresh(place.root / "taken"), max_bytes=32 << 20)
    assert [file.path for file in taken.files] == ["a/0.bin", "a/1.bin", "a/2.bin", "a/3.bin", "video.bin"]
    assert {entry.path: entry.why.split(",")[0] for entry in taken.left_out} == {
        f"a/{n}.bin": f"{7 << 20} bytes" for n in range(4, 10)
    }


def fresh(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_odd_entries_come_out_as_what_they_are(run: RunInContainer) -> None:
    code = (
        "import os\nos.symlink('/etc/passwd', 'delivery/link'); os.mkfifo('delivery/pipe'); os.mkdir('delivery/d', 0)"
    )
    _, place, _ = run(code)
    assert (place.delivery / "link").is_symlink()
    assert (place.delivery / "pipe").is_fifo()
    assert (place.delivery / "d").is_dir()


def test_speech_works_as_the_instruction_says(run: RunInContainer) -> None:
    code = "import subprocess\nprint(subprocess.run(['tts', '--voice', 'zh', '你好', 'tmp/a.wav']).returncode)\n"
    code += "import wave; w = wave.open('tmp/a.wav'); print(w.getframerate(), w.getnframes() > 5000)"
    _, place, _ = run(code)
    assert stdout(place) == "0\n22050 True\n"


def test_tools_are_the_ones_that_the_image_names(docker: Engine, tmp_path: Path) -> None:
    sandbox = DockerSandbox(policy_of())
    names = [name for name, _ in sandbox.view(make_place(tmp_path / "a")).tools]
    assert names == ["python", "node", "ffmpeg", "tts"]
