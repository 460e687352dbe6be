"""The parts of the Docker sandbox that need no Docker: archives, the mirror proxy's decisions, sizes, names."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.sandbox.base import PostMortem, WallsError
from vvb_resources.sandbox.docker.copying import unpack
from vvb_resources.sandbox.docker.ending import _how, _seconds
from vvb_resources.sandbox.docker.engine import resources
from vvb_resources.sandbox.docker.naming import Names
from vvb_resources.sandbox.docker.proxy import MirrorProxy, read_target


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, content: bytes = b"", link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname, info.mode = kind, len(content), link, 0o755
    return info, content


def archive(*entries: tuple[tarfile.TarInfo, bytes]) -> Iterator[bytes]:
    """A tar stream in odd pieces, as an engine may send it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        for info, content in entries:
            out.addfile(info, io.BytesIO(content))
    data = buffer.getvalue()
    yield from (data[i : i + 777] for i in range(0, len(data), 777))


ROOT = entry("delivery", tarfile.DIRTYPE)
LINK = entry("delivery/l", tarfile.SYMTYPE, link="/etc")


def test_an_archive_becomes_files(tmp_path: Path) -> None:
    stream = archive(
        ROOT,
        entry("delivery/a", tarfile.DIRTYPE),
        entry("delivery/a/x.txt", content=b"x" * 3000),
        entry("delivery/a/same.txt", tarfile.LNKTYPE, link="delivery/a/x.txt"),
        entry("delivery/link", tarfile.SYMTYPE, link="/etc/passwd"),
        entry("delivery/pipe", tarfile.FIFOTYPE),
        entry("delivery/disk", tarfile.BLKTYPE),
    )
    unpack(stream, tmp_path / "out", max_bytes=4000, max_entries=9)
    assert (tmp_path / "out/a/x.txt").read_bytes() == (tmp_path / "out/a/same.txt").read_bytes() == b"x" * 3000
    assert (tmp_path / "out/link").is_symlink()
    assert (tmp_path / "out/pipe").is_fifo()
    assert not (tmp_path / "out/disk").exists()


@pytest.mark.parametrize(
    "entries",
    [
        (ROOT, entry("delivery/../../evil", content=b"x")),
        (ROOT, entry("delivery/a/b", content=b"x")),  # its folder was never named
        (ROOT, LINK, entry("delivery/l/evil", content=b"x")),
        (ROOT, LINK, entry("delivery/h", tarfile.LNKTYPE, link="delivery/l/passwd")),
        (ROOT, entry("delivery/h", tarfile.LNKTYPE, link="delivery/../../secret")),
        (ROOT, entry("delivery/big", content=b"x" * 101)),
        (ROOT, *(entry(f"delivery/{n}") for n in range(9))),
    ],
)  # fmt: skip
def test_an_archive_that_leads_outside_or_is_too_large_is_refused(
    tmp_path: Path, entries: tuple[tuple[tarfile.TarInfo, bytes], ...]
) -> None:
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(WallsError):
        unpack(archive(*entries), tmp_path / "out" / "in", max_bytes=100, max_entries=5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "secret"]


def test_a_stream_without_end_is_dropped(tmp_path: Path) -> None:
    def endless() -> Iterator[bytes]:
        info = tarfile.TarInfo("delivery")
        info.size = 1 << 50
        yield info.tobuf()
        while True:
            yield bytes(1 << 16)

    with pytest.raises(WallsError, match="longer than"):
        unpack(endless(), tmp_path / "out", max_bytes=1 << 20, max_entries=5)


@pytest.mark.parametrize(
    ("head", "target"),
    [
        (b"CONNECT packages.example:443 HTTP/1.1\r\nHost: x.example\r\n\r\n", ("packages.example", 443, None)),
        (
            b"GET http://deb.example/debian/x?y=1 HTTP/1.1\r\nHost: evil.example\r\nAccept: */*\r\n"
            b"Proxy-Authorization: Basic x\r\nConnection: keep-alive\r\n\r\n",
            (
                "deb.example",
                80,
                b"GET /debian/x?y=1 HTTP/1.1\r\nHost: deb.example\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            ),
        ),
        (b"GET /relative HTTP/1.1\r\n\r\n", None),
        (b"GET ftp://packages.example/ HTTP/1.1\r\n\r\n", None),
        (b"CONNECT packages.example HTTP/1.1\r\n\r\n", None),
        (b"CONNECT packages.example:99999 HTTP/1.1\r\n\r\n", None),
        (b"nonsense\r\n\r\n", None),
    ],
)
def test_a_proxy_request_says_where_it_goes(head: bytes, target: tuple[str, int, bytes | None] | None) -> None:
    assert read_target(head) == target


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("packages.example", 443, True),
        ("Packages.example.", 443, True),
        ("evil-packages.example", 443, False),
        ("packages.example.evil.example", 443, False),
        ("packages.example", 22, False),
        ("a.mirror.example", 80, True),
        ("mirror.example", 80, False),
        ("127.0.0.1", 80, False),
    ],
)
def test_mirrors_are_allowed_by_name(tmp_path: Path, host: str, port: int, allowed: bool) -> None:
    proxy = MirrorProxy(("packages.example", ".mirror.example"), tmp_path / "log")
    assert proxy.allows(host, port) is allowed


def test_a_container_is_as_large_as_the_papers_unless_told_otherwise() -> None:
    policy = SandboxPolicy.model_validate({"kind": "docker"})
    assert (policy.cpus, policy.memory_mb) == (8, 32 * 1024)
    assert SandboxPolicy.model_validate({"kind": "docker", "cpus": 2}).cpus == 2
    local = SandboxPolicy()
    assert (local.cpus, local.memory_mb) == (None, 4096)


@pytest.mark.parametrize(
    ("cpus", "memory_gib", "given"),
    [
        (16, 64, (8, 32_768, True)),
        (8, 40, (8, 32_768, True)),
        (4, 64, (4, 32_768, False)),
        (8, 32, (8, 29_491, False)),  # nine tenths of 32 GiB
    ],
)
def test_a_smaller_machine_is_not_comparable(cpus: int, memory_gib: int, given: tuple[int, int, bool]) -> None:
    policy = SandboxPolicy.model_validate({"kind": "docker"})
    found = resources(policy, {"NCPU": cpus, "MemTotal": memory_gib << 30})
    assert (found.cpus, found.memory_mb, found.comparable) == given


def test_names_of_two_data_homes_differ() -> None:
    first, second = Names.of(Path("/a/sandbox/x--T--1")), Names.of(Path("/b/sandbox/x--T--1"))
    assert first.run == second.run == "x--T--1"
    assert first.container != second.container
    assert first.labels == {"org.vibevideobench.owner": "/a/sandbox", "org.vibevideobench.run": "x--T--1"}


def seen(*, oom: int = 0, oom_killed: bool = False, outside: bool = False) -> PostMortem:
    return PostMortem(
        image="sha256:0",
        exit_code=0,
        oom_killed=oom_killed,
        oom_kills=oom,
        killed_from_outside=outside,
        started_at=None,
        finished_at=None,
        last_output="",
    )


@pytest.mark.parametrize(
    ("report", "post_mortem", "how"),
    [
        ({"ended": "exited", "code": 0}, seen(), ("self", 0, None, None)),
        ({"ended": "exited", "code": 7}, seen(), ("error", 7, None, None)),
        ({"ended": "exited", "code": -11}, seen(), ("error", None, 11, None)),
        ({"ended": "exited", "code": -9}, seen(), ("error", None, 9, None)),
        ({"ended": "exited", "code": -9}, seen(oom=1), ("error", None, 9, "memory")),
        ({"ended": "exited", "code": 0}, seen(oom=1), ("self", 0, None, None)),  # a helper of the agent's was ended
        ({"ended": "deadline", "code": -9}, seen(), ("timed_out", None, None, None)),
        ({"ended": "limit", "code": -9, "limit": "disk"}, seen(), ("error", None, None, "disk")),
        (None, seen(outside=True), ("timed_out", None, None, None)),
        (None, seen(oom_killed=True), ("error", None, None, "memory")),
    ],
)
def test_each_end_has_its_evidence(report: dict[str, object] | None, post_mortem: PostMortem, how: object) -> None:
    assert _how(report, post_mortem) == how


def test_the_engines_time_stamps() -> None:
    assert _seconds("2027-01-15T08:00:00.75Z") == 1_800_000_000.75
    assert _seconds("0001-01-01T00:00:00Z") is None


def test_a_policy_with_mirrors_names_them() -> None:
    with pytest.raises(ValueError, match="needs mirrors"):
        SandboxPolicy(network="gateway_and_mirrors")
    assert SandboxPolicy(network="gateway_and_mirrors", mirrors=("packages.example",)).mirrors == ("packages.example",)
