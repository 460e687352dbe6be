"""Agents that do not want to end: each is over within five seconds of its deadline, with the right outcome."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

from tests.docker.conftest import RunInContainer, processes_with, stdout
from vvb_assets.rollouts.record import video_record
from vvb_resources.sandbox.base import SandboxOutcome, SandboxPlace
from vvb_resources.sandbox.docker.sandbox import LOG_BYTES

pytestmark = pytest.mark.xdist_group("docker")

WITHIN_S = 5.0
SECONDS = 7.0
FILM = """
import os, signal, subprocess, sys, time
def film(path, *options):
    source = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1"]
    subprocess.run(["ffmpeg", "-v", "error", "-y", *source, "-pix_fmt", "yuv420p", *options, path], check=True)
def deliver():
    film("tmp/a.mp4")
    os.rename("tmp/a.mp4", "delivery/video.mp4")
"""
VIDEO = "deliver()\n"


def ended_in_time(outcome: SandboxOutcome, deadline: float) -> None:
    """The agent and its container were over within five seconds of the deadline, by the engine's clock."""
    assert outcome.post_mortem is not None
    assert outcome.post_mortem.finished_at is not None
    assert outcome.post_mortem.finished_at <= deadline + WITHIN_S
    assert outcome.started_at + outcome.seconds <= deadline + WITHIN_S


def delivered(place: SandboxPlace) -> tuple[str, str | None]:
    record = video_record(place.delivery)
    return record.state, record.name


def test_sigterm_is_ignored(run: RunInContainer) -> None:
    stubborn = "for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\nwhile True: time.sleep(0.1)"
    outcome, place, deadline = run(FILM + VIDEO + stubborn, seconds=SECONDS)
    ended_in_time(outcome, deadline)
    assert (outcome.ended, outcome.limit, outcome.exit_code) == ("timed_out", None, None)
    assert delivered(place) == ("present", "video.mp4")


def test_daemons_are_found(run: RunInContainer, tmp_path: Path) -> None:
    mark = f"daemon-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}"
    forks = f"""
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("python3", ["python3", "-c", "import time\\nwhile True: time.sleep(9)", "{mark}"])
        os._exit(0)
    os.wait()
while True: time.sleep(1)
"""
    outcome, place, deadline = run(FILM + VIDEO + forks, seconds=SECONDS)
    ended_in_time(outcome, deadline)
    assert outcome.ended == "timed_out"
    assert outcome.killed >= 6
    assert processes_with(mark) == []
    assert delivered(place) == ("present", "video.mp4")


def test_daemons_of_an_agent_that_ended_are_found_too(run: RunInContainer, tmp_path: Path) -> None:
    mark = f"daemon-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}"
    code = f"""
if os.fork() == 0:
    os.setsid()
    os.execvp("python3", ["python3", "-c", "import time\\nwhile True: time.sleep(9)", "{mark}"])
time.sleep(0.3)
"""
    outcome, _, deadline = run(FILM + code, seconds=60)
    assert (outcome.ended, outcome.exit_code, outcome.killed) == ("self", 0, 1)
    assert time.time() < deadline - 20
    assert processes_with(mark) == []


def test_writes_until_the_end(run: RunInContainer) -> None:
    code = """
n = 0
while True:
    n += 1
    with open(f'delivery/{n % 9}.bin', 'wb') as f:
        f.write(os.urandom(1 << 16))
"""
    outcome, place, deadline = run(FILM + VIDEO + code, seconds=SECONDS)
    ended_in_time(outcome, deadline)
    assert outcome.ended == "timed_out"
    assert delivered(place) == ("present", "video.mp4")
    assert len(list(place.delivery.iterdir())) > 2


def test_fills_the_disk(run: RunInContainer) -> None:
    code = "n = 0\nwhile True:\n  n += 1\n  open(f'tmp/{n}.bin', 'wb').write(bytes(4 << 20))"
    outcome, place, deadline = run(FILM + VIDEO + code, seconds=30, file_mb=16)
    ended_in_time(outcome, deadline)
    assert (outcome.ended, outcome.limit) == ("error", "disk")
    assert delivered(place) == ("present", "video.mp4")


def test_one_file_cannot_grow_without_end(run: RunInContainer) -> None:
    code = "f = open('delivery/big.bin', 'wb', buffering=0)\nwhile True: f.write(bytes(1 << 20))"
    outcome, place, deadline = run(FILM + VIDEO + code, seconds=30, file_mb=8)
    ended_in_time(outcome, deadline)
    assert outcome.ended == "error"
    assert (place.delivery / "big.bin").stat().st_size == 8 << 20
    assert delivered(place) == ("present", "video.mp4")


@pytest.mark.parametrize("where", ["/tmp", "/dev/shm"])
def test_memory_that_looks_like_a_disk_is_bounded(run: RunInContainer, where: str) -> None:
    code = f"""
n = 0
try:
    while True:
        n += 1
        open(f'{where}/{{n}}.bin', 'wb').write(bytes(1 << 20))
except OSError as error:
    print(error.errno, n)
"""
    outcome, place, _ = run(FILM + code, seconds=30)
    assert outcome.ended == "self"
    errno, count = map(int, stdout(place).split())
    assert errno == 28  # ENOSPC
    assert count <= 512 // 8 + 1


def test_one_process_allocates_without_end(run: RunInContainer) -> None:
    code = "data = []\nwhile True: data.append(bytearray(os.urandom(1 << 20) * 8))"
    outcome, place, deadline = run(FILM + VIDEO + code, seconds=30)
    ended_in_time(outcome, deadline)
    assert outcome.ended == "error"
    assert outcome.limit == "memory" or "MemoryError" in (place.logs / "stderr.txt").read_text()
    assert delivered(place) == ("present", "video.mp4")


def test_a_crowd_allocates_without_end(run: RunInContainer) -> None:
    code = """
for _ in range(8):
    if os.fork() == 0:
        data = []
        while True: data.append(bytearray(os.urandom(1 << 20) * 8))
while True: time.sleep(1)
"""
    outcome, place, deadline = run(FILM + VIDEO + code, seconds=12)
    ended_in_time(outcome, deadline)
    # The supervisor measures it, unless the kernel is quicker; then the agent lives on without the killed processes.
    assert outcome.post_mortem is not None
    assert (outcome.ended, outcome.limit) == ("error", "memory") or (
        outcome.ended == "timed_out" and outcome.post_mortem.oom_kills > 0
    )
    assert delivered(place) == ("present", "video.mp4")


def test_fork_bomb_is_bounded_by_the_kernel(run: RunInContainer) -> None:
    code = "while True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"
    outcome, place, deadline = run(FILM + VIDEO + code, seconds=SECONDS)
    ended_in_time(outcome, deadline)
    assert outcome.ended in ("timed_out", "error")
    assert delivered(place) == ("present", "video.mp4")


def test_prints_a_gigabyte(run: RunInContainer) -> None:
    code = "line = b'x' * 65535 + b'\\n'\nfor _ in range(1 << 14): os.write(1, line)\nos.write(1, b'the result\\n')\n"
    outcome, place, deadline = run(FILM + VIDEO + code + "while True: time.sleep(1)", seconds=12)
    ended_in_time(outcome, deadline)
    assert outcome.ended == "timed_out"
    assert outcome.stdout_bytes == (1 << 30) + len("the result\n")
    log = (place.logs / "stdout.txt").read_bytes()
    assert len(log) <= LOG_BYTES + 100
    assert log.endswith(b"x\nthe result\n")
    assert delivered(place) == ("present", "video.mp4")


IN_PLACE = """
film("tmp/a.mp4")
print(hashlib.sha256(open("tmp/a.mp4", "rb").read()).hexdigest(), flush=True)
os.rename("tmp/a.mp4", "delivery/video.mp4")
time.sleep(2.5)
slowly = ["-vf", "realtime", "-flush_packets", "1"]
subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=60",
                "-pix_fmt", "yuv420p", *slowly, "delivery/video.mp4"])
"""


def test_finished_video_re_encoded_in_place(run: RunInContainer) -> None:
    """The finished file is opened for writing once more, and the deadline falls into that: the first is delivered."""
    outcome, place, deadline = run(FILM + "import hashlib\n" + IN_PLACE, seconds=SECONDS + 2)
    ended_in_time(outcome, deadline)
    assert outcome.ended == "timed_out"
    assert delivered(place) == ("present", "video.mp4")
    assert hashlib.sha256((place.delivery / "video.mp4").read_bytes()).hexdigest() == stdout(place).strip()
    assert outcome.kept is not None
    assert outcome.kept.name == "video.mp4"
    assert outcome.kept.cut_bytes is not None
    assert outcome.kept.saved_at < deadline


def test_a_video_that_is_never_finished_is_no_video(run: RunInContainer) -> None:
    code = IN_PLACE.replace('os.rename("tmp/a.mp4", "delivery/video.mp4")', "")
    outcome, place, deadline = run(FILM + "import hashlib\n" + code, seconds=SECONDS)
    ended_in_time(outcome, deadline)
    assert (outcome.ended, outcome.kept) == ("timed_out", None)
    assert delivered(place)[0] == "truncated"


def test_what_an_agent_leaves_when_it_ends_is_what_it_delivers(run: RunInContainer) -> None:
    code = VIDEO + "time.sleep(2)\nopen('delivery/video.mp4', 'wb').write(b'no video')"
    outcome, place, _ = run(FILM + code, seconds=30)
    assert (outcome.ended, outcome.kept) == ("self", None)
    assert delivered(place)[0] == "unreadable"
