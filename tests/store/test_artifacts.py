"""Artifacts: what survives what."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from vvb_resources.errors import StoreError
from vvb_resources.store.artifacts import ArtifactStore, Manifest
from vvb_resources.store.atomic import write_bytes, write_json
from vvb_resources.store.home import Home


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(Home(tmp_path, "bench"))


def put(store: ArtifactStore, partition: str | None, text: str, version: str, keep_old: bool = False) -> Manifest:
    with store.staging("l1", partition) as out:
        (out / "data.txt").write_text(text)
        return store.commit(
            out,
            asset="l1",
            partition=partition,
            data_version=version,
            code_version="1",
            inputs={"rollout": "r1"},
            seconds=0.5,
            summary={"n": 1},
            checks={},
            keep_old=keep_old,
        )


def test_a_committed_artifact_is_read_back(store: ArtifactStore) -> None:
    made = put(store, "s|t", "hello", "v1")
    loaded = store.load("l1", "s|t")
    assert loaded == made
    assert (store.payload(made) / "data.txt").read_text() == "hello"
    assert loaded is not None
    assert loaded.inputs == {"rollout": "r1"}
    assert list(store.home.staging.iterdir()) == []


def test_replacing_drops_the_old_payload_unless_it_is_kept(store: ArtifactStore) -> None:
    first = put(store, "s|t", "one", "v1")
    second = put(store, "s|t", "two", "v2")
    assert not store.payload(first).exists()
    put(store, "s|t", "three", "v3", keep_old=True)
    assert (store.payload(second) / "data.txt").read_text() == "two"


def test_partitions_and_prefixes_do_not_collide(store: ArtifactStore) -> None:
    put(store, None, "table", "v1")
    put(store, "s|t", "run", "v2")
    assert store.load("l1", None).data_version == "v1"  # type: ignore[union-attr]
    assert store.load("l1", "s|t").data_version == "v2"  # type: ignore[union-attr]
    assert store.load("l1", "s|other") is None


def test_an_unreadable_manifest_is_one_clear_error(store: ArtifactStore) -> None:
    put(store, "s|t", "x", "v1")
    path = store.folder("l1", "s|t") / "artifact.json"
    path.write_text("{ half")
    with pytest.raises(StoreError) as caught:
        store.load("l1", "s|t")
    assert str(path) in str(caught.value)
    assert "remove this file" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_failing_fill_leaves_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    write_json(target, {"n": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(target, {"n": float("nan")})
    assert json.loads(target.read_text()) == {"n": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def _stage_and_hang(root: Path, asset: str) -> None:
    store = ArtifactStore(Home(root, "bench"))
    with store.staging(asset, "s|t") as out:
        write_bytes(out / "half.txt", b"half")
        (root / "ready").touch()
        time.sleep(60)


@pytest.mark.parametrize(("asset", "kept"), [("rollout", True), ("l1", False)])
def test_sweep_clears_what_a_killed_process_left(store: ArtifactStore, tmp_path: Path, asset: str, kept: bool) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_stage_and_hang, args=(tmp_path, asset))
    child.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.05)
    assert store.sweep(("rollout",)) == [], "a live process's folder is left alone"
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert len(store.sweep(("rollout",))) == 1
    assert list(store.home.staging.iterdir()) == []
    found = list(store.home.failed.rglob("half.txt"))
    assert [p.read_bytes() for p in found] == ([b"half"] if kept else [])


def _bump(root: Path) -> None:
    store = ArtifactStore(Home(root, "bench"))
    for _ in range(20):
        with store.locked("l1", "s|t"):
            number = int((root / "count").read_text())
            time.sleep(0.001)
            (root / "count").write_text(str(number + 1))


def test_the_lock_holds_between_processes(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_bump, args=(tmp_path,)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert (tmp_path / "count").read_text() == "60"
