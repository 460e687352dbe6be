"""A small benchmark for tests of automation: imported videos of a second, and judges at the stand-in.

Making it takes seconds of work, and every paid call is in the stand-in's log.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.platform import REPOSITORY, STARTER, Platform, copy_of_starter
from tests.media.clips import delivery, make_clip
from tests.standin.server import Call, StandIn
from vvb_resources.judges.reading import READER_VERSION

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
CONFIG = "benchmark.yaml"
FILES = {"catalogue", "study_design", "sandbox_policy", "l1_limits", "human_votes", "bradley_terry"}
"""Unpartitioned assets that no score moves: what people write, and the ratings that follow from their votes alone."""
COPIER = """
id: copier
name: Copier
lab: made up for a test
harness: generic
agent: [agents/copier]
command: ["{python}", "{agent}/copier/main.py"]
"""
COPY = """
import pathlib, shutil
shutil.copy(pathlib.Path(__file__).with_name("clip.mp4"), "delivery/video.mp4")
"""

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

    def add_task(self, task: str) -> None:
        """A further task of the starter benchmark, as a person adds one: its folder."""
        shutil.copytree(STARTER / "tasks" / task, self.benchmark / "tasks" / task)

    def add_system(self, *, seconds: str) -> None:
        """The system `copier`, as a person adds one: its file, and an agent that delivers the same video always."""
        agent = self.benchmark / "agents" / "copier"
        agent.mkdir()
        make_clip(agent / "clip.mp4", seconds=seconds, sound=None)
        (agent / "main.py").write_text(COPY)
        (self.benchmark / "systems" / "copier.yaml").write_text(COPIER)

    def change_prompt(self, task: str) -> None:
        """Ask for one thing more."""
        prompt = self.benchmark / "tasks" / task / "prompt.md"
        prompt.write_text(prompt.read_text() + "\nThe last frame is kept simple.\n")

    def change_reader(self) -> None:
        """Read replies in another way, as a release of the platform may: the code location has to be reloaded."""
        file = self.code / "vvb_resources" / "judges" / "reading.py"
        before = file.read_text()
        assert before.count(f'READER_VERSION = "{READER_VERSION}"') == 1
        file.write_text(before.replace(f'READER_VERSION = "{READER_VERSION}"', 'READER_VERSION = "next"'))

    def change_nothing(self) -> None:
        """Touch every file of the benchmark, and put a remark into its files and into the platform's source."""
        for path in [path for path in self.benchmark.rglob("*") if path.is_file()]:
            os.utime(path)
        sources = [*(self.code / "vvb_assets").rglob("make.py"), self.code / "vvb_resources" / "judges" / "reading.py"]
        for path in [*self.benchmark.rglob("*.yaml"), *sources]:
            path.write_text(path.read_text() + "\n# a remark\n")

    def plan(self) -> tuple[Found, Found]:
        """What the plan would make at most, as (asset, partition), and the stale rollouts that it holds back."""
        plan = self.json("plan")
        made, held = ({(item["asset"], item["partition"]) for item in plan[name]} for name in ("stale", "held"))
        return made, held

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
    folder: Path,
    service: StandIn,
    code: Path = REPOSITORY,
    extra: dict[str, str] | None = None,
    *,
    tasks: tuple[str, ...] = TASKS,
    systems: tuple[str, ...] = SYSTEMS,
) -> Judged:
    """Two panels, some tasks and systems, and a video for each run; nothing is made yet."""
    benchmark = copy_of_starter(folder, tasks, systems, ("none",))
    for panel in PANELS:
        (benchmark / "panels" / f"{panel}.yaml").write_text(
            (REPOSITORY / "task_data" / "paper" / "panels" / f"{panel}.yaml").read_text()
        )
    (benchmark / "prices").mkdir(exist_ok=True)
    (benchmark / "prices" / "2099-01-01.yaml").write_text(PRICES)
    config = benchmark / "benchmark.yaml"
    config.write_text(re.sub(r"(?m)^budgets:", f"{SETTINGS}\nbudgets:", config.read_text()))
    platform = Judged(benchmark, folder / "home", service, extra or {}, code=code)
    for number, system in enumerate(systems):
        for task in tasks:
            platform.bring(system, task, seconds=f"1.{number}{tasks.index(task)}")
    return platform


def judged(panels: tuple[str, ...], runs: list[str]) -> Found:
    """The three assets of panels for runs."""
    return {(f"{panel}/{part}", run) for panel in panels for part in PARTS for run in runs}


def each(asset: str, partitions: list[str]) -> Found:
    """Partitions of one asset."""
    return {(asset, partition) for partition in partitions}


def behind(found: Found) -> Found:
    """What follows from the runs' scores: the results, their tables, the human study's pairs and agreement.

    How many of them change depends on figures; that none does without reason is for the tests of the plan.
    """
    return {(asset, p) for asset, p in found if p is None and not asset.endswith("panel_config") and asset not in FILES}


def of(*, systems: tuple[str, ...] = SYSTEMS, tasks: tuple[str, ...] = TASKS) -> list[str]:
    """Runs of some systems and tasks."""
    return [f"{system}|{task}" for system in systems for task in tasks]


def whole(runs: list[str]) -> Found:
    """Everything that is made of a run, from its rollout to its scores."""
    stages = ("rollout", "l1_measurements", "l1_checks", "blinded_media", "run_scores")
    return judged(PANELS, runs).union(*(each(stage, runs) for stage in stages))
