"""What each change makes stale, told from the rules of the design alone: no code of the platform is asked.

`planned` is what a plan has to list. What is made may be less: an input that turns out as it was makes nothing behind
it; where that happens, the test says so itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.exact.world import Slot, World

PARTS = ("judgment", "l2_verdicts", "l3_scores")
RUN_ASSETS = ("rollout", "l1_measurements", "l1_checks", "blinded_media", "run_scores")
TABLES = (
    *("results", "leaderboard", "per_panel", "by_category", "by_language", "by_subcategory", "dimensions"),
    *("core_vs_detail", "failed_any_check", "judge_errors", "l1_table", "cost", "cost_correlation", "uncertainty"),
    *("pairwise", "agreement", "scale_use", "leniency", "self_preference", "reranking"),
    *("human_pairs", "human_judge_agreement"),  # the ratings themselves follow from the votes alone
)
COSTS: set[Slot] = {("judging_costs", None)}


def tables() -> set[Slot]:
    """Every table behind the runs' scores."""
    return {(name, None) for name in TABLES}


def runs(world: World, systems: Iterable[str] | None = None, tasks: Iterable[str] | None = None) -> list[str]:
    """Runs of some systems and tasks (all, when none are named)."""
    chosen_tasks = world.tasks if tasks is None else list(tasks)
    return [f"{s}|{t}" for s in (world.names("systems") if systems is None else systems) for t in chosen_tasks]


def with_video(world: World, of: Iterable[str]) -> list[str]:
    """Those runs that have a video."""
    return [run for run in of if world.delivered(*run.split("|"))]


def of(assets: Iterable[str], partitions: Iterable[str]) -> set[Slot]:
    """The product of assets and partitions."""
    chosen = list(partitions)
    return {(asset, partition) for asset in assets for partition in chosen}


def judged(world: World, of_runs: Iterable[str], panels: Iterable[str] | None = None) -> set[Slot]:
    """The three assets of each panel for some runs, and what judging cost."""
    chosen = list(of_runs)
    names = world.names("panels") if panels is None else panels
    found = {slot for panel in names for slot in of([f"{panel}/{part}" for part in PARTS], chosen)}
    return found | COSTS if found else found


def rubric(world: World, task: str) -> set[Slot]:
    """One judgment a panel and delivered video of the task, and what follows."""
    there = runs(world, tasks=[task])
    return {("rubric", task)} | judged(world, with_video(world, there)) | of(["run_scores"], there) | tables()


def panel(world: World, name: str) -> set[Slot]:
    """All judgments of the panel, none of another, and what follows."""
    there = runs(world)
    return {(f"{name}/panel_config", None)} | judged(world, there, [name]) | of(["run_scores"], there) | tables()


def tolerance(world: World) -> set[Slot]:
    """Checks, and the scores behind them: nothing is measured, blinded or judged."""
    return {("l1_limits", None)} | of(["l1_checks", "run_scores"], runs(world)) | tables()


def video(world: World, run: str) -> set[Slot]:
    """Everything behind the rollout of one run."""
    return of(set(RUN_ASSETS) - {"rollout"}, [run]) | judged(world, [run]) | tables()


def reader(world: World) -> set[Slot]:
    """Every judgment is read again."""
    return judged(world, runs(world)) | of(["run_scores"], runs(world)) | tables()


def prompt(world: World, task: str) -> set[Slot]:
    """The task is checked and judged anew; its rollouts are not in here: they are held."""
    there = runs(world, tasks=[task])
    checked = of(["l1_checks", "run_scores"], there)
    return {("task_spec", task)} | checked | judged(world, with_video(world, there)) | tables()


def system(world: World, name: str) -> set[Slot]:
    """All runs of a new system, and the tables."""
    there = runs(world, systems=[name])
    return {("system_config", name), ("catalogue", None)} | of(RUN_ASSETS, there) | judged(world, there) | tables()


def task(world: World, name: str) -> set[Slot]:
    """All runs on a new task, and the tables."""
    there = runs(world, tasks=[name])
    head: set[Slot] = {("task_spec", name), ("rubric", name), ("catalogue", None)}
    return head | of(RUN_ASSETS, there) | judged(world, there) | tables()


def panel_gone(world: World) -> set[Slot]:
    """Scores and tables without the panel; no judgment."""
    return of(["run_scores"], runs(world)) | tables() | COSTS


def member_gone() -> set[Slot]:
    """The tables without a system or a task; no run."""
    return {("catalogue", None)} | tables() | COSTS
