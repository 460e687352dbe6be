"""Random results of any size, written as Parquet in the results format a panel at a time (never all rows at once)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from vvb_assets.scores.schema import MODALITY_NAMES
from vvb_resources.benchmark.models import DIMENSIONS
from vvb_resources.store.tables import scan_parquet


def write_set(out: Path, systems: int, tasks: int, panels: int, checks: int, delivery: float, seed: int = 1) -> int:
    """Write checks, runs, verdicts, scores, tasks, systems, panels, with `checks` checks a task; return the verdicts.

    Verdicts follow a strength of the system and a difficulty of the task, with 3% unknown; `delivery` is the share of
    runs with a video.
    """
    generator = np.random.default_rng(seed)
    out.mkdir(parents=True, exist_ok=True)
    names = {
        "system": [f"S{i:03d}" for i in range(systems)],
        "task": [f"T{i:04d}" for i in range(tasks)],
        "panel": [f"J{i + 1}" for i in range(panels)],
        "check": [f"C{i:06d}" for i in range(tasks * checks)],
    }
    kinds = {k: pl.Enum(v) for k, v in names.items()}

    def coded(kind: str, places: np.ndarray) -> pl.Series:  # type: ignore[type-arg]
        return pl.Series(names[kind], dtype=kinds[kind]).gather(places)

    delivered = generator.random((systems, tasks)) < delivery
    strength, difficulty = generator.normal(2.5, 0.6, systems), generator.normal(0, 1, tasks)
    task_of = np.repeat(np.arange(tasks), checks)
    _frame(
        out / "checks.parquet",
        task=coded("task", task_of),
        check=coded("check", np.arange(tasks * checks)),
        core=generator.random(tasks * checks) < 0.858,
        modality=generator.choice(MODALITY_NAMES, tasks * checks, p=[0.69, 0.24, 0.07]),
    )
    _frame(
        out / "runs.parquet",
        system=coded("system", np.repeat(np.arange(systems), tasks)),
        task=coded("task", np.tile(np.arange(tasks), systems)),
        delivered=delivered.ravel(),
        spec_pass=delivered.ravel() & (generator.random(systems * tasks) < 0.95),
        usd=generator.lognormal(0, 1, systems * tasks),
    )
    _frame(out / "tasks.parquet", task=names["task"], category=[f"C{1 + i % 12:02d}" for i in range(tasks)])
    _frame(out / "systems.parquet", system=names["system"], family=[f"f{i % 4}" for i in range(systems)])
    _frame(
        out / "panels.parquet",
        panel=names["panel"],
        judge_system=names["system"][:panels],
        judge_family=[f"f{i % 4}" for i in range(panels)],
    )
    system, task = np.nonzero(delivered)
    verdicts, scores, rows = [], [], 0
    folder = out / "parts"
    folder.mkdir(exist_ok=True)
    for panel in range(panels):
        for first in range(0, systems, 10):
            inside = (system >= first) & (system < first + 10)
            s, t = system[inside], task[inside]
            each = np.repeat(np.arange(len(s)), checks)
            check = (t[:, None] * checks + np.arange(checks)).ravel()
            chance = 1 / (1 + np.exp(-(strength[s] + difficulty[t])))[each]
            drawn = generator.random(len(each))
            value = np.where(drawn < 0.97 * chance, "pass", np.where(drawn < 0.97, "fail", "unknown"))
            part = folder / f"verdicts-{panel}-{first}.parquet"
            _frame(
                part,
                panel=coded("panel", np.full(len(each), panel)),
                system=coded("system", s[each]),
                task=coded("task", t[each]),
                check=coded("check", check),
                verdict=pl.Series(value),
            )
            verdicts.append(part)
            rows += len(each)
        score = np.clip(np.rint(3.8 + 0.4 * difficulty[task][:, None] + generator.normal(0, 0.7, (len(task), 5))), 1, 5)
        part = folder / f"scores-{panel}.parquet"
        _frame(
            part,
            panel=coded("panel", np.full(score.size, panel)),
            system=coded("system", np.repeat(system, 5)),
            task=coded("task", np.repeat(task, 5)),
            dim=np.tile(np.array(DIMENSIONS), len(task)),
            score=score.ravel(),
        )
        scores.append(part)
    for name, parts in (("verdicts", verdicts), ("scores", scores)):
        scan_parquet(parts).sink_parquet(out / f"{name}.parquet")
        for part in parts:
            part.unlink()
    folder.rmdir()
    return rows


def _frame(path: Path, **columns: object) -> None:
    """Write the columns as Parquet, ids as text: what a producer elsewhere would write."""
    frame = pl.DataFrame(columns)
    frame.with_columns(pl.col(pl.Enum).cast(pl.String)).write_parquet(path)
