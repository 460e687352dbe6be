"""SQL views against what polars reads from a small store written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from click.testing import CliRunner

from vvb_assets.panels.reading import SCORE_SCHEMA, VERDICT_SCHEMA
from vvb_resources.errors import StoreError
from vvb_resources.store.artifacts import ArtifactStore
from vvb_resources.store.atomic import write_json, write_parquet
from vvb_resources.store.home import Home
from vvb_resources.store.views import RUN_VIEWS, connect, query

# (panel, system, task) -> verdicts of checks V01, V02
VERDICTS = {
    ("J1", "up", "t1"): ("pass", "fail"),
    ("J1", "down", "t1"): ("unknown", "pass"),
    ("J2", "up", "t1"): ("pass", "pass"),
}


def put(
    store: ArtifactStore, asset: str, partition: str | None, files: dict[str, Any], version: str = "v1", code: str = "1"
) -> Path:
    """Commit an artifact whose files are frames (Parquet) or JSON values; return its payload folder."""
    with store.staging(asset, partition) as out:
        for name, content in files.items():
            if isinstance(content, pl.DataFrame):
                write_parquet(out / name, content)
            else:
                write_json(out / name, content)
        manifest = store.commit(
            out,
            asset=asset,
            partition=partition,
            data_version=version,
            code_version=code,
            inputs={"rubric": "r1"},
            seconds=1.5,
            summary={"pass": 1},
            checks={},
            keep_old=False,
        )
    return store.payload(manifest)


def verdict_frame(verdicts: tuple[str, ...]) -> pl.DataFrame:
    rows = [
        {"check": f"V0{n}", "core": n == 1, "modality": "visual", "judge": "eye", "verdict": verdict, "start_s": n / 2}
        for n, verdict in enumerate(verdicts, start=1)
    ]
    return pl.DataFrame(rows, schema=VERDICT_SCHEMA)


def l1_document(frames: str) -> dict[str, Any]:
    fps = {"applies": True, "verdict": "pass", "measured": 30.0, "required": "30", "why": ""}
    counted = {"applies": False, "verdict": frames, "measured": {"frames": 419}, "required": None, "why": "one short"}
    return {"checks": {"fps": fps, "frames": counted}, "delivered": True, "passed": True}


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    """Two panels, two systems and one task, below a folder whose name is awkward in SQL and in globs."""
    store = ArtifactStore(Home(tmp_path / "it's [1] *home*", "bench"))
    for (panel, system, task), verdicts in VERDICTS.items():
        put(store, f"{panel}/l2_verdicts", f"{system}|{task}", {"verdicts.parquet": verdict_frame(verdicts)})
    scores = pl.DataFrame(
        {"dim": ["VQ", "AQ"], "judge": ["eye"] * 2, "score": [4, None]}, schema_overrides=SCORE_SCHEMA
    )
    put(store, "J1/l3_scores", "up|t1", {"scores.parquet": scores})
    for system, verdict in (("up", "pass"), ("down", "fail")):
        put(store, "l1_checks", f"{system}|t1", {"checks.json": l1_document(verdict)})
        run = {"system": [system], "task": ["t1"], "delivered": [True], "spec_pass": [verdict == "pass"], "usd": [2.5]}
        statistics = {"panel": ["J1", "J2"], "system": [system] * 2, "task": ["t1"] * 2, "run_overall": [4.0, 3.0]}
        frames = {"runs.parquet": pl.DataFrame(run), "statistics.parquet": pl.DataFrame(statistics)}
        put(store, "run_scores", f"{system}|t1", frames)
    put(store, "results", None, {"tasks.parquet": pl.DataFrame({"task": ["t1"], "category": ["C04"]})})
    put(store, "leaderboard", None, {"leaderboard.parquet": pl.DataFrame({"rank": [1, 2], "system": ["up", "down"]})})
    put(store, "rubric", "t1", {"content.json": {"id": "t1"}})
    return store


def test_verdicts_equal_the_files_that_polars_reads(store: ArtifactStore) -> None:
    by_hand = []
    for panel, system, task in VERDICTS:
        manifest = store.load(f"{panel}/l2_verdicts", f"{system}|{task}")
        assert manifest is not None
        frame = pl.read_parquet(store.payload(manifest) / "verdicts.parquet", glob=False)
        run = [pl.lit(panel).alias("panel"), pl.lit(system).alias("system"), pl.lit(task).alias("task")]
        by_hand.append(frame.select(*run, *frame.columns))
    keys = ["panel", "system", "task", "check"]
    found = query(store.home, "SELECT * FROM verdicts")
    assert found.sort(keys).equals(pl.concat(by_hand).sort(keys))
    counted = query(store.home, "SELECT panel, count(*) AS n FROM verdicts WHERE verdict = 'pass' GROUP BY ALL")
    assert dict(counted.iter_rows()) == {"J1": 2, "J2": 2}


def test_every_view_carries_the_run(store: ArtifactStore) -> None:
    def rows(sql: str) -> list[tuple[Any, ...]]:
        return query(store.home, sql).rows()

    assert rows("SELECT panel, system, task, dim, score FROM scores ORDER BY dim") == [
        ("J1", "up", "t1", "AQ", None),
        ("J1", "up", "t1", "VQ", 4),
    ]
    assert rows("SELECT * FROM runs ORDER BY system") == [
        ("down", "t1", True, False, 2.5),
        ("up", "t1", True, True, 2.5),
    ]
    assert rows("SELECT system, avg(run_overall) FROM statistics GROUP BY ALL ORDER BY ALL") == [
        ("down", 3.5),
        ("up", 3.5),
    ]
    assert rows('SELECT system, "check", applies, verdict, measured, why FROM l1 ORDER BY ALL') == [
        ("down", "fps", True, "pass", "30.0", ""),
        ("down", "frames", False, "fail", '{"frames":419}', "one short"),
        ("up", "fps", True, "pass", "30.0", ""),
        ("up", "frames", False, "pass", '{"frames":419}', "one short"),
    ]
    assert rows("SELECT system FROM leaderboard ORDER BY rank") == [("up",), ("down",)]
    assert rows("SELECT category, count(*) FROM verdicts JOIN tasks USING (task) GROUP BY ALL") == [("C04", 6)]


def test_artifacts_lists_every_manifest(store: ArtifactStore) -> None:
    found = query(store.home, "SELECT asset, panel, system, task FROM artifacts ORDER BY ALL").rows()
    assert len(found) == 3 + 1 + 2 * 2 + 2 + 1
    assert ("J1/l2_verdicts", "J1", "down", "t1") in found
    assert ("rubric", None, None, None) in found
    recorded = query(store.home, "SELECT DISTINCT inputs->>'rubric', summary->>'pass', seconds FROM artifacts")
    assert recorded.rows() == [("r1", "1", 1.5)]


def test_only_the_current_payload_is_seen(store: ArtifactStore) -> None:
    put(store, "J2/l2_verdicts", "up|t1", {"verdicts.parquet": verdict_frame(("fail", "fail"))}, version="v2")
    found = query(store.home, "SELECT verdict FROM verdicts WHERE panel = 'J2'")
    assert found["verdict"].to_list() == ["fail", "fail"]


def test_columns_that_an_older_file_lacks_are_null_there(store: ArtifactStore) -> None:
    older = verdict_frame(("na",)).drop("reply_key")
    put(store, "J3/l2_verdicts", "up|t1", {"verdicts.parquet": older}, code="0")
    found = query(store.home, "SELECT verdict, reply_key FROM verdicts WHERE panel = 'J3'")
    assert found.rows() == [("na", None)]
    assert query(store.home, "SELECT count(*) FROM verdicts").item() == 7


def test_a_manifest_planted_in_a_delivery_is_no_artifact(store: ArtifactStore) -> None:
    payload = put(store, "rollout", "up|t1", {"record.json": {}})
    write_json(payload / "delivery" / "artifact.json", {"asset": "leaderboard"})
    assert query(store.home, "SELECT count(*) FROM artifacts").item() == 12


def test_an_empty_store_has_its_views(tmp_path: Path) -> None:
    home = Home(tmp_path, "none")
    for name in ("artifacts", "l1", *(view.name for view in RUN_VIEWS)):
        assert query(home, f"SELECT count(*) FROM {name}").item() == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("DELETE FROM artifacts", "is not one SELECT"),
        ("COPY (SELECT 1) TO 'x.csv'", "is not one SELECT"),
        ("SELECT 1; DROP VIEW verdicts", "is not one SELECT"),
        ("", "is not one SELECT"),
        ("SELECT nope FROM verdicts", '"nope" not found'),
        ("SELEC 1", "syntax error"),
    ],
)
def test_what_is_no_query_is_refused_in_one_line(store: ArtifactStore, sql: str, why: str) -> None:
    with pytest.raises(StoreError) as caught:
        query(store.home, sql)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_views_cannot_be_written_to(store: ArtifactStore) -> None:
    with connect(store.home) as connection, pytest.raises(duckdb.Error):
        connection.execute("DELETE FROM verdicts")


def test_the_command_prints_rows(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from vvb_assets.cli import cli

    monkeypatch.setenv("VVB_HOME", str(store.home.root))
    benchmark = Path(__file__).parents[1] / "data" / "benchmark" / "small"
    put(
        ArtifactStore(Home(store.home.root, "small")),
        "leaderboard",
        None,
        {"leaderboard.parquet": pl.DataFrame({"n": [7]})},
    )
    arguments = ["sql", "SELECT n FROM leaderboard", "--benchmark", str(benchmark)]
    shown = CliRunner().invoke(cli, [*arguments, "--format", "csv"], catch_exceptions=False)
    assert shown.output == "n\n7\n"
    as_json = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    assert as_json.output == '{\n "rows": [\n  {\n   "n": 7\n  }\n ]\n}\n'
