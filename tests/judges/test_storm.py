"""Judgments, 64 at once, through a storm of faults, undisturbed and killed three times: none lost, none paid twice."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.judges import storm
from tests.standin.server import StandIn
from vvb_resources.judges.ledger import CallLabels, Ledger
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.media.blinding import BlindedMedia

COUNT = 500
UNDISTURBED = 200  # enough for every kind of fault; the count of paid calls is exact at any size
REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn(polls=0) as server:
        server.plan = storm.plan
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def usable_replies(root: Path) -> list[int]:
    """Usable replies in each key's folder."""
    store = ReplyStore(root / "replies")
    keys = [folder.name for folder in (root / "replies").glob("*/*")]
    return [sum(raw.usable for raw in store.all_of(key)) for key in keys]


def test_a_storm(service: StandIn, clip: BlindedMedia, tmp_path: Path) -> None:
    began = time.monotonic()
    assert len(storm.storm(tmp_path, clip, UNDISTURBED)) == UNDISTURBED
    assert time.monotonic() - began < 60
    kinds = Counter(call.fault for call in service.calls("gemini.generate") + service.calls("gemini.chunk"))
    assert {"status", "drop", "drop_mid", "truncate", "slow", "stuck"} <= set(kinds)
    assert len(service.paid()) == storm.undisturbed(UNDISTURBED)
    assert set(usable_replies(tmp_path)) == {1}
    assert service.files == {}
    spent = Ledger(tmp_path / "ledger.sqlite").spent("run", CallLabels("benchmark", "run", "", "", ""))
    billed = sum(c.usage["input"] * 2 + c.usage["output"] * 10 for c in service.paid()) / 1e6
    assert spent.total >= billed  # what was lost on the way stays set aside


def in_flight(root: Path, pid: int) -> int:
    """Calls that a killed process had under way: money set aside and not settled."""
    with sqlite3.connect(root / "ledger.sqlite") as db:
        (count,) = db.execute("SELECT COUNT(*) FROM calls WHERE state = 'open' AND pid = ?", (pid,)).fetchone()
    return int(count)


def test_a_storm_killed_three_times(
    service: StandIn, clip: BlindedMedia, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    command = [sys.executable, "-m", "tests.judges.storm", str(tmp_path), str(clip.folder), str(COUNT)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    chance = random.Random(11)
    under_way = []
    for low, high in ((30, 150), (180, 300), (330, 450)):
        moment = chance.randint(low, high)
        child = subprocess.Popen(command, env=environment, cwd=REPOSITORY)
        while len(service.paid()) < moment:
            assert child.poll() is None
            time.sleep(0.02)
        child.kill()
        assert child.wait() == -9
        under_way.append(in_flight(tmp_path, child.pid))
    assert subprocess.run(command, env=environment, cwd=REPOSITORY, check=False, timeout=120).returncode == 0
    assert len(json.loads((tmp_path / "done.json").read_text())) == COUNT
    kinds = {call.fault for call in service.log}
    assert {"status", "drop", "drop_mid", "truncate", "slow", "stuck"} <= kinds
    counts = usable_replies(tmp_path)
    assert set(counts) <= {0, 1}  # a stored reply was never asked for again
    extra = len(service.paid()) - storm.undisturbed(COUNT)
    record_property("calls in flight at the three kills", under_way)
    record_property("paid calls beyond the undisturbed count", extra)
    print(f"in flight at the kills: {under_way}; paid beyond the undisturbed {storm.undisturbed(COUNT)}: {extra}")
    assert all(0 < count <= storm.AT_ONCE for count in under_way)
    assert extra <= sum(under_way)
    whole = Counter(c.marker for c in service.paid() if c.whole and c.fault != "truncate")
    assert len(whole) == COUNT
    assert sum(whole.values()) - COUNT <= sum(under_way)
