"""What an agent can do to the local sandbox, and what is left afterwards."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from tests.sandbox.conftest import DAEMON, RunCode, beats, make_place, run_code
from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxRequest, WallsError
from vvb_resources.sandbox.bubblewrap import find_bubblewrap
from vvb_resources.sandbox.local import LOG_BYTES, LocalSandbox
from vvb_resources.sandbox.reaper import strays


def test_ends_by_itself(run: RunCode) -> None:
    outcome, place = run("print('hello'); import sys; print('oops', file=sys.stderr)")
    assert (outcome.ended, outcome.exit_code, outcome.signal, outcome.limit) == ("self", 0, None, None)
    assert (place.logs / "stdout.txt").read_text() == "hello\n"
    assert (place.logs / "stderr.txt").read_text() == "oops\n"
    assert (outcome.stdout_bytes, outcome.stderr_bytes) == (6, 5)
    assert not (place.root / "state.json").exists()


def test_exit_code_is_an_error_of_the_agent(run: RunCode) -> None:
    outcome, _ = run("raise SystemExit(3)")
    assert (outcome.ended, outcome.exit_code, outcome.signal) == ("error", 3, None)


def test_signal_is_told(run: RunCode) -> None:
    outcome, _ = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV) or __import__('time').sleep(9)")
    assert (outcome.ended, outcome.signal) == ("error", 11)


def test_deadline_kills_daemons_that_left_the_group_and_ignore_signals(run: RunCode) -> None:
    stubborn = "import signal\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n"
    outcome, place = run(stubborn + DAEMON + "time.sleep(60)", seconds=1.5)
    assert (outcome.ended, outcome.exit_code, outcome.signal) == ("timed_out", None, None)
    assert 1.0 <= outcome.seconds < 10  # the deadline counts from before the start
    assert outcome.killed >= 2
    assert strays(place.root) == []
    assert not beats(place.work)


def test_nothing_is_left_when_the_agent_ends_its_turn(run: RunCode) -> None:
    outcome, place = run(DAEMON)
    assert outcome.ended == "self"
    assert strays(place.root) == []
    assert not beats(place.work)


def test_endless_output_is_bounded(run: RunCode) -> None:
    code = "import sys\nsys.stdout.write('first line\\n')\nwhile True: sys.stdout.write('x' * 65535 + '\\n')"
    outcome, place = run(code, seconds=2)
    log = place.logs / "stdout.txt"
    assert outcome.ended == "timed_out"
    assert outcome.stdout_bytes > LOG_BYTES
    assert log.stat().st_size <= LOG_BYTES + 100
    text = log.read_bytes()
    assert text.startswith(b"first line\n")
    assert b" bytes left out ...]" in text


def test_last_lines_of_a_long_output_are_kept(run: RunCode) -> None:
    _, place = run("for _ in range(400): print('x' * 65535)\nprint('the result')")
    assert (place.logs / "stdout.txt").read_bytes().endswith(b"x\nthe result\n")


def test_huge_file_is_stopped(run: RunCode) -> None:
    code = "f = open('delivery/big', 'wb', buffering=0)\nfor _ in range(5): f.write(bytes(1 << 20))"
    outcome, place = run(code, file_mb=2)
    assert outcome.ended == "error"
    assert (place.delivery / "big").stat().st_size == 2 << 20


def test_many_files_that_fill_the_disk_are_stopped(run: RunCode) -> None:
    code = (
        "import os\nfor i in range(9): open(f'tmp/{i}', 'wb').write(os.urandom(1 << 20))\n__import__('time').sleep(60)"
    )
    outcome, _ = run(code, file_mb=1)
    assert (outcome.ended, outcome.limit) == ("error", "disk")


def test_memory_of_one_process_is_bounded(run: RunCode) -> None:
    code = "try: bytearray(1 << 30)\nexcept MemoryError: print('no memory')"
    _, place = run(code, memory_mb=256)
    assert (place.logs / "stdout.txt").read_text() == "no memory\n"


def test_memory_of_all_processes_is_bounded(run: RunCode) -> None:
    code = (
        "import os, time\nfor _ in range(4):\n if os.fork() == 0:\n"
        "  data = bytearray(os.urandom(1 << 20) * 80); time.sleep(60)\ntime.sleep(60)"
    )
    outcome, _ = run(code, memory_mb=200)
    assert (outcome.ended, outcome.limit) == ("error", "memory")


def test_crowd_of_processes_is_stopped(run: RunCode) -> None:
    code = "import os, time\nfor _ in range(300):\n if os.fork() == 0: time.sleep(60)\ntime.sleep(60)"
    outcome, place = run(code, processes=40)
    # The supervisor counts them; for an ordinary user the kernel refuses the fork before that, and the agent fails.
    assert outcome.ended == "error"
    assert strays(place.root) == []


def test_inputs_cannot_be_changed(run: RunCode) -> None:
    code = """
import os
note = 'inputs/note.txt'
for act in (lambda: open(note, 'w'), lambda: open('inputs/new', 'w'), lambda: os.remove(note)):
    try:
        act()
        print('done')
    except OSError:
        print('refused')
print(open('inputs/note.txt').read())
"""
    _, place = run(code)
    assert (place.logs / "stdout.txt").read_text().split() == ["refused", "refused", "refused", "given"]


def test_environment_is_scrubbed(run: RunCode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    _, place = run("import json, os; print(json.dumps(dict(os.environ)))")
    seen = json.loads((place.logs / "stdout.txt").read_text())
    seen.pop("PWD", None)  # bubblewrap's own, the current folder
    assert seen == {
        "PATH": f"{place.bin}:/usr/local/bin:/usr/bin:/bin",
        "HOME": f"{place.work}/home",
        "TMPDIR": f"{place.work}/tmp",
        "LANG": "C.UTF-8",
    }


def test_network_is_as_the_outcome_says(run: RunCode) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}), 2); print('open')\n"
        outcome, place = run(code + "except OSError: print('closed')")
    assert (place.logs / "stdout.txt").read_text().strip() == outcome.isolation.network


def test_file_system_is_as_the_outcome_says(run: RunCode, tmp_path: Path) -> None:
    secret = tmp_path / "rubric.yaml"
    secret.write_text("secret")
    code = f"try: print({{'secret': 'open'}}[open({str(secret)!r}).read()])\nexcept OSError: print('closed')"
    outcome, place = run(code)
    assert (place.logs / "stdout.txt").read_text().strip() == outcome.isolation.filesystem


def test_walls_of_this_machine() -> None:
    walls, reason = find_bubblewrap()
    isolation = LocalSandbox().isolation(SandboxPolicy(network="none"))
    if walls is None:
        assert (isolation.network, isolation.filesystem) == ("open", "open")
        assert isolation.statement.startswith(reason)
    else:
        assert (isolation.network, isolation.filesystem) == ("closed", "closed")
        assert isolation.statement.startswith(f"bubblewrap {walls.version}: no network, a closed file system")


def test_closed_walls_show_no_accounts_and_allow_no_writing_elsewhere(tmp_path: Path) -> None:
    sandbox = LocalSandbox()
    place = make_place(tmp_path / "run")
    code = """
import os
print(sorted(line.split(':')[0] for line in open('/etc/passwd')) == ['agent'])
for folder in ('/', '/usr', '/etc', '/dev'):
    try:
        open(os.path.join(folder, 'x'), 'w')
        os.remove(os.path.join(folder, 'x'))
        print('wrote')
    except OSError:
        print('refused')
"""
    command = (sandbox.view(place).python, "-c", code)
    outcome = sandbox.run(
        SandboxRequest(place, command, sandbox.view(place).environment, SandboxPolicy(), time.time() + 20)
    )
    lines = (place.logs / "stdout.txt").read_text().split()
    closed = ["True", "refused", "refused", "refused", "refused"]
    assert (lines == closed) == (outcome.isolation.filesystem == "closed")


def test_unknown_program_is_a_fault_of_the_configuration(sandbox: LocalSandbox, tmp_path: Path) -> None:
    place = make_place(tmp_path / "run")
    request = SandboxRequest(place, ("no-such-program",), {}, SandboxPolicy(), time.time() + 5)
    with pytest.raises(SandboxError, match=r"'no-such-program' is not to be found.*correct `command`"):
        sandbox.run(request)


def test_agent_that_kills_its_supervisor_loses_the_run_and_is_ended(tmp_path: Path) -> None:
    code = DAEMON + "os.kill(os.getppid(), 9)\ntime.sleep(60)"
    with pytest.raises(WallsError, match="the supervisor ended with -9"):
        run_code(LocalSandbox(None), tmp_path / "run", code, 20, SandboxPolicy())
    assert strays(tmp_path / "run") == []
    assert not beats(tmp_path / "run" / "work")


def test_key_of_the_agent_is_written_nowhere(sandbox: LocalSandbox, tmp_path: Path) -> None:
    place = make_place(tmp_path / "run")
    env = {**sandbox.view(place).environment, "SOME_API_KEY": "key-0815"}
    request = SandboxRequest(place, ("sh", "-c", "echo ${#SOME_API_KEY}"), env, SandboxPolicy(), time.time() + 20)
    sandbox.run(request)
    assert (place.logs / "stdout.txt").read_text() == "8\n"
    files = [path for path in place.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if b"key-0815" in path.read_bytes()] == []
