"""Automation by the real daemon, as a person uses it: switched on in the UI, then files are edited.

What it asks for is read from its runs, what was made from the manifests, what was paid for from the stand-in's log. The
tests go on from each other's platform: each begins with everything made that may be made, and edits something.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.e2e.asked import CONFIG, PANELS, PARTS, TASKS, Judged, behind, each, judged, judged_platform, of, whole
from tests.e2e.platform import copy_of_code
from tests.e2e.robot import Automation
from tests.e2e.ui import ui_of
from tests.standin.server import StandIn
from vvb_assets.sweep import UNLOADED

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("automation")]

RUNS = of()


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Automation]:
    """Everything is made but the judgments and what follows from them; the UI runs, and automation is off."""
    folder = tmp_path_factory.mktemp("automation")
    with StandIn(video_s=1.0) as service:
        platform = judged_platform(folder, service, copy_of_code(folder))
        only = [word for stage in ("tasks", "rollouts", "l1", "media") for word in ("--only", stage)]
        assert platform.json("run", *only)["failed"] == {}
        with ui_of(platform, folder / "ui.log") as ui:
            yield Automation(ui, platform)


@pytest.fixture
def platform(robot: Automation) -> Judged:
    return robot.platform


def test_without_money_what_is_free_is_made_and_with_it_the_rest(robot: Automation, platform: Judged) -> None:
    assert robot.ui.sensor("automation")["status"] == "STOPPED", "off until somebody switches it on"
    robot.ui.switch_on("automation")
    asked, _ = robot.settle()
    assert set(asked) - behind(set(asked)) == each("run_scores", RUNS)
    assert "8 judgments wait for money" in robot.why
    assert {row["complete"] for row in platform.json("leaderboard")["systems"]} == {False}
    assert platform.paid() == []

    platform.edit(CONFIG, "usd_day: 0", "usd_day: 5")
    asked, _ = robot.settle()
    assert set(asked) - behind(set(asked)) == judged(PANELS, RUNS) | each("run_scores", RUNS)
    assert set(asked.values()) == {1}
    assert len(platform.paid()) == len(PANELS) * len(RUNS)
    assert (robot.why, platform.plan()) == ("everything is fresh", (set(), set()))


def test_remarks_and_touched_files_ask_for_nothing(robot: Automation, platform: Judged) -> None:
    platform.change_nothing()
    robot.ui.reload()
    assert robot.settle() == (Counter(), set())


def test_two_edits_within_a_tick(robot: Automation, platform: Judged) -> None:
    """A check of one rubric, and a second later one panel's model."""
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
    assert platform.plan() == (set(), set())


def test_a_tolerance_a_video_and_a_prompt(robot: Automation, platform: Judged) -> None:
    """Checks of all, the rest of one run, judgments of a task, and no rollout."""
    before = len(platform.paid())
    platform.bring("vector", "ORBIT", seconds="1.3", replace=True)
    platform.edit(CONFIG, "limits: {}", "limits: {duration_tolerance_s: 0.6}")
    platform.change_prompt("BEAT")
    asked, _ = robot.settle()
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
    assert platform.plan() == (set(), each("rollout", of(tasks=("BEAT",))))


NEW = [*of(tasks=("FRACT",)), *of(systems=("copier",), tasks=(*TASKS, "FRACT"))]


def test_a_reader_and_new_files_once_the_code_location_is_reloaded(robot: Automation, platform: Judged) -> None:
    """Every reply is read anew and none is paid for; of the new runs nothing is made, for no rollout is permitted."""
    before = len(platform.paid())
    platform.add_task("FRACT")
    platform.add_system(seconds="1.4")
    robot.ui.wait_for(lambda: UNLOADED in robot.why, 120)
    platform.change_reader()
    robot.ui.reload()
    asked, made = robot.settle()
    assert set(asked) - behind(set(asked)) == judged(PANELS, RUNS)
    assert {asked[key] for key in judged(PANELS, RUNS)} == {1}
    files = {("task_spec", "FRACT"), ("rubric", "FRACT"), ("system_config", "copier"), ("catalogue", None)}
    assert made - behind(made) == judged(PANELS, RUNS) | files
    assert len(platform.paid()) == before
    assert f"{len(NEW)} missing rollouts: not permitted" in robot.why
    planned, _ = platform.plan()
    assert planned - behind(planned) == whole(NEW)


def test_new_runs_are_judged_where_they_are_imported_and_made_where_that_is_permitted(
    robot: Automation, platform: Judged
) -> None:
    before = len(platform.paid())
    for number, run in enumerate(of(tasks=("FRACT",))):
        platform.bring(*run.split("|"), seconds=f"1.5{number}")
    platform.edit(CONFIG, "usd_day: 5", "usd_day: 5, rollouts: missing")
    asked, made = robot.settle(ticks=2)
    assert set(asked) - behind(set(asked)) == whole(NEW)
    assert {asked[key] for key in whole(NEW)} == {1}
    assert made - behind(made) == whole(NEW)
    assert len(platform.paid()) - before == len(PANELS) * len(NEW)
    assert platform.plan() == (set(), each("rollout", of(tasks=("BEAT",))))
