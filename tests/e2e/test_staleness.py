"""What an edit makes stale in the starter benchmark: exactly what hangs on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.platform import Platform

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("starter")]

PANELS = ("dense", "sparse", "split")
SYSTEMS = ("late", "raster", "vector")


@contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    """A file with one text replaced, put back afterwards."""
    before = path.read_text()
    assert before.count(old) == 1, f"{old!r} is there {before.count(old)} times"
    path.write_text(before.replace(old, new))
    try:
        yield
    finally:
        path.write_text(before)


def stale(platform: Platform) -> set[tuple[str, str | None]]:
    return {(item["asset"], item["partition"]) for item in platform.json("plan")["stale"]}


def tables(platform: Platform) -> set[tuple[str, str | None]]:
    """The unpartitioned assets behind run_scores: every manifest of theirs lies in a folder `_`.

    Configuration is not behind it, nor are the human ratings, which follow from the votes alone.
    """
    names = {path.removesuffix("/_") for path in platform.manifests() if path.endswith("/_")}
    fixed = {"sandbox_policy", "l1_limits", "catalogue", "study_design", "speech_model"}
    fixed |= {"human_votes", "bradley_terry"}
    fixed |= {*(f"{panel}/panel_config" for panel in PANELS)}
    return {(name, None) for name in names - fixed}


def test_one_rubric_makes_exactly_that_tasks_judgments_stale(starter: Platform) -> None:
    rubric = starter.benchmark / "tasks" / "ORBIT" / "rubric.yaml"
    with edited(rubric, 'title: "Night blue"', 'title: "Night blue throughout"'):
        runs = [f"{system}|ORBIT" for system in SYSTEMS]
        parts = ("judgment", "l2_verdicts", "l3_scores")
        judged = {(f"{panel}/{part}", run) for panel in PANELS for part in parts for run in runs}
        assert stale(starter) == {
            ("rubric", "ORBIT"),
            *judged,
            *(("run_scores", run) for run in runs),
            *tables(starter),
        }
        item = next(i for i in starter.json("plan")["stale"] if i["asset"] == "dense/judgment")
        reason = next(r for r in item["reasons"] if r["input"] == "rubric")
        assert reason["recorded"] != reason["expected"]
        assert starter.json("plan")["totals"]["calls"] == len(SYSTEMS) * 3, (
            "one a panel: the listener's part is as it was"
        )
    assert stale(starter) == set()


def test_a_comment_makes_nothing_stale(starter: Platform) -> None:
    rubric = starter.benchmark / "tasks" / "ORBIT" / "rubric.yaml"
    before = rubric.read_text()
    rubric.write_text(before + "\n# a remark\n")
    try:
        assert stale(starter) == set()
    finally:
        rubric.write_text(before)


def test_a_tolerance_checks_again_and_measures_nothing(starter: Platform) -> None:
    config = starter.benchmark / "benchmark.yaml"
    with edited(config, "limits: {}", "limits: {duration_tolerance_s: 0.6}"):
        found = stale(starter)
        assert sum(asset == "l1_checks" for asset, _ in found) == 24
        assert not {asset for asset, _ in found} & {"rollout", "l1_measurements"}


def test_another_speech_model_measures_again_and_delivers_nothing_anew(starter: Platform) -> None:
    config = starter.benchmark / "benchmark.yaml"
    with edited(config, "limits: {}", "speech: {model: not-here.pt}"):
        plan = starter.json("plan")
        causes = {(i["asset"], r["input"]) for i in plan["stale"] for r in i["reasons"] if r["expected"]}
        assert causes == {("speech_model", "file"), ("l1_measurements", "speech_model")}
        assert sum(item["asset"] == "l1_measurements" for item in plan["stale"]) == 24
        assert not plan["held"]
        assert "rollout" not in {item["asset"] for item in plan["stale"]}


def test_an_edited_prompt_holds_its_rollouts(starter: Platform) -> None:
    prompt = starter.benchmark / "tasks" / "ORBIT" / "prompt.md"
    before = prompt.read_text()
    prompt.write_text(before + "\nThe last frame is kept simple.\n")
    try:
        plan = starter.json("plan")
        assert {(i["asset"], i["partition"]) for i in plan["held"]} == {("rollout", f"{s}|ORBIT") for s in SYSTEMS}
        assert "rollout" not in {item["asset"] for item in plan["stale"]}
    finally:
        prompt.write_text(before)


def test_a_new_panel_is_a_new_family_and_backfilling_it_touches_nothing_else(starter: Platform) -> None:
    panel = starter.benchmark / "panels" / "extra.yaml"
    text = (starter.benchmark / "panels" / "sparse.yaml").read_text()
    panel.write_text(text.replace("id: sparse", "id: extra").replace("fps: 1", "fps: 0.5"))
    try:
        missing = {asset for asset, _ in stale(starter) if asset.startswith("extra/")}
        assert missing == {"extra/panel_config", "extra/judgment", "extra/l2_verdicts", "extra/l3_scores"}
        before = starter.manifests()
        report = starter.json("run", "--only", "tasks", "--only", "panels", "--panel", "extra")
        assert report["failed"] == {}
        assert report["made"] == {"extra/panel_config": 1, "panel_extra": 24}
        after = starter.manifests()
        assert {path: after[path] for path in before} == before
        assert {path.split("/")[0] for path in set(after) - set(before)} == {"extra"}
    finally:
        panel.unlink()
    assert stale(starter) == set()
