"""Backfills launched as the UI launches them: what was changed is made, whatever else was selected is left as it is.

The tests go on from each other's platform; each selects every asset behind the rollouts. Those are a backfill of their
own, where there are any to make: each is a run for itself, and what follows would be made run by run behind it. There
is one system at first, since a backfill cuts a stage into a run a system.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.asked import (
    CONFIG,
    PANELS,
    Judged,
    behind,
    each,
    judged,
    judged_platform,
    of,
    whole,
)
from tests.e2e.platform import copy_of_code
from tests.e2e.ui import Ui, ui_of
from tests.standin.server import StandIn

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("backfill")]

SYSTEM, TASKS = "raster", ("BEAT", "GEARS", "ORBIT")
RUNS = [f"{SYSTEM}|{task}" for task in TASKS]
BEAT, _, ORBIT = RUNS


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ui, Judged]]:
    """Everything is made; the UI runs, and makes nothing by itself."""
    folder = tmp_path_factory.mktemp("backfill")
    with StandIn(video_s=1.0) as service:
        pause = {"VVB_BACKFILL_SECONDS": "1"}
        platform = judged_platform(folder, service, copy_of_code(folder), pause, tasks=TASKS, systems=(SYSTEM,))
        assert platform.json("run")["failed"] == {}
        with ui_of(platform, folder / "ui.log") as ui:
            ui.switch_off("tables")
            yield ui, platform


def backfill(ui: Ui) -> None:
    """Backfill the whole graph behind the rollouts."""
    assert ui.backfill(sorted(set(ui.nodes()) - {"rollout"})) == "COMPLETED_SUCCESS"


def test_remarks_and_touched_files(running: tuple[Ui, Judged]) -> None:
    ui, platform = running
    before, paid = platform.manifests(), len(platform.paid())
    platform.change_nothing()
    ui.reload()
    backfill(ui)
    assert (platform.manifests(), len(platform.paid())) == (before, paid), "published again, and not made"


def test_a_rubric_a_model_and_a_video(running: tuple[Ui, Judged]) -> None:
    ui, platform = running
    before, paid = platform.manifests(), len(platform.paid())
    platform.edit("tasks/ORBIT/rubric.yaml", 'title: "Night blue"', 'title: "Night blue throughout"')
    platform.edit("panels/J2.yaml", "model: gemini-3.8-flash", "model: gemini-3.8-flash-b")
    platform.bring(SYSTEM, "BEAT", seconds="1.6", replace=True)
    planned, _ = platform.plan()
    backfill(ui)
    made = platform.made_since(before)
    judgments = judged(("J1",), [ORBIT, BEAT]) | judged(("J2",), RUNS)
    assert made - behind(made) == (
        judgments
        | (whole([BEAT]) - judged(PANELS, [BEAT]))
        | each("run_scores", RUNS)
        | {("rubric", "ORBIT"), ("J2/panel_config", None)}
    )
    assert len(platform.paid()) - paid == len(judgments) // 3
    assert made - each("rollout", [BEAT]) <= planned, "the import itself is no matter of the plan"
    assert platform.plan() == (set(), set())


NEW = [f"{SYSTEM}|FRACT", *of(systems=("copier",), tasks=(*TASKS, "FRACT"))]


def test_a_tolerance_a_reader_a_prompt_and_a_new_system_and_task(running: tuple[Ui, Judged]) -> None:
    ui, platform = running
    before, paid = platform.manifests(), len(platform.paid())
    platform.edit(CONFIG, "limits: {}", "limits: {duration_tolerance_s: 0.6}")
    platform.change_prompt("ORBIT")
    platform.change_reader()
    platform.add_task("FRACT")
    platform.add_system(seconds="1.4")
    platform.bring(SYSTEM, "FRACT", seconds="1.5")
    ui.reload()
    assert ui.backfill(["rollout"], [*NEW, ORBIT]) == "COMPLETED_SUCCESS"
    backfill(ui)
    made = platform.made_since(before)
    files = {("task_spec", "ORBIT"), ("l1_limits", None)}
    files |= {("task_spec", "FRACT"), ("rubric", "FRACT"), ("system_config", "copier"), ("catalogue", None)}
    again = judged(PANELS, RUNS) | each("l1_checks", RUNS) | each("run_scores", RUNS)
    assert made - behind(made) == files | again | whole(NEW)
    assert len(platform.paid()) - paid == len(PANELS) * len([ORBIT, *NEW]), "what was asked before is only read anew"
    assert platform.plan() == (set(), each("rollout", [ORBIT]))
