"""Automation by the real daemon, as a person uses it: switched on in the UI, then files are edited.

What it asks for is read from its runs, what was made from the manifests, what was paid for from the stand-in's log.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.e2e.asked import PANELS, PARTS, SYSTEMS, TASKS, Found, Judged, each, judged, judged_platform
from tests.e2e.platform import copy_of_code
from tests.e2e.ui import Ui, ui_of
from tests.standin.server import StandIn

pytestmark = pytest.mark.e2e

RUNS = [f"{system}|{task}" for system in SYSTEMS for task in TASKS]
CONFIG = "benchmark.yaml"


class Automation:
    """The sensor, and what it has asked for since it was last looked at."""

    def __init__(self, ui: Ui, platform: Judged) -> None:
        self.ui, self.platform = ui, platform
        self.seen: set[str] = set()
        self.before = platform.manifests()

    def settle(self) -> tuple[Counter[tuple[str, str | None]], Found]:
        """Wait until it looks twice and wants nothing; returns what it asked for meanwhile, and what was made."""
        since = time.time()

        def quiet() -> bool:
            ticks = [tick for tick in self.ui.sensor("automation")["ticks"] if tick["timestamp"] > since]
            for tick in ticks:
                assert tick["status"] != "FAILURE", tick["error"]["message"]
            last = ticks[:2]
            idle = all(t["status"] == "SKIPPED" and "wait for what is being made" not in t["skipReason"] for t in last)
            busy = self.ui.runs("QUEUED", "NOT_STARTED", "STARTING", "STARTED")
            return len(last) == 2 and idle and not busy

        self.ui.wait_for(quiet, 240)
        asked: Counter[tuple[str, str | None]] = Counter()
        for run in self.ui.runs():
            if run["runId"] in self.seen:
                continue
            self.seen.add(run["runId"])
            if run["tags"].get("dagster/sensor_name") == "automation":
                assert run["status"] == "SUCCESS", run
                steps = YAML(typ="safe").load(run["runConfigYaml"])["ops"]
                listed = [p for step in steps.values() for p in step["config"]["partitions"]] or [None]
                asked.update(("/".join(key["path"]), p) for key in run["assetSelection"] for p in listed)
        made = self.platform.made_since(self.before)
        self.before = self.platform.manifests()
        return asked, made

    @property
    def why(self) -> str:
        """What the last tick said."""
        return str(self.ui.sensor("automation")["ticks"][0]["skipReason"])


@pytest.fixture
def service() -> Iterator[StandIn]:
    with StandIn(video_s=1.0) as running:
        yield running


def behind(found: Found) -> Found:
    """What follows from the runs' scores: the results, their tables, the human study's pairs and agreement.

    How many of them change depends on figures; that none does without reason is for the tests of the plan.
    """
    return {(asset, p) for asset, p in found if p is None and not asset.endswith("panel_config") and asset not in FILES}


FILES = {"catalogue", "study_design", "sandbox_policy", "l1_limits", "human_votes", "bradley_terry"}


def of(*, systems: tuple[str, ...] = SYSTEMS, tasks: tuple[str, ...] = TASKS) -> list[str]:
    """Runs of some systems and tasks."""
    return [f"{system}|{task}" for system in systems for task in tasks]


@pytest.fixture
def platform(tmp_path: Path, service: StandIn) -> Judged:
    """Everything is made but the judgments and what follows from them."""
    platform = judged_platform(tmp_path, service, copy_of_code(tmp_path))
    only = [word for stage in ("tasks", "rollouts", "l1", "media") for word in ("--only", stage)]
    assert platform.json("run", *only)["failed"] == {}
    return platform


@pytest.mark.xdist_group("automation")
def test_edits_are_followed_exactly(platform: Judged, tmp_path: Path) -> None:
    with ui_of(platform, tmp_path / "ui.log") as ui:
        robot = Automation(ui, platform)
        assert ui.sensor("automation")["status"] == "STOPPED", "off until somebody switches it on"
        ui.switch_on("automation")

        # Without money, what is free is made: scores and tables on what exists, and the leaderboard says so.
        asked, made = robot.settle()
        assert set(asked) - behind(set(asked)) == each("run_scores", RUNS)
        assert "8 judgments wait for money" in robot.why
        assert {row["complete"] for row in platform.json("leaderboard")["systems"]} == {False}
        assert platform.paid() == []

        platform.edit(CONFIG, "usd_day: 0", "usd_day: 5")
        asked, made = robot.settle()
        assert set(asked) - behind(set(asked)) == judged(PANELS, RUNS) | each("run_scores", RUNS)
        assert set(asked.values()) == {1}
        assert len(platform.paid()) == len(PANELS) * len(RUNS)
        assert (robot.why, platform.planned()) == ("everything is fresh", set())

        # Bytes that say the same: nothing.
        rubric = platform.benchmark / "tasks" / "ORBIT" / "rubric.yaml"
        os.utime(rubric)
        for path in (rubric, platform.code / "vvb_assets" / "panels" / "make.py"):
            path.write_text(path.read_text() + "# a remark\n")
        ui.reload()
        assert robot.settle() == (Counter(), set())

        # A check of one rubric, and a second later one panel's model.
        before = len(platform.paid())
        platform.edit("tasks/ORBIT/rubric.yaml", 'title: "Night blue"', 'title: "Night blue throughout"')
        time.sleep(1.0)
        platform.edit("panels/J2.yaml", "model: gemini-3.8-flash", "model: gemini-3.8-flash-b")
        asked, made = robot.settle()
        once = judged(("J1",), of(tasks=("ORBIT",))) | judged(("J2",), of(tasks=("BEAT",)))
        perhaps_twice = judged(("J2",), of(tasks=("ORBIT",)))  # a look may fall between the two edits
        assert set(asked) - behind(set(asked)) - each("run_scores", RUNS) == once | perhaps_twice
        assert {asked[key] for key in once} == {1}
        assert made - behind(made) - each("run_scores", RUNS) == once | perhaps_twice | {
            ("rubric", "ORBIT"),
            ("J2/panel_config", None),
        }
        twice = len(platform.paid()) - before - len(once | perhaps_twice) // 3
        assert twice == sum(asked[f"J2/{PARTS[0]}", run] - 1 for run in of(tasks=("ORBIT",)))
        assert platform.planned() == set()

        # A tolerance, a video, a prompt: checks of all, the rest of one run, judgments of a task, and no rollout.
        before = len(platform.paid())
        platform.bring("vector", "ORBIT", seconds="1.3", replace=True)
        platform.edit(CONFIG, "limits: {}", "limits: {duration_tolerance_s: 0.6}")
        prompt = platform.benchmark / "tasks" / "BEAT" / "prompt.md"
        prompt.write_text(prompt.read_text() + "\nThe last frame is kept simple.\n")
        asked, made = robot.settle()
        again = judged(PANELS, [*of(tasks=("BEAT",)), "vector|ORBIT"])
        measured = each("l1_measurements", ["vector|ORBIT"])
        published = each("rollout", ["vector|ORBIT"])
        assert again | measured | published | each("l1_checks", RUNS) <= set(asked)
        assert {a for a, _ in set(asked) - again - measured - published} - {a for a, _ in behind(set(asked))} == {
            "l1_checks",
            "blinded_media",
            "run_scores",
        }
        assert set(asked.values()) == {1}
        assert len(platform.paid()) - before == len(again) // 3
        assert "2 stale rollouts are held" in robot.why
        assert {item["partition"] for item in platform.json("plan")["held"]} == set(of(tasks=("BEAT",)))


@pytest.mark.xdist_group("backfill")
def test_a_backfill_makes_exactly_what_the_plan_says(platform: Judged, tmp_path: Path) -> None:
    assert platform.json("run")["failed"] == {}
    with ui_of(platform, tmp_path / "ui.log") as ui:
        ui.switch_off("tables")
        before, paid = platform.manifests(), len(platform.paid())
        platform.edit("tasks/ORBIT/rubric.yaml", 'title: "Night blue"', 'title: "Night blue throughout"')
        platform.edit("panels/J2.yaml", "model: gemini-3.8-flash", "model: gemini-3.8-flash-b")
        platform.bring("raster", "BEAT", seconds="1.6", replace=True)
        planned = platform.planned()
        stages = {asset for asset, _ in planned} - {"rubric", "J2/panel_config"}
        assert ui.backfill(sorted(stages)) == "COMPLETED_SUCCESS"
        made = platform.made_since(before)
        judgments = judged(("J1",), [*of(tasks=("ORBIT",)), "raster|BEAT"]) | judged(("J2",), RUNS)
        assert {key for key in planned if "/" in key[0]} == judgments | {("J2/panel_config", None)}
        l1 = {(asset, "raster|BEAT") for asset in ("l1_measurements", "l1_checks", "blinded_media", "rollout")}
        assert made - behind(made) == planned - behind(planned) | l1
        assert behind(made) <= behind(planned)
        assert len(platform.paid()) - paid == len(judgments) // 3
        assert platform.planned() == set()
