"""Where everything lies: the only place that builds a path below the data home.

$VVB_HOME (default: .vvb in the checkout)
  replies/                     raw judge replies, content-addressed, shared by all benchmarks
  observations/                what was derived from blinded videos (instruments' views, judges' proxies), by digest
  uploads/                     files left with judges' services, until they are deleted there
  batches/                     batches handed to judges' services, until their replies are stored
  judge_calls.sqlite           the ledger of paid judge calls, shared by all benchmarks and processes
  parsed/                      a benchmark's YAML files as parsed before (may be removed)
  <benchmark name>/
    dagster/                   DAGSTER_HOME
    artifacts/<asset>/<partition>/artifact.json + <payload>/
    snapshots/<digest>.json    every version of a task, rubric, system, panel that was ever used
    staging/                   work in progress; a folder left here was never finished
    failed/                    attempts that ended in an infrastructure fault, kept
    sandbox/                   state files of running rollouts
    exports/                   tables and pictures as files
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vvb_resources.errors import StoreError
from vvb_resources.store.digests import digest_bytes

CHECKOUT = Path(__file__).resolve().parents[2]


def default_home() -> Path:
    """`$VVB_HOME`, else `.vvb` in the checkout (in the current folder, when installed without one).

    Raises StoreError on a path with a question mark: in the address of an SQLite database, which is what Dagster makes
    of it, the file's name ends there.
    """
    configured = os.environ.get("VVB_HOME")
    base = CHECKOUT if (CHECKOUT / "task_data").is_dir() else Path.cwd()
    home = Path(configured).expanduser().resolve() if configured else base / ".vvb"
    if "?" in str(home):
        raise StoreError("a data home cannot have '?' in its path", where=str(home), remedy="set VVB_HOME to another")
    return home


def default_benchmark() -> Path:
    """`$VVB_BENCHMARK`, else the starter benchmark of the checkout."""
    if configured := os.environ.get("VVB_BENCHMARK"):
        return Path(configured).expanduser().resolve()
    return (CHECKOUT if (CHECKOUT / "task_data").is_dir() else Path.cwd()) / "task_data" / "starter"


def parsed_file(root: Path, benchmark: Path) -> Path:
    """Where the parsed files of the benchmark folder `benchmark` are kept below the data home `root`."""
    return root / "parsed" / f"{digest_bytes(str(benchmark).encode())}.json"


@dataclass(frozen=True)
class Home:
    """The data home of one benchmark. `root` is `$VVB_HOME`, `name` the benchmark's name."""

    root: Path
    name: str

    @property
    def base(self) -> Path:
        return self.root / self.name

    @property
    def dagster(self) -> Path:
        return self.base / "dagster"

    @cached_property  # asked for with every file that is read
    def artifacts(self) -> Path:
        return self.base / "artifacts"

    @property
    def snapshots(self) -> Path:
        return self.base / "snapshots"

    @property
    def staging(self) -> Path:
        return self.base / "staging"

    @property
    def failed(self) -> Path:
        return self.base / "failed"

    @property
    def sandbox(self) -> Path:
        return self.base / "sandbox"

    @property
    def exports(self) -> Path:
        return self.base / "exports"

    @property
    def replies(self) -> Path:
        return self.root / "replies"

    @property
    def observations(self) -> Path:
        return self.root / "observations"

    @property
    def uploads(self) -> Path:
        return self.root / "uploads"

    @property
    def batches(self) -> Path:
        return self.root / "batches"

    @property
    def ledger(self) -> Path:
        return self.root / "judge_calls.sqlite"
