"""One change at a time: the plan is the truth, what is made is the truth, and no judge is asked in vain.

9 x 24 x 3 as a rule; `make test-full` sets VVB_EXACT_TASKS=239. The tests go on from each other's benchmark: each
begins with everything fresh, edits one thing, compares, and makes what is stale.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from tests.exact import truth
from tests.exact.world import Judge, Slot, World, add_task, write_benchmark
from vvb_assets.history import Histories
from vvb_assets.panels import make as panels
from vvb_assets.panels.estimates import with_estimates
from vvb_assets.plan import Plan, make_plan
from vvb_resources.judges.providers import instrument
from vvb_resources.store.home import CHECKOUT

pytestmark = pytest.mark.xdist_group("exact")

TASKS = int(os.environ.get("VVB_EXACT_TASKS", "24"))
JUDGES = {"dense": 1, "sparse": 1, "split": 2}


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)  # durability is another test's subject
        yield patch


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> World:
    folder: Path = tmp_path_factory.mktemp("exact")
    world = World(write_benchmark(folder / "benchmark", TASKS), folder / "home")
    patch.setattr(instrument, "create", lambda judge, services: Judge(world))
    made = world.make()
    runs = truth.runs(world)
    assert len(runs) == 9 * TASKS
    assert {slot for slot in made if slot[0] == "rollout"} == truth.of(["rollout"], runs)
    assert {slot for slot in made if "/" in slot[0] and slot[1]} == truth.judged(world, runs) - truth.COSTS
    assert sum(world.asked.values()) == len(truth.with_video(world, runs)) * sum(JUDGES.values())
    return world


def planned(world: World) -> set[Slot]:
    stale = world.plan().stale
    slots = {(item.asset, item.partition) for item in stale}
    assert len(slots) == len(stale), "each partition is listed once"
    return slots


def calls(world: World) -> int:
    """Judge calls that the plan announces."""
    workspace = world.workspace()
    return int(with_estimates(workspace, make_plan(workspace)).to_json()["totals"]["calls"])


def compare(
    world: World, expected: set[Slot], asked: int, unchanged: Collection[Slot] = (), announced: int | None = None
) -> Plan:
    """Plan and truth, makings and truth, calls and truth; then everything is fresh.

    `unchanged`: listed, but not made, since what they are made from turns out as it was. `announced`: calls in the plan
    where it cannot know better (a run that is yet to be made may leave no video).
    """
    plan = world.plan()
    assert planned(world) == expected
    assert calls(world) == (asked if announced is None else announced)
    before = Counter(world.asked)
    assert world.make() == expected.difference(unchanged)
    assert (world.asked - before).total() == asked
    assert planned(world) == set()
    return plan


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    path.write_text(text.replace(old, new))


def orbit(world: World) -> str:
    """A task that is a copy of ORBIT."""
    return next(t for t in world.tasks if "Night blue" in (world.benchmark / "tasks" / t / "rubric.yaml").read_text())


def test_nothing_is_stale_at_first(world: World) -> None:
    assert planned(world) == set()


def test_one_rubric_check(world: World) -> None:
    task = orbit(world)
    edit(world.benchmark / "tasks" / task / "rubric.yaml", 'title: "Night blue"', 'title: "Night blue throughout"')
    videos = truth.with_video(world, truth.runs(world, tasks=[task]))
    assert 0 < len(videos) < 9
    # a visual check: of the panel that is split, only the eyes are asked again
    compare(world, truth.rubric(world, task), len(videos) * 3)
    (change,) = Histories(world.workspace()).changes("dense/judgment", videos[0])
    (cause,) = change.causes
    assert (cause.input, cause.partition) == ("rubric", task)
    assert [what.split(".")[-1] for what in cause.what] == ["title: 'Night blue' -> 'Night blue throughout'"]


def test_one_panels_model(world: World) -> None:
    file = world.benchmark / "panels" / "sparse.yaml"
    edit(file, "model: instruments", "model: instruments-b")
    silent = [run for run in truth.runs(world) if run not in truth.with_video(world, truth.runs(world))]
    # without a video there is no reply: whoever the panel is, there is nothing to read, and the score stays
    same = truth.of(["sparse/l2_verdicts", "sparse/l3_scores", "run_scores"], silent)
    before = Counter(world.asked)
    compare(world, truth.panel(world, "sparse"), len(truth.with_video(world, truth.runs(world))), same)
    assert {model for _, model in world.asked - before} == {"instruments-b"}


def test_one_tolerance(world: World) -> None:
    edit(world.benchmark / "benchmark.yaml", "duration_tolerance_s: 0.5", "duration_tolerance_s: 0.6")
    compare(world, truth.tolerance(world), 0)


def test_one_video(world: World) -> None:
    run = truth.with_video(world, truth.runs(world, tasks=[world.tasks[3]]))[0]
    world.retake(run)
    compare(world, truth.video(world, run), sum(JUDGES.values()))


def test_one_reader_version(world: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(panels, "READER_VERSION", "next")
    # read anew, every reply says what it said: nothing behind it moves, and nobody is asked
    same = truth.of(["run_scores"], truth.runs(world)) | truth.tables() | truth.COSTS
    compare(world, truth.reader(world), 0, same)


def test_touched_files_of_equal_bytes(world: World) -> None:
    for file in [path for path in world.benchmark.rglob("*") if path.is_file()]:
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data)
    assert planned(world) == set()


def test_comments_in_the_benchmarks_files(world: World) -> None:
    for file in [*world.benchmark.rglob("*.yaml")]:
        file.write_text(f"# a remark\n{file.read_text()}\n# another\n")
    assert planned(world) == set()


def test_a_comment_in_every_file_of_the_platform(world: World, tmp_path: Path) -> None:
    """The platform's own source, with a remark in each file, finds what this process made, and finds it fresh."""
    for package in ("vvb_assets", "vvb_resources"):
        shutil.copytree(CHECKOUT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in tmp_path.rglob("*.py"):
        file.write_text(file.read_text() + "\n# a remark\n")
    reader = "import vvb_assets.panels.make as m; m.READER_VERSION = 'next'; "  # as the test before left it
    code = reader * (panels.READER_VERSION == "next")
    code += (
        "from vvb_assets.settings import Settings; from vvb_assets.plan import make_plan; from pathlib import Path; "
    )
    code += f"w = Settings(Path({str(world.benchmark)!r}), None, Path({str(world.home)!r})).open(); p = make_plan(w); "
    code += "import vvb_assets; print(vvb_assets.__file__, len(p.stale), len(p.held), p.fresh)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    where, stale, held, fresh = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path)
    assert (stale, held) == ("0", "0")
    assert int(fresh) > 9 * TASKS * 14


def test_a_new_system(world: World) -> None:
    text = (world.benchmark / "systems" / "sol.yaml").read_text()
    (world.benchmark / "systems" / "tenth.yaml").write_text(text.replace("id: sol", "id: tenth"))
    videos = truth.with_video(world, truth.runs(world, systems=["tenth"]))
    judges, runs = sum(JUDGES.values()), len(world.tasks)
    compare(world, truth.system(world, "tenth"), len(videos) * judges, announced=runs * judges)


def test_a_new_task(world: World) -> None:
    task = add_task(world.benchmark, TASKS)
    videos = truth.with_video(world, truth.runs(world, tasks=[task]))
    judges, runs = sum(JUDGES.values()), len(world.names("systems"))
    compare(world, truth.task(world, task), len(videos) * judges, announced=runs * judges)


def test_a_changed_prompt_holds_its_rollouts(world: World) -> None:
    task = orbit(world)
    prompt = world.benchmark / "tasks" / task / "prompt.md"
    prompt.write_text(prompt.read_text() + "\nThe last frame is kept simple.\n")
    there = truth.runs(world, tasks=[task])
    held = truth.of(["rollout"], there)
    assert {(item.asset, item.partition) for item in world.plan().held} == held
    expected = truth.prompt(world, task)
    plan = compare(world, expected, len(truth.with_video(world, there)) * sum(JUDGES.values()))
    assert {(item.asset, item.partition) for item in plan.held} == held
    assert {(item.asset, item.partition) for item in world.plan().held} == held


def test_a_panel_that_is_removed(world: World) -> None:
    (world.benchmark / "panels" / "split.yaml").unlink()
    compare(world, truth.panel_gone(world), 0)


def test_a_system_and_a_task_that_are_removed(world: World) -> None:
    (world.benchmark / "systems" / "tenth.yaml").unlink()
    compare(world, truth.member_gone(), 0)
    shutil.rmtree(world.benchmark / "tasks" / world.tasks[-1])
    compare(world, truth.member_gone(), 0)
