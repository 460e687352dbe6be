"""A small benchmark for tests of automation: imported videos of a second, and judges at the stand-in.

Making it takes seconds of work, and every paid call is in the stand-in's log.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.platform import REPOSITORY, Platform, copy_of_starter
from tests.media.clips import delivery, make_clip
from tests.standin.server import Call, StandIn

TASKS, SYSTEMS, PANELS = ("BEAT", "ORBIT"), ("raster", "vector"), ("J1", "J2")
PARTS = ("judgment", "l2_verdicts", "l3_scores")
PRICES = """
date: 2099-01-01
source: made up for a test
models:
  gemini-4-argon: {input: 2, cached: 0.5, output: 12}
  gemini-3.8-flash: {input: 0.5, output: 3}
"""
SETTINGS = "automation: {interval_s: 5, usd_day: 0}"

Found = set[tuple[str, "str | None"]]


@dataclass(frozen=True)
class Judged(Platform):
    """A platform whose judges are at the stand-in; `extra` are further variables."""

    service: StandIn = field(default_factory=StandIn)
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.service.environment, **self.extra}

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file of the benchmark."""
        path = self.benchmark / name
        before = path.read_text()
        assert before.count(old) == 1, f"{old!r} is {before.count(old)} times in {name}"
        path.write_text(before.replace(old, new))

    def bring(self, system: str, task: str, *, seconds: str, replace: bool = False) -> None:
        """Import a video made elsewhere as the rollout of a run."""
        folder = self.home.parent / "videos" / f"{system}-{task}-{seconds}"
        folder.mkdir(parents=True)
        delivery(folder / task, make_clip(folder / "clip.mp4", seconds=seconds, sound=None))
        self.vvb("import", str(folder), "--system", system, *(["--replace"] if replace else []))

    def planned(self) -> Found:
        """What the plan would make at most, as (asset, partition)."""
        return {(item["asset"], item["partition"]) for item in self.json("plan")["stale"]}

    def made_since(self, before: dict[str, dict[str, object]]) -> Found:
        """What was made (again) since `before`, which `manifests` gave."""
        return {
            (str(manifest["asset"]), manifest["partition"])
            for path, manifest in self.manifests().items()
            if manifest != before.get(path)
        }

    def paid(self) -> list[Call]:
        """The paid calls so far."""
        return self.service.paid()


def judged_platform(
    folder: Path, service: StandIn, code: Path = REPOSITORY, extra: dict[str, str] | None = None
) -> Judged:
    """Two tasks, two systems, two panels, and a video for each of the four runs; nothing is made yet."""
    benchmark = copy_of_starter(folder, TASKS, SYSTEMS, ("none",))
    for panel in PANELS:
        (benchmark / "panels" / f"{panel}.yaml").write_text(
            (REPOSITORY / "task_data" / "paper" / "panels" / f"{panel}.yaml").read_text()
        )
    (benchmark / "prices").mkdir(exist_ok=True)
    (benchmark / "prices" / "2099-01-01.yaml").write_text(PRICES)
    config = benchmark / "benchmark.yaml"
    config.write_text(re.sub(r"(?m)^budgets:", f"{SETTINGS}\nbudgets:", config.read_text()))
    platform = Judged(benchmark, folder / "home", service, extra or {}, code=code)
    for number, system in enumerate(SYSTEMS):
        for task in TASKS:
            platform.bring(system, task, seconds=f"1.{number}{TASKS.index(task)}")
    return platform


def judged(panels: tuple[str, ...], runs: list[str]) -> Found:
    """The three assets of panels for runs."""
    return {(f"{panel}/{part}", run) for panel in panels for part in PARTS for run in runs}


def each(asset: str, partitions: list[str]) -> Found:
    """Partitions of one asset."""
    return {(asset, partition) for partition in partitions}
