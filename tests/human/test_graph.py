"""The assets of the human study on a small benchmark whose runs and judgments are put there by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from vvb_assets.assembly import build_definitions
from vvb_assets.build import build_graph
from vvb_assets.graph import Workspace
from vvb_assets.human.columns import HUMAN_TABLES
from vvb_assets.human.make import eligible_runs, load_pairs
from vvb_assets.leaderboards.score import score_everything
from vvb_assets.making import make_partition
from vvb_assets.plan import make_plan
from vvb_assets.scores.make import SCHEMAS
from vvb_assets.scores.results import read_results
from vvb_assets.settings import Settings
from vvb_resources.benchmark.loader import load_benchmark
from vvb_resources.errors import ResultsError
from vvb_resources.store.atomic import write_parquet
from vvb_resources.store.home import Home

SMALL = Path(__file__).parents[1] / "data" / "benchmark" / "small"
DIMS = ("VQ", "VA", "CL", "TM", "AQ")
HUMAN = ("human_pairs", "bradley_terry", "human_judge_agreement")


class Study:
    """A benchmark folder, a data home, and artifacts of runs as the stages before would leave them."""

    def __init__(self, root: Path) -> None:
        self.root = Path(shutil.copytree(SMALL, root / "small"))
        self.home = root / "home"

    def workspace(self) -> Workspace:
        benchmark = load_benchmark(self.root)
        return Workspace(benchmark, Home(self.home, benchmark.config.name), build_graph(benchmark))

    def put(self, asset: str, partition: str, frames: dict[str, pl.DataFrame], summary: dict[str, Any]) -> None:
        store = self.workspace().store
        with store.staging(asset, partition) as out:
            for name, frame in frames.items():
                write_parquet(out / f"{name}.parquet", frame)
            store.commit(
                out,
                asset=asset,
                partition=partition,
                data_version=json.dumps(summary, sort_keys=True),
                code_version="1",
                inputs={},
                seconds=0.0,
                summary=summary,
                checks={},
                keep_old=False,
            )

    def run(self, system: str, task: str, score: int, *, delivered: bool = True, complete: bool = True) -> None:
        """A run whose five scores of panel `one` are `score`, with every check passed."""
        key = {"system": system, "task": task}
        checks = [c.id for c in self.workspace().benchmark.tasks[task].rubric.checks] if delivered else []
        rows: dict[str, list[dict[str, Any]]] = {
            "runs": [{**key, "delivered": delivered, "spec_pass": delivered, "usd": 0.0}],
            "verdicts": [{"panel": "one", **key, "check": c, "verdict": "pass"} for c in checks],
            "scores": [{"panel": "one", **key, "dim": d, "score": float(score)} for d in DIMS if delivered],
            "l1": [],
        }
        frames = {name: pl.DataFrame(rows[name], schema=SCHEMAS[name]) for name in rows}
        frames["statistics"] = pl.DataFrame({"panel": ["one"], "complete": [complete]})
        partition = f"{system}|{task}"
        self.put("run_scores", partition, frames, {"score": score, "delivered": delivered, "complete": complete})
        self.put("l1_checks", partition, {}, {"delivered": delivered})

    def vote(self, text: str, name: str = "ann.csv") -> None:
        (self.root / "votes").mkdir(exist_ok=True)
        (self.root / "votes" / name).write_text("task,system_a,system_b,choice\n" + text)

    def make(self, *keys: str) -> None:
        workspace = self.workspace()
        for key in ("results", *keys):
            make_partition(workspace, workspace.graph.nodes[key], None)

    def table(self, asset: str, name: str) -> list[dict[str, Any]]:
        _, folder = self.workspace().payload(asset, None)
        return pl.read_parquet(folder / f"{name}.parquet").to_dicts()


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study(tmp_path)
    for task in ("BRIDGE", "LESSON"):
        made.run("painter", task, 4)
        made.run("writer", task, 3)
    return made


def test_without_votes_every_table_says_so(study: Study) -> None:
    study.make(*HUMAN)
    for asset, tables in (
        ("bradley_terry", ("bradley_terry", "human_win_matrix")),
        ("human_judge_agreement", ("human_judge_agreement", "human_by_margin", "human_metrics")),
    ):
        for name in tables:
            assert [row["reason"] for row in study.table(asset, name)] == ["no votes"]
    votes, _ = study.workspace().payload("human_votes", None)
    assert votes.summary["reason"] == "the benchmark has no votes/ folder with votes"
    assert votes.summary["votes"] == 0


def test_votes_become_ratings_and_agreement(study: Study) -> None:
    """Painter wins 2 of 3; its videos score 4 against 3, so the judges agree with two of three decisive votes."""
    study.vote("BRIDGE,painter,writer,A\nLESSON,writer,painter,B\n")
    study.vote("BRIDGE,writer,painter,A\nBRIDGE,writer,painter,both_bad\n", "bo.csv")
    study.make(*HUMAN)
    first, second = study.table("bradley_terry", "bradley_terry")
    assert (first["system"], first["wins"], first["games"], first["both_bad"]) == ("painter", 2, 3, 1)
    assert first["elo"] > 1000 > second["elo"]
    agreement = {row["panel"]: row for row in study.table("human_judge_agreement", "human_judge_agreement")}
    assert agreement["one"]["agreed"] == 2
    assert agreement["mean"]["agreement_pct"] == pytest.approx(200 / 3)
    assert agreement["mean"]["spearman"] == pytest.approx(1)
    votes, folder = study.workspace().payload("human_votes", None)
    assert pl.read_parquet(folder / "votes.parquet")["vote"].to_list() == ["ann/1", "ann/2", "bo/1", "bo/2"]
    assert (votes.summary["votes"], votes.summary["decisive"], votes.summary["both bad"]) == (4, 3, 1)
    _, ratings = study.workspace().payload("bradley_terry", None)
    assert (ratings / "human_elo.png").read_bytes().startswith(b"\x89PNG")


def test_only_playable_runs_judged_whole_are_paired(study: Study) -> None:
    study.run("writer", "LESSON", 3, delivered=False)
    assert eligible_runs(study.workspace()) == {"BRIDGE": ["painter", "writer"], "LESSON": ["painter"]}
    study.make("human_pairs")
    assert load_pairs(study.workspace())["task"].to_list() == ["BRIDGE"]
    study.run("painter", "BRIDGE", 4, complete=False)
    study.make("human_pairs")
    manifest, _ = study.workspace().payload("human_pairs", None)
    assert manifest.summary["pairs"] == 0
    assert manifest.summary["reason"] == "no task has two playable runs that every panel has judged whole"


def stale(study: Study) -> dict[str, list[str]]:
    """Assets of the stage that are to be made, with why. The runs put there by hand look stale and are no cause."""
    by_hand = {"run_scores", "l1_checks", "results"}
    found = {
        item.asset: [reason.input for reason in item.reasons if reason.input not in by_hand]
        for item in make_plan(study.workspace()).stale
        if item.asset in {*HUMAN, "human_votes"}
    }
    return {asset: inputs for asset, inputs in found.items() if inputs}


def test_what_a_change_makes_stale(study: Study) -> None:
    """A vote touches ratings and agreement, not the pairs; the seed touches pairs and ratings; nothing else does."""
    study.vote("BRIDGE,painter,writer,A\n")
    study.make(*HUMAN)
    assert stale(study) == {}
    study.vote("BRIDGE,painter,writer,B\n")
    assert stale(study) == {
        "human_votes": ["file"],
        "bradley_terry": ["human_votes"],
        "human_judge_agreement": ["human_votes", "bradley_terry"],
    }
    study.make(*HUMAN)
    config = study.root / "benchmark.yaml"
    config.write_text(config.read_text() + "study: {seed: 7}\n")
    assert stale(study) == {
        "human_pairs": ["study_design"],
        "bradley_terry": ["study_design"],
        "human_judge_agreement": ["bradley_terry"],
    }


def test_a_bad_vote_fails_the_study_alone(study: Study) -> None:
    study.make(*HUMAN)
    before = study.table("bradley_terry", "bradley_terry")
    study.vote("BRIDGE,painter,writer,A\nBRIDGE,painter,nobody,A\n")
    with pytest.raises(ResultsError, match=r"ann.csv, row 2: system_b 'nobody' is not known"):
        study.make("bradley_terry")
    study.make("human_pairs")
    assert study.table("bradley_terry", "bradley_terry") == before


def test_the_export_gives_the_same_human_tables(study: Study) -> None:
    """What others compute from the exported results is what the graph has, the leaderboard's Elo included."""
    study.vote("BRIDGE,painter,writer,A\nLESSON,writer,painter,B\nBRIDGE,writer,painter,A\nLESSON,painter,writer,tie\n")
    study.make(*HUMAN, "leaderboard")
    _, folder = study.workspace().payload("results", None)
    config = study.workspace().benchmark.config
    again = score_everything(
        read_results(folder, require_all_runs=False),
        resamples=config.bootstrap,
        seed=config.seed,
        study_seed=config.study.seed,
    )
    for asset in ("bradley_terry", "human_judge_agreement"):
        for name in (
            name for name in HUMAN_TABLES if (study.workspace().payload(asset, None)[1] / f"{name}.md").is_file()
        ):
            assert again[name].to_dicts() == study.table(asset, name), name
    board = {row["system"]: row for row in study.table("leaderboard", "leaderboard")}
    assert again["leaderboard"].to_dicts() == list(board.values())
    rating = {row["system"]: row for row in study.table("bradley_terry", "bradley_terry")}
    for system, row in board.items():
        for column in ("elo", "elo_low", "elo_high", "rank", "rank_low", "rank_high", "reason"):
            assert row[f"human_{column}"] == rating[system][column]
    assert board["painter"]["human_elo"] > 1000 > board["writer"]["human_elo"]


def test_the_leaderboard_says_why_it_has_no_elo_and_outlives_bad_votes(study: Study) -> None:
    study.make("leaderboard")
    for row in study.table("leaderboard", "leaderboard"):
        assert (row["human_elo"], row["human_rank_low"], row["human_reason"]) == (None, None, "no votes")
    study.vote("BRIDGE,painter,writer,A\n")
    study.make("leaderboard")
    study.vote("BRIDGE,painter,nobody,A\n", "bo.csv")
    study.run("writer", "LESSON", 1)
    study.make("leaderboard")
    board = {row["system"]: row for row in study.table("leaderboard", "leaderboard")}
    assert board["writer"]["overall_nv0"] == 2.0, "(3 + 1) / 2: made anew, though a votes file cannot be read"
    assert board["painter"]["human_rank"] == 1, "the votes as they were last read"


def test_votes_on_a_video_that_is_gone_are_left_out_of_the_results(study: Study) -> None:
    study.vote("BRIDGE,painter,writer,A\nLESSON,painter,writer,A\n")
    study.run("writer", "LESSON", 3, delivered=False)
    study.make()
    manifest, folder = study.workspace().payload("results", None)
    assert pl.read_parquet(folder / "votes.parquet")["task"].to_list() == ["BRIDGE"]
    assert (manifest.summary["votes"], manifest.summary["votes on runs without a video"]) == (1, 1)


def test_one_dagster_step_makes_and_describes_the_study(study: Study) -> None:
    study.vote("BRIDGE,painter,writer,A\nLESSON,writer,painter,A\n")
    study.make()
    settings = Settings(study.root, None, study.home)
    definitions = build_definitions(settings)
    assert {"tables"} <= {sensor.name for sensor in definitions.sensors or []}
    with dg.DagsterInstance.ephemeral() as instance:
        result = definitions.resolve_job_def("make_human").execute_in_process(instance=instance)
        made = {m.asset_key.to_user_string(): m.metadata for m in result.asset_materializations_for_node("human")}
    assert set(made) == set(HUMAN)
    assert made["bradley_terry"]["systems rated"].value == 2
    assert "data:image/png" in str(made["bradley_terry"]["picture"].value)
    assert str(made["human_judge_agreement"]["human_metrics"].value).startswith("| Metric |")
    assert "painter" in str(made["human_pairs"]["design"].value)
