"""Helpers of a run: they live as long as they are needed, whoever started them, and say when they ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import SandboxPlace
from vvb_resources.sandbox.docker.proxy import serve_mirrors
from vvb_resources.sandbox.helpers import end_helpers, end_unowned, link_folder, served_until
from vvb_resources.sandbox.reaper import alive
from vvb_resources.store.home import CHECKOUT

PLATFORM = """
import sys, time
from pathlib import Path
from vvb_resources.sandbox.base import SandboxPlace
from vvb_resources.sandbox.docker.proxy import serve_mirrors
root = Path(sys.argv[1])
folder = Path(sys.argv[2])
folder.mkdir()
with serve_mirrors(folder / "m", ("pkg.example",), root / "log", SandboxPlace(root), time.time() + float(sys.argv[3])):
    print("serving", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def place(tmp_path: Path) -> SandboxPlace:
    root = tmp_path / "runs" / "a--B--1"
    root.mkdir(parents=True)
    return SandboxPlace(root)


def state_of(place: SandboxPlace) -> dict[str, object]:
    content: dict[str, object] = json.loads((place.root / "helper-mirrors.json").read_text())
    return content


def killed_platform(place: SandboxPlace, folder: Path, seconds: float = 60) -> None:
    """A platform that started a helper and was killed without mercy."""
    command = [sys.executable, "-c", PLATFORM, str(place.root), str(folder), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=CHECKOUT)
    assert process.stdout is not None
    assert process.stdout.readline() == b"serving\n"
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_helper_ends_with_its_context(place: SandboxPlace, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    with serve_mirrors(folder / "m", (), tmp_path / "log", place, time.time() + 60):
        assert (folder / "m").is_socket()
        assert served_until(place, None)
        assert "ended_at" not in state_of(place)
    ended = state_of(place)["ended_at"]
    assert isinstance(ended, float)
    assert served_until(place, ended)
    assert not served_until(place, ended + 60)
    assert not served_until(place, None)
    assert not folder.exists()


def test_a_helper_outlives_a_killed_platform_until_it_is_ended(place: SandboxPlace, tmp_path: Path) -> None:
    killed_platform(place, tmp_path / "links")
    assert (tmp_path / "links" / "m").is_socket()
    assert served_until(place, None)
    end_helpers(place)
    assert not alive(state_of(place)["helper"])  # type: ignore[arg-type]
    assert served_until(place, time.time() - 1)
    assert not (tmp_path / "links").exists()


def test_a_helper_that_was_killed_did_not_serve_to_the_end(place: SandboxPlace, tmp_path: Path) -> None:
    killed_platform(place, tmp_path / "links")
    helper = state_of(place)["helper"]
    assert isinstance(helper, dict)
    os.kill(helper["pid"], signal.SIGKILL)
    until = time.monotonic() + 10
    while alive(helper) and time.monotonic() < until:
        time.sleep(0.02)
    assert not served_until(place, time.time() - 60)


def test_helpers_of_runs_that_nobody_owns_are_ended(place: SandboxPlace, tmp_path: Path) -> None:
    killed_platform(place, tmp_path / "links")
    assert end_unowned(place.root.parent, {"a--B--1"}) == []
    assert end_unowned(place.root.parent, set()) == ["a--B--1"]
    assert end_unowned(place.root.parent, set()) == []
    assert not served_until(place, None)


def test_a_run_without_helpers_was_not_served(place: SandboxPlace) -> None:
    assert not served_until(place, 0.0)


def test_a_helper_that_cannot_serve_says_why(place: SandboxPlace, tmp_path: Path) -> None:
    with (
        pytest.raises(SandboxError, match=r"the run.s mirrors cannot serve .*No such file"),
        serve_mirrors(tmp_path / "none" / "m", (), tmp_path / "log", place, time.time() + 60),
    ):
        raise AssertionError("it cannot listen there")


def test_a_folder_of_sockets_goes_with_the_run(place: SandboxPlace) -> None:
    with link_folder(place) as folder:
        assert (place.root / "links").resolve() == folder
        assert folder.stat().st_mode & 0o777 == 0o711
    assert not folder.exists()
    assert not (place.root / "links").is_symlink()


def test_a_killed_platforms_folder_of_sockets_goes_too(place: SandboxPlace) -> None:
    code = "import os, sys; from pathlib import Path; from vvb_resources.sandbox.base import SandboxPlace\n"
    code += "from vvb_resources.sandbox.helpers import link_folder\n"
    code += "with link_folder(SandboxPlace(Path(sys.argv[1]))): os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(place.root)], cwd=CHECKOUT, check=False)
    folder = (place.root / "links").resolve()
    assert folder.is_dir()
    end_helpers(place)
    assert not folder.exists()


def test_a_link_that_leads_elsewhere_is_not_followed(place: SandboxPlace, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (place.root / "links").symlink_to(tmp_path / "precious")
    end_helpers(place)
    assert (tmp_path / "precious").is_dir()
