"""Backfills launched as the UI launches them: what was changed is made, whatever else was selected is left as it is.

The tests go on from each other's platform; each selects every asset behind the rollouts. Those are a backfill of their
own, where there are any to make: each is a run for itself, and what follows would be made run by run behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.asked import (
    CONFIG,
    PANELS,
    TASKS,
    Found,
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

RUNS = of()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ui, Judged]]:
    """Everything is made; the UI runs, and makes nothing by itself."""
    folder = tmp_path_factory.mktemp("backfill")
    with StandIn(video_s=1.0) as service:
        platform = judged_platform(folder, service, copy_of_code(folder), {"VVB_BACKFILL_SECONDS": "1"})
        assert platform.json("run")["failed"] == {}
        with ui_of(platform, folder / "ui.log") as ui:
            ui.switch_off("tables")
            yield ui, platform


def backfilled(ui: Ui, platform: Judged, before: dict[str, dict[str, object]], paid: int) -> tuple[Found, int]:
    """Backfill the whole graph behind the rollouts; returns what was made since `before`, and calls beyond `paid`."""
    assert ui.backfill(sorted(set(ui.nodes()) - {"rollout"})) == "COMPLETED_SUCCESS"
    assert platform.planned() == set()
    return platform.made_since(before), len(platform.paid()) - paid


def test_remarks_and_touched_files(running: tuple[Ui, Judged]) -> None:
    ui, platform = running
    before, paid = platform.manifests(), len(platform.paid())
    platform.change_nothing()
    ui.reload()
    assert backfilled(ui, platform, before, paid) == (set(), 0)


def test_a_rubric_a_model_and_a_video(running: tuple[Ui, Judged]) -> None:
    ui, platform = running
    before, paid = platform.manifests(), len(platform.paid())
    platform.edit("tasks/ORBIT/rubric.yaml", 'title: "Night blue"', 'title: "Night blue throughout"')
    platform.edit("panels/J2.yaml", "model: gemini-3.8-flash", "model: gemini-3.8-flash-b")
    platform.bring("raster", "BEAT", seconds="1.6", replace=True)
    planned = platform.planned()
    made, calls = backfilled(ui, platform, before, paid)
    judgments = judged(("J1",), [*of(tasks=("ORBIT",)), "raster|BEAT"]) | judged(("J2",), RUNS)
    assert made - behind(made) == (
        judgments
        | (whole(["raster|BEAT"]) - judged(PANELS, ["raster|BEAT"]))
        | each("run_scores", RUNS)
        | {("rubric", "ORBIT"), ("J2/panel_config", None)}
    )
    assert calls == len(judgments) // 3
    assert made - each("rollout", ["raster|BEAT"]) <= planned, "the import itself is no matter of the plan"


NEW = [*of(tasks=("FRACT",)), *of(systems=("copier",), tasks=(*TASKS, "FRACT"))]


def test_a_tolerance_a_reader_a_prompt_and_a_new_system_and_task(running: tuple[Ui, Judged]) -> None:
    ui, platform = running
    before, paid = platform.manifests(), len(platform.paid())
    platform.edit(CONFIG, "limits: {}", "limits: {duration_tolerance_s: 0.6}")
    platform.change_prompt("ORBIT")
    platform.change_reader()
    platform.add_task("FRACT")
    platform.add_system(seconds="1.4")
    for number, run in enumerate(of(tasks=("FRACT",))):
        platform.bring(*run.split("|"), seconds=f"1.5{number}")
    ui.reload()
    assert ui.backfill(["rollout"], [*NEW, *of(tasks=("ORBIT",))]) == "COMPLETED_SUCCESS"
    made, calls = backfilled(ui, platform, before, paid)
    files = {("task_spec", "ORBIT"), ("l1_limits", None)}
    files |= {("task_spec", "FRACT"), ("rubric", "FRACT"), ("system_config", "copier"), ("catalogue", None)}
    again = judged(PANELS, RUNS) | each("l1_checks", RUNS) | each("run_scores", RUNS)
    assert made - behind(made) == files | again | whole(NEW)
    assert calls == len(PANELS) * len([*of(tasks=("ORBIT",)), *NEW]), "what was asked before is only read anew"
    assert platform.held() == each("rollout", of(tasks=("ORBIT",)))
