"""The ledger of paid calls: what each may cost is set aside before it is made and settled after, across processes.

A limit that looks only at what is already paid is overrun by the calls in flight. Here the worst case of a call is set
aside first, in one transaction with the comparison against every limit. A call whose outcome stays unknown (connection
lost, process killed) keeps its worst case: it may have been billed.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vvb_resources.errors import PausedError, StoreError
from vvb_resources.store.processes import is_dead

LimitScope = Literal["run", "benchmark", "judge"]

_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, until REAL NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
  benchmark TEXT NOT NULL, run TEXT NOT NULL, panel TEXT NOT NULL, judge TEXT NOT NULL, model TEXT NOT NULL,
  reply_key TEXT NOT NULL, reserved REAL NOT NULL, usd REAL,
  state TEXT NOT NULL CHECK (state IN ('open', 'settled', 'unknown')))
"""
_INDEX = "CREATE INDEX IF NOT EXISTS calls_by_{0} ON calls ({0})"
_WHERE: dict[LimitScope, str] = {
    "run": "run = :run",
    "benchmark": "benchmark = :benchmark",
    "judge": "run = :run AND panel = :panel AND judge = :judge",
}
_WORDS: dict[LimitScope, str] = {
    "run": "the limit of this run",
    "benchmark": "the limit of the benchmark",
    "judge": "the judge's limit for a run",
}
POLL_S = 0.05


@dataclass(frozen=True)
class CallLabels:
    """Whose call it is: benchmark and run for the limits, panel, judge and model for the tables."""

    benchmark: str
    run: str
    panel: str
    judge: str
    model: str


@dataclass(frozen=True)
class Spent:
    """USD: `paid` is settled, `held` the worst case of calls in flight or with an unknown outcome."""

    paid: float
    held: float
    calls: int

    @property
    def total(self) -> float:
        """What limits are compared with."""
        return self.paid + self.held


class Ledger:
    """Paid calls in the SQLite file `path` (made when first needed); safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def reserve(
        self, labels: CallLabels, key: str, usd: float, limits: Mapping[LimitScope, float], *, seconds: float
    ) -> int:
        """Set `usd` aside for a call that lasts at most `seconds`; returns its entry.

        Waits while only the calls in flight stand in the way, since most of them will cost less than their worst case.
        Raises PausedError when the limit would be passed even if they were free.
        """
        while True:
            entry = self._try(labels, key, usd, limits, seconds)
            if entry is not None:
                return entry
            time.sleep(POLL_S)

    def _try(
        self, labels: CallLabels, key: str, usd: float, limits: Mapping[LimitScope, float], seconds: float
    ) -> int | None:
        now = time.time()
        values = {**vars(labels), "key": key, "usd": usd, "now": now, "until": now + seconds, **_me()}
        with self._lock, self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            for scope, limit in limits.items():
                spent, in_flight = self._sums(db, _WHERE[scope], values)
                if spent.total + usd <= limit:
                    continue
                db.execute("ROLLBACK")
                if spent.total - in_flight + usd <= limit and in_flight > 0:
                    return None
                raise PausedError(
                    f"{_WORDS[scope]} is ${limit:.2f}: ${spent.paid:.2f} paid, ${spent.held:.2f} held, "
                    f"the next call may cost ${usd:.2f}",
                    where=f"judge {labels.panel}/{labels.judge}",
                    remedy="raise the limit (--usd-run, --usd-benchmark, limits.usd) and run again: nothing is lost",
                )
            entry = db.execute(
                "INSERT INTO calls (at, until, host, pid, benchmark, run, panel, judge, model, reply_key, reserved,"
                " state) VALUES (:now, :until, :host, :pid, :benchmark, :run, :panel, :judge, :model, :key, :usd,"
                " 'open')",
                values,
            ).lastrowid
            db.execute("COMMIT")
        assert entry is not None
        return entry

    @staticmethod
    def _sums(db: sqlite3.Connection, where: str, values: Mapping[str, object]) -> tuple[Spent, float]:
        """What was spent within a scope, and how much of it is held by calls that are really in flight."""
        rows = db.execute(
            "SELECT state, host, pid, until > :now AS live, COUNT(*), SUM(reserved), SUM(COALESCE(usd, 0))"
            f" FROM calls WHERE {where} GROUP BY state, host, pid, live",
            values,
        ).fetchall()
        paid = held = in_flight = 0.0
        calls = 0
        for state, host, pid, live, count, reserved, usd in rows:
            calls += count
            if state == "settled":
                paid += usd
                continue
            held += reserved
            if state == "open" and live and not is_dead(host, pid):
                in_flight += reserved
        return Spent(paid, held, calls), in_flight

    def settle(self, entry: int, usd: float | None) -> None:
        """Enter what the call cost; None: unknown, so that its worst case stays set aside."""
        state = "unknown" if usd is None else "settled"
        with self._lock, self._open() as db:
            db.execute("UPDATE calls SET usd = ?, state = ? WHERE id = ?", (usd, state, entry))

    def reconcile(self, key: str, usd: float | None) -> None:
        """The reply of `key` is stored, so a call for it left open by a process that died cost `usd`."""
        if usd is None or not self.path.exists():
            return
        with self._lock, self._open() as db:
            rows = db.execute(
                "SELECT id, host, pid, until FROM calls WHERE reply_key = ? AND state = 'open' ORDER BY id DESC", (key,)
            ).fetchall()
            left = [row[0] for row in rows if is_dead(row[1], row[2]) or row[3] < time.time()]
            if left:
                db.execute("UPDATE calls SET usd = ?, state = 'settled' WHERE id = ?", (usd, left[0]))

    def spent(self, scope: LimitScope, labels: CallLabels) -> Spent:
        """What was spent within a scope so far."""
        if not self.path.exists():
            return Spent(0.0, 0.0, 0)
        with self._lock, self._open() as db:
            return self._sums(db, _WHERE[scope], {**vars(labels), "now": time.time()})[0]

    def _open(self) -> sqlite3.Connection:
        """The connection of this process; statements outside BEGIN commit by themselves, each durably."""
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                db.execute(_TABLE)
                for column in ("run", "benchmark", "reply_key"):
                    db.execute(_INDEX.format(column))
            except sqlite3.Error as error:
                raise StoreError(
                    f"the ledger of judge calls cannot be opened ({error})",
                    where=str(self.path),
                    remedy="restore the file from a copy, or move it away: limits then start from zero",
                ) from error
            self._connection = db
        return self._connection


def _me() -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": os.getpid()}
