"""Collecting what an agent left: regular files only, bounded, digested, read-only."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from vvb_resources.sandbox.collect import CollectedFile, LeftOut, collect
from vvb_resources.store.trees import remove_tree

# SHA-256 of "abc", FIPS 180-4 example.
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    return source, target


def test_files_are_copied_with_digest_and_made_read_only(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "project" / "src").mkdir(parents=True)
    (source / "project" / "src" / "a.py").write_text("abc")
    taken = collect(source, target, max_bytes=100)
    assert taken.files == (CollectedFile("project/src/a.py", 3, ABC),)
    assert taken.left_out == ()
    assert (target / "project/src/a.py").read_text() == "abc"
    modes = {stat.S_IMODE(path.lstat().st_mode) & 0o222 for path in (target, *target.rglob("*"))}
    assert modes == {0}


def test_links_and_special_files_are_recorded_never_followed(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = folders
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "rubric").write_text("secret")
    (source / "to_file").symlink_to(tmp_path / "secret" / "rubric")
    (source / "to_folder").symlink_to(tmp_path / "secret")
    os.mkfifo(source / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(source / "socket"))
        taken = collect(source, target, max_bytes=100)
    assert taken.files == ()
    assert taken.left_out == (
        LeftOut("fifo", "FIFO"),
        LeftOut("socket", "socket"),
        LeftOut("to_file", "symbolic link"),
        LeftOut("to_folder", "symbolic link"),
    )
    assert list(target.iterdir()) == []


def test_delivery_that_is_itself_a_link(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = folders
    (source / "file").write_text("x")
    (tmp_path / "link").symlink_to(source)
    assert collect(tmp_path / "link", target, max_bytes=9).left_out == (LeftOut(".", "symbolic link"),)
    assert collect(tmp_path / "none", target, max_bytes=9).left_out == (
        LeftOut(".", "cannot be read (No such file or directory)"),
    )


def test_bounds_spare_the_top(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "a").mkdir()
    (source / "a" / "cache").write_bytes(bytes(60))
    (source / "video.mp4").write_bytes(bytes(50))
    taken = collect(source, target, max_bytes=100)
    assert [file.path for file in taken.files] == ["video.mp4"]
    assert taken.left_out == (LeftOut("a/cache", "60 bytes, 50 were left of the bound on a delivery"),)


def test_number_of_files_is_bounded(folders: tuple[Path, Path]) -> None:
    source, target = folders
    for name in "abcd":
        (source / name).write_text(name)
    taken = collect(source, target, max_bytes=100, max_files=2)
    assert [file.path for file in taken.files] == ["a", "b"]
    assert taken.left_out == (LeftOut("c", "more than 2 files"),)


def test_odd_names_and_depth(folders: tuple[Path, Path]) -> None:
    source, target = folders
    with open(os.path.join(os.fsencode(source), b"caf\xe9"), "w"):
        pass
    (source / "/".join("d" * 40)).mkdir(parents=True)
    taken = collect(source, target, max_bytes=100)
    assert taken.left_out == (
        LeftOut("caf\\xe9", "its name is not UTF-8"),
        LeftOut("/".join("d" * 32), "more than 32 folders deep"),
    )


def test_locked_folder_is_opened_only_on_demand_and_removed(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "locked").mkdir()
    (source / "locked" / "file").write_text("abc")
    (source / "locked" / "file").chmod(0)
    (source / "locked").chmod(0)
    taken = collect(source, target, max_bytes=100, unlock=True)
    assert taken.files == (CollectedFile("locked/file", 3, ABC),)
    (source / "locked").chmod(0)
    remove_tree(source)
    remove_tree(target)
    assert not source.exists()
    assert not target.exists()


def test_source_is_not_changed(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "file").write_text("abc")
    (source / "file").chmod(0o640)
    before = (source / "file").stat()
    collect(source, target, max_bytes=100)
    after = (source / "file").stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ino) == (before.st_mode, before.st_mtime_ns, before.st_ino)
