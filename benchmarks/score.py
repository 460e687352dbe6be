"""The whole leaderboard, with 10,000 resamples, at three sizes: wall-clock, CPU and peak memory; and kappa's peer.

Run: python -m benchmarks.score [SIZE ...]. Each size is scored in a process of its own, from Parquet files written on
the fly into a folder that is removed at the end. `read` parses and validates the files; `tables` is score_results.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.score_sets import write_set

# systems, tasks, panels, checks a task, share delivered
SIZES = {"9x239x3": (9, 239, 3, 54, 0.9), "30x717x3": (30, 717, 3, 54, 0.9), "100x2390x5": (100, 2390, 5, 54, 1.0)}
RESAMPLES, ROUNDS = 10_000, 3


def main(sizes: list[str]) -> None:
    """Print one row a size, then kappa beside statsmodels."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("| systems x tasks x panels | verdicts | read s | tables s | both s | CPU s | peak MB |")
    print("| :--- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows = write_set(Path(folder), *SIZES[size])
            command = [sys.executable, "-m", "benchmarks.score", "--measure", folder]
            rounds = ROUNDS if rows < 10_000_000 else 1
            runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(rounds)]
        best = min(runs, key=lambda run: run["read"] + run["tables"])
        times = f"{best['read']:.2f} | {best['tables']:.2f} | {best['read'] + best['tables']:.2f} | {best['cpu']:.2f}"
        print(f"| {size} | {rows:,} | {times} | {best['peak_mb']:.0f} |", flush=True)
    kappa_beside_statsmodels()
    print(f"load {os.getloadavg()[0]:.1f}")


def measure(folder: Path) -> dict[str, float]:
    """Read and score one folder in this process. Peak memory includes the interpreter and its libraries."""
    from vvb_assets.leaderboards.score import score_results
    from vvb_assets.scores.results import read_results

    started, cpu = time.perf_counter(), time.process_time()
    results = read_results(folder, keep_verdicts=False)
    read = time.perf_counter()
    tables = score_results(results, resamples=RESAMPLES)
    done = time.perf_counter()
    assert tables["uncertainty"]["mean"].null_count() == 0
    return {
        "read": read - started,
        "tables": done - read,
        "cpu": time.process_time() - cpu,
        "peak_mb": _peak_mb(),
    }


def _peak_mb() -> float:
    """Peak resident memory of this process alone: getrusage would count the parent's as well, up to the exec."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)


def kappa_beside_statsmodels() -> None:
    """Cohen's kappa of one table of counts, beside statsmodels on the same table."""
    from statsmodels.stats.inter_rater import cohens_kappa

    from vvb_assets.leaderboards.agreement import check_agreement

    cells = np.random.default_rng(0).integers(1, 50_000, 4)
    ours = _seconds(lambda: check_agreement(*map(int, cells)))
    peer = _seconds(lambda: cohens_kappa(cells.reshape(2, 2), return_results=False))
    print(f"kappa of a 2 x 2 table: {1e6 * ours:.1f} us, statsmodels {1e6 * peer:.1f} us ({peer / ours:.0f} times)")


def _seconds(work: object, calls: int = 2000) -> float:
    assert callable(work)
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - started) / calls)
    return best


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(Path(sys.argv[2]))))
    else:
        main(sys.argv[1:] or list(SIZES))
