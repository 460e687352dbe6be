"""What an agent in a container can read, change and reach: asserted from inside."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docker.conftest import RunInContainer, make_place, policy_of, stdout
from tests.docker.engine import Engine
from vvb_resources.sandbox.base import SandboxRequest
from vvb_resources.sandbox.docker.sandbox import DockerSandbox

pytestmark = pytest.mark.xdist_group("docker")

# Reads every file of the container that it may, and says which hold the word. Sparse kernel files are left out.
SEARCH = """
import os, sys
word, found = sys.argv[1].encode() if len(sys.argv) > 1 else WORD, []
for base, folders, names in os.walk("/"):
    if base in ("/proc", "/sys"):
        folders[:] = []
        continue
    for name in names:
        path = os.path.join(base, name)
        try:
            if os.path.isfile(path) and os.path.getsize(path) < 1 << 20 and word in open(path, "rb").read():
                found.append(path)
        except OSError:
            pass
for process in filter(str.isdigit, os.listdir("/proc")):
    for part in ("environ", "cmdline"):
        try:
            if word in open(f"/proc/{process}/{part}", "rb").read() and int(process) != os.getpid():
                found.append(f"/proc/{process}/{part}")
        except OSError:
            pass
print(found)
"""

TRY = """
import json, socket, sys
def reach(host, port):
    try:
        socket.create_connection((host, port), 3).close()
        return "reached"
    except OSError as error:
        return type(error).__name__
"""


def test_no_key_no_rubric_and_no_other_run_can_be_read(
    run: RunInContainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = "canary-7f3b91c2"
    monkeypatch.setenv("ANTHROPIC_API_KEY", word)
    other = make_place(tmp_path / "sandbox" / "other--BALL--0002")
    for place in (other.work / "prompt.txt", other.root / "rollout.json", tmp_path / "rubric.yaml"):
        place.write_text(word)
    _, place, _ = run(f"WORD = bytes.fromhex({word.encode().hex()!r})\n{SEARCH}")
    assert stdout(place) == "[]\n"


def test_two_runs_at_once_do_not_see_each_other(docker: Engine, tmp_path: Path) -> None:
    """Same folders inside, different volumes: each finds its own mark and no process of the other."""
    policy = policy_of()
    found: dict[str, str] = {}

    def one(name: str) -> None:
        sandbox = DockerSandbox(policy)
        place = make_place(tmp_path / "sandbox" / f"{name}--BALL--0001")
        code = (
            f"import os, time\nopen('tmp/{name}', 'w').close(); time.sleep(2)\n"
            "print(sorted(os.listdir('tmp')), sum(p.isdigit() for p in os.listdir('/proc')))"
        )
        env = sandbox.view(place).environment
        sandbox.run(SandboxRequest(place, ("python3", "-c", code), env, policy, time.time() + 30))
        found[name] = stdout(place)

    threads = [threading.Thread(target=one, args=(name,)) for name in ("red", "blue")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The container's first process, the supervisor, and the agent.
    assert found == {"red": "['red'] 3\n", "blue": "['blue'] 3\n"}


def test_inputs_agent_files_and_system_cannot_be_changed(run: RunInContainer) -> None:
    code = """
import os
def attempt(act):
    try:
        act()
        return "done"
    except OSError:
        return "refused"
acts = [lambda: open("inputs/note.txt", "w"), lambda: open("inputs/new", "w"), lambda: os.remove("inputs/note.txt"),
        lambda: os.rename("inputs", "moved"), lambda: open("/agent/new", "w"), lambda: open("/etc/new", "w"),
        lambda: open("/usr/bin/new", "w"), lambda: open("/run/vvb/outcome.json", "w"), lambda: os.listdir("/run/vvb")]
print([attempt(act) for act in acts], open("inputs/note.txt").read())
"""
    _, place, _ = run(code)
    assert stdout(place) == f"{['refused'] * 9} given\n"


def test_no_privileges_and_no_socket_of_the_engine(run: RunInContainer) -> None:
    code = """
import os, signal
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
sockets = [os.path.join(b, n) for b, _, names in os.walk("/", followlinks=False) for n in names if n == "docker.sock"]
def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return "killed"
    except PermissionError:
        return "refused"
def become_root():
    try:
        os.setuid(0)
        return "root"
    except PermissionError:
        return "refused"
print(os.getuid(), os.getgid(), os.getgroups(), status["CapEff"].strip(), status["NoNewPrivs"].strip(),
      status["Seccomp"].strip(), sockets, end(1), end(os.getppid()), become_root(), sorted(os.listdir("/dev/disk"))
      if os.path.exists("/dev/disk") else [])
"""
    _, place, _ = run(code)
    assert stdout(place) == "1000 1000 [] 0000000000000000 1 2 [] refused refused refused []\n"


@pytest.fixture
def neighbour() -> Iterator[int]:
    """A port of this machine that listens on every address."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        yield int(server.getsockname()[1])


def host_addresses() -> list[str]:
    """Addresses under which this machine may be known."""
    found = {"127.0.0.1"}
    with contextlib.suppress(OSError):  # its own name need not resolve
        found |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), 80, socket.AF_INET)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards, contextlib.suppress(OSError):
        towards.connect(("198.51.100.1", 9))  # nothing is sent: the kernel names the address it would send from
        found.add(towards.getsockname()[0])
    return sorted(found)


def test_without_a_network_nothing_is_reached(run: RunInContainer, neighbour: int) -> None:
    places = [(address, neighbour) for address in [*host_addresses(), "172.17.0.1", "1.1.1.1"]]
    code = f"{TRY}print(all(reach(*p) != 'reached' for p in {places!r}), [n for _, n in socket.if_nameindex()])"
    outcome, place, _ = run(code)
    assert stdout(place) == "True ['lo']\n"
    assert outcome.isolation.network == "closed"


def test_an_open_network_is_the_runs_own_and_goes_with_it(run: RunInContainer, docker: Engine) -> None:
    code = "import socket; print(sorted(n for _, n in socket.if_nameindex()))"
    outcome, place, _ = run(code, network="open")
    assert stdout(place) == "['eth0', 'lo']\n"
    assert outcome.isolation.network == "open"


class Answering(http.server.BaseHTTPRequestHandler):
    """Says which path was asked for."""

    def do_GET(self) -> None:
        body = f"{self.headers['Host']} {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def test_the_gateway_is_reached_and_nothing_else(docker: Engine, tmp_path: Path, neighbour: int) -> None:
    policy = policy_of(network="gateway")
    sandbox = DockerSandbox(policy)
    place = make_place(tmp_path / "sandbox" / "sketch--BALL--0001")
    with sandbox.gateway(place, policy) as point:
        assert point.socket is not None
        server = UnixServer(str(point.socket))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        places = [(address, neighbour) for address in [*host_addresses(), "1.1.1.1"]]
        code = f"""{TRY}
import urllib.request
print(urllib.request.urlopen({point.url!r} + "/anthropic/v1/messages").read().decode())
print(all(reach(*p) != "reached" for p in {places!r}), [n for _, n in socket.if_nameindex()])
"""
        env = sandbox.view(place).environment
        request = SandboxRequest(place, ("python3", "-c", code), env, policy, time.time() + 30, gateway=point)
        try:
            sandbox.run(request)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
    assert stdout(place) == "127.0.0.1:8642 /anthropic/v1/messages\nTrue ['lo']\n"
    assert not point.socket.parent.exists()


class UnixServer(http.server.ThreadingHTTPServer):
    """The same HTTP server on a Unix socket that the container's first process may open."""

    address_family = socket.AF_UNIX

    def __init__(self, path: str) -> None:
        super().__init__(path, Answering)  # type: ignore[arg-type]
        Path(path).chmod(0o666)

    def server_bind(self) -> None:
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "gateway", 0

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, _ = self.socket.accept()
        return connection, ("gateway", 0)


def test_mirrors_are_reached_through_the_list_alone(docker: Engine, tmp_path: Path) -> None:
    mirror = http.server.ThreadingHTTPServer(("127.0.0.1", 80), Answering)
    thread = threading.Thread(target=mirror.serve_forever)
    thread.start()
    policy = policy_of(network="gateway_and_mirrors", mirrors=("localhost",))
    sandbox = DockerSandbox(policy)
    place = make_place(tmp_path / "sandbox" / "sketch--BALL--0001")
    code = """
import urllib.error, urllib.request
for url in ("http://localhost/simple/", "http://127.0.0.1/", "http://example.org/"):
    try:
        print(urllib.request.urlopen(urllib.request.Request(url), timeout=9).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
    except urllib.error.URLError:
        print("unreached")
"""
    try:
        env = {**sandbox.view(place).environment, "no_proxy": "", "NO_PROXY": ""}
        code = "import os\nos.environ['no_proxy'] = os.environ['NO_PROXY'] = ''\n" + code
        sandbox.run(SandboxRequest(place, ("python3", "-c", code), env, policy, time.time() + 40))
    finally:
        mirror.shutdown()
        mirror.server_close()
        thread.join()
    assert stdout(place) == "localhost /simple/\n403\n403\n"
    log = [json.loads(line) for line in (place.logs / "mirrors.jsonl").read_text().splitlines()]
    assert [(line["host"], line["what"]) for line in log] == [
        ("localhost", "carried"),
        ("127.0.0.1", "refused"),
        ("example.org", "refused"),
    ]


def test_environment_is_the_images_and_the_runs(run: RunInContainer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    _, place, _ = run("import json, os; print(json.dumps(dict(os.environ)))")
    seen = json.loads(stdout(place))
    assert "SOME_API_KEY" not in seen
    assert (seen["HOME"], seen["TMPDIR"], seen["LANG"]) == ("/work/home", "/work/tmp", "C.UTF-8")
    assert seen["PATH"].endswith("/opt/python/bin:/usr/local/bin:/usr/bin:/bin")
