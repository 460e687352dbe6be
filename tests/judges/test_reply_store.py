"""The reply store: durable, append-only, safe for two processes."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
from pathlib import Path

import pytest

from vvb_resources.errors import StoreError
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.types import Outcome, RawReply
from vvb_resources.store.digests import digest_value

KEY = digest_value("a request")
PARTS = {"video": "v1", "checks": "k1", "judge": {"model": "m"}}


def reply(body: bytes, outcome: Outcome = "ok", made_at: str = "2026-01-01T00:00:00+00:00") -> RawReply:
    return RawReply(KEY, "instrument", body, outcome, {"in": 3}, 0.25, made_at, 1.5)


def test_a_reply_comes_back_as_it_was(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    assert store.complete(KEY) is None
    raw = reply(b"\xff\x00 not text")
    assert store.put(KEY, PARTS, raw) == raw
    assert ReplyStore(tmp_path).complete(KEY) == raw
    assert store.parts(KEY) == PARTS
    assert (tmp_path / store.reference(KEY)).is_file()


def test_failures_are_kept_but_never_count(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    for outcome in ("blocked", "retry", "fatal", "empty", "schema"):
        store.put(KEY, PARTS, reply(outcome.encode(), outcome))
    assert store.complete(KEY) is None
    assert len(store.all_of(KEY)) == 5
    store.put(KEY, PARTS, reply(b"cut", "truncated"))
    found = store.complete(KEY)
    assert found is not None
    assert found.body == b"cut"


def test_the_first_usable_reply_counts_for_good(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    store.put(KEY, PARTS, reply(b"first"))
    late = store.put(KEY, PARTS, reply(b"second", made_at="2025-01-01T00:00:00+00:00"))
    assert late.body == b"first"
    assert {raw.body for raw in store.all_of(KEY)} == {b"first", b"second"}


def test_a_reply_written_but_not_linked_is_found(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    store.put(KEY, PARTS, reply(b"paid"))
    (tmp_path / store.reference(KEY)).unlink()  # as if the process had died between the two steps
    found = ReplyStore(tmp_path).complete(KEY)
    assert found is not None
    assert found.body == b"paid"


def _put_and_die(root: Path) -> None:
    ReplyStore(root).put(KEY, PARTS, reply(b"paid"))
    os.kill(os.getpid(), signal.SIGKILL)


def test_kill_between_put_and_read(tmp_path: Path) -> None:
    process = mp.get_context("fork").Process(target=_put_and_die, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    found = ReplyStore(tmp_path).complete(KEY)
    assert found is not None
    assert found.body == b"paid"


def _put_many(root: Path, name: str) -> None:
    store = ReplyStore(root)
    for index in range(20):
        store.put(KEY, PARTS, reply(f"{name}{index}".encode()))


def test_two_processes_at_once_agree_on_one_reply(tmp_path: Path) -> None:
    context = mp.get_context("fork")
    processes = [context.Process(target=_put_many, args=(tmp_path, name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    store = ReplyStore(tmp_path)
    assert len(store.all_of(KEY)) == 40
    found = store.complete(KEY)
    assert found is not None
    assert found.body in (b"a0", b"b0")


def test_a_miss_is_explained_by_the_nearest_key(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    assert store.explain_miss(PARTS) == ()
    store.put(KEY, PARTS, reply(b"x"))
    other = digest_value("another video")
    store.put(other, {**PARTS, "video": "v2"}, RawReply(other, "instrument", b"y", "ok"))
    assert store.explain_miss({**PARTS, "checks": "k2"}) == ("checks",)
    assert store.explain_miss({**PARTS, "video": "v3", "checks": "k2"}) == ("video", "checks")


def test_foreign_keys_and_broken_files_are_named(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    with pytest.raises(StoreError, match="no reply key"):
        store.complete("../../etc")
    store.put(KEY, PARTS, reply(b"x"))
    (tmp_path / store.reference(KEY)).write_text("{")
    with pytest.raises(StoreError, match="unreadable reply"):
        store.complete(KEY)
