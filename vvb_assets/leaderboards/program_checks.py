"""The table of program checks (L1): share of tasks whose run passes each check, over the tasks whose spec applies it.

As the paper counts, container with decode is one check (`playable`), and black with frozen is one (`black_frozen`).
"""

from __future__ import annotations

import polars as pl

from vvb_assets.scores.figures import counted, percent
from vvb_resources.errors import ResultsError

PAPER_CHECKS = (
    "playable",
    "resolution",
    "fps",
    "duration",
    "frames",
    "audible",
    "source_project",
    "narration_coverage",
    "narration_language",
    "black_frozen",
)
MERGED = {"container": "playable", "decode": "playable", "black": "black_frozen", "frozen": "black_frozen"}
EVERY = "every"  # the row of all applicable checks together: spec compliance


def merged_checks(l1: pl.DataFrame) -> pl.DataFrame:
    """Applicable checks of each run as the paper counts them: system, task, check, passed (null = unmeasured).

    Two checks counted as one pass together: a fail or n/a of either fails it, else an unmeasured one leaves it open.
    Raises ResultsError on a check that L1 does not have.
    """
    names = pl.col("check").cast(pl.String)
    unknown = l1.filter(~names.is_in([*PAPER_CHECKS, *MERGED]))
    if len(unknown):
        raise ResultsError(f"check {unknown['check'][0]!r} is no program check", where="l1", remedy="see the L1 names")
    verdict = pl.col("verdict").cast(pl.String)
    passed = (
        pl.when(verdict.is_in(["fail", "na"]).any()).then(False).when((verdict == "unmeasured").any()).then(None)
    ).otherwise(True)
    return (
        l1.filter("applies")
        .with_columns(pl.col("system", "task").cast(pl.String), names.replace(MERGED).alias("check"))
        .group_by("system", "task", "check", maintain_order=True)
        .agg(passed=passed)
    )


def applicable_checks(l1: pl.DataFrame) -> pl.DataFrame:
    """The (task, check) pairs that count: a property of the task, whatever a system delivered."""
    return merged_checks(l1).select("task", "check").unique(maintain_order=True)


def l1_table(l1: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Per (system, check), and for all together (check 'every'): n tasks it applies to, passed, failed, open, pass_pct.

    `runs` has system, task, delivered (null or no row = not made). A missing video fails every applicable check. `open`
    counts unmeasured checks and runs not made or not measured; while there are any, pass_pct is null and says why.
    """
    merged = merged_checks(l1)
    made = runs.select(pl.col("system", "task").cast(pl.String), "delivered")
    systems = made.select("system").unique(maintain_order=True)
    pairs = systems.join(applicable_checks(l1), how="cross", maintain_order="left")
    pairs = pairs.join(merged, on=["system", "task", "check"], how="left", maintain_order="left")
    pairs = pairs.join(made, on=["system", "task"], how="left", maintain_order="left")
    pairs = pairs.with_columns(passed=pl.when(~pl.col("delivered")).then(False).otherwise(pl.col("passed")))
    every = pairs.group_by("system", "task", maintain_order=True).agg(
        check=pl.lit(EVERY), passed=pl.col("passed").all(ignore_nulls=False)
    )
    columns = ["system", "task", "check", "passed"]
    table = pl.concat([pairs.select(columns), every.select(columns)]).group_by("system", "check", maintain_order=True)
    shares = table.agg(
        tasks=pl.len().cast(pl.Int64),
        passed=pl.col("passed").sum().cast(pl.Int64),
        failed=(~pl.col("passed")).sum().cast(pl.Int64),
        open=pl.col("passed").null_count().cast(pl.Int64),
    )
    order = pl.col("check").cast(pl.Enum([*PAPER_CHECKS, EVERY]))
    places = {s: i for i, s in enumerate(systems["system"].to_list())}
    shares = shares.sort(pl.col("system").replace_strict(places, return_dtype=pl.Int64), order)
    return shares.with_columns(
        pass_pct=pl.when(pl.col("open") == 0).then(percent(pl.col("passed"), pl.col("tasks"))),
        reason=counted(pl.col("open"), "task open", "tasks open"),
    )


def l1_check_count(l1: pl.DataFrame) -> int:
    """Number of program checks of the benchmark: (task, check) pairs that apply, counted as the paper does."""
    return len(applicable_checks(l1))
