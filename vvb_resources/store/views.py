"""SQL over the store: DuckDB views of the current payloads, for people who would rather write SQL than Python.

`connect` walks the manifests once and gives an in-memory database. Its views read the payload files where they lie, so
nothing is copied and nothing in the store can be changed through them. Each row of a run's view carries the system, the
task and (for judgments) the panel of its artifact. docs/views.md lists views and columns.

What a view sees is the store as it was at `connect`: a payload that is made anew afterwards is gone from under the
view, and the query says so; connect again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from vvb_resources.errors import StoreError
from vvb_resources.store.artifacts import ArtifactStore, Manifest
from vvb_resources.store.home import Home

ARTIFACT_COLUMNS: Mapping[str, Any] = {
    "asset": pl.String,
    "panel": pl.String,
    "partition": pl.String,
    "system": pl.String,
    "task": pl.String,
    "data_version": pl.String,
    "code_version": pl.String,
    "made_at": pl.String,
    "seconds": pl.Float64,
    "payload": pl.String,
    "inputs": pl.String,
    "summary": pl.String,
}
_L1_CHECK = "STRUCT(applies BOOLEAN, verdict VARCHAR, measured JSON, required JSON, why VARCHAR)"


@dataclass(frozen=True)
class RunView:
    """A view over one file of each run's artifact.

    `asset` is the key, without the panel where `by_panel`; `columns` what the view has while nothing was made
    (name -> DuckDB type); what a file holds beyond them is shown as well.
    """

    name: str
    asset: str
    file: str
    by_panel: bool
    columns: Mapping[str, str]


_TEXT, _REAL, _FLAG = "VARCHAR", "DOUBLE", "BOOLEAN"
RUN_VIEWS = (
    RunView(
        "verdicts",
        "l2_verdicts",
        "verdicts.parquet",
        True,
        {"check": _TEXT, "core": _FLAG, "modality": _TEXT, "judge": _TEXT, "verdict": _TEXT, "start_s": _REAL}
        | {"end_s": _REAL, "channel": _TEXT, "reason": _TEXT, "reply_key": _TEXT},
    ),
    RunView(
        "scores",
        "l3_scores",
        "scores.parquet",
        True,
        {"dim": _TEXT, "judge": _TEXT, "score": "TINYINT", "reason": _TEXT, "strengths": _TEXT, "defects": _TEXT}
        | {"reply_key": _TEXT},
    ),
    RunView("runs", "run_scores", "runs.parquet", False, {"delivered": _FLAG, "spec_pass": _FLAG, "usd": _REAL}),
    RunView(
        "statistics",
        "run_scores",
        "statistics.parquet",
        False,
        {"panel": _TEXT, "delivered": _FLAG, "n_checks": "BIGINT", "strict": _FLAG, "run_overall": _REAL},
    ),
)


def connect(home: Home) -> duckdb.DuckDBPyConnection:
    """An in-memory database with a view for each kind of result in the store below `home`.

    Views: `artifacts` (a row a manifest), `verdicts`, `scores`, `runs`, `statistics` and `l1` (a row a check of a
    run), one for each table that was made (`leaderboard`, `per_panel`, ...), and those of the results format that
    describe the benchmark (`checks`, `tasks`, `systems`, `panels`). Views of runs exist, empty, before anything is
    made; tables do not. Raises StoreError when a manifest is unreadable.
    """
    store = ArtifactStore(home)
    manifests = list(store.every())
    connection = duckdb.connect(":memory:")
    connection.register("manifests_of_store", _artifact_rows(store, manifests).to_arrow())
    connection.execute(
        "CREATE TABLE artifacts AS SELECT * REPLACE (made_at::TIMESTAMPTZ AS made_at,"
        " inputs::JSON AS inputs, summary::JSON AS summary) FROM manifests_of_store"
    )
    connection.unregister("manifests_of_store")
    for view in RUN_VIEWS:
        _create_run_view(connection, store, view, manifests)
    _create_l1(connection, store, manifests)
    _create_tables(connection, store, manifests)
    return connection


def _artifact_rows(store: ArtifactStore, manifests: Sequence[Manifest]) -> pl.DataFrame:
    rows = []
    for manifest, payload in zip(manifests, store.payloads(manifests), strict=True):
        system, task = _run_of(manifest)
        rows.append(
            {
                "asset": manifest.asset,
                "panel": _panel_of(manifest),
                "partition": manifest.partition,
                "system": system,
                "task": task,
                "data_version": manifest.data_version,
                "code_version": manifest.code_version,
                "made_at": manifest.made_at,
                "seconds": float(manifest.seconds),
                "payload": payload,
                "inputs": json.dumps(dict(manifest.inputs), ensure_ascii=False),
                "summary": json.dumps(dict(manifest.summary), ensure_ascii=False),
            }
        )
    return pl.DataFrame(rows, schema=dict(ARTIFACT_COLUMNS))


def _panel_of(manifest: Manifest) -> str | None:
    """An asset of a panel's family has the panel's id before the slash."""
    return manifest.asset.split("/")[0] if "/" in manifest.asset else None


def _run_of(manifest: Manifest) -> tuple[str | None, str | None]:
    if manifest.partition is None or "|" not in manifest.partition:
        return None, None
    system, task = manifest.partition.split("|")
    return system, task


def _create_run_view(
    connection: duckdb.DuckDBPyConnection, store: ArtifactStore, view: RunView, manifests: Sequence[Manifest]
) -> None:
    keys = ("panel", "system", "task") if view.by_panel else ("system", "task")
    wanted = [
        m for m in manifests if m.partition and (m.asset.split("/")[-1] if view.by_panel else m.asset) == view.asset
    ]
    if not wanted:
        columns = {**dict.fromkeys(keys, _TEXT), **view.columns}
        _create_empty(connection, view.name, columns)
        return
    rows = _parquet(store, wanted, view.file)
    held = connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()
    doubled = [name for name, *_ in held if name in keys]  # a file of run_scores names its run itself
    chosen = ", ".join([*(f"run.{_name(key)}" for key in keys), f"row.* EXCLUDE ({', '.join(['filename', *doubled])})"])
    connection.execute(
        f"CREATE VIEW {_name(view.name)} AS SELECT {chosen} FROM {rows} AS row"
        f" JOIN artifacts AS run ON row.filename = run.payload || {_text('/' + view.file)}"
    )


def _create_l1(connection: duckdb.DuckDBPyConnection, store: ArtifactStore, manifests: Sequence[Manifest]) -> None:
    """A row a program check of a run, with what was measured and required; from the document of `l1_checks`."""
    checked = [m for m in manifests if m.asset == "l1_checks" and m.partition]
    files = [f"{payload}/checks.json" for payload in store.payloads(checked)]
    if not files:
        columns = {"system": _TEXT, "task": _TEXT, "check": _TEXT, "applies": _FLAG, "verdict": _TEXT}
        _create_empty(connection, "l1", {**columns, "measured": "JSON", "required": "JSON", "why": _TEXT})
        return
    read = (
        f"read_json({_list(files)}, format = 'unstructured', filename = true,"
        f" columns = {{'checks': {_text(f'MAP(VARCHAR, {_L1_CHECK})')}}})"
    )
    connection.execute(
        'CREATE VIEW l1 AS SELECT run.system, run.task, entry.key AS "check", entry.value.applies AS applies,'
        " entry.value.verdict AS verdict, entry.value.measured AS measured, entry.value.required AS required,"
        " entry.value.why AS why"
        f" FROM (SELECT filename, unnest(map_entries(checks)) AS entry FROM {read}) AS document"
        " JOIN artifacts AS run ON document.filename = run.payload || '/checks.json'"
    )


def _create_tables(connection: duckdb.DuckDBPyConnection, store: ArtifactStore, manifests: Sequence[Manifest]) -> None:
    """A view for each unpartitioned asset that holds a table of its own name, and what `results` says of the set."""
    taken = {"artifacts", "l1", *(view.name for view in RUN_VIEWS)}
    for manifest in manifests:
        if manifest.partition is not None:
            continue
        names = ("checks", "tasks", "systems", "panels") if manifest.asset == "results" else (manifest.asset,)
        for name in names:
            file = store.payload(manifest) / f"{name}.parquet"
            if name not in taken and "/" not in name and file.is_file():
                taken.add(name)
                connection.execute(f"CREATE VIEW {_name(name)} AS SELECT * FROM read_parquet({_list([str(file)])})")


def _create_empty(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, str]) -> None:
    chosen = ", ".join(f"NULL::{kind} AS {_name(column)}" for column, kind in columns.items())
    connection.execute(f"CREATE VIEW {_name(name)} AS SELECT {chosen} WHERE false")


def _parquet(store: ArtifactStore, manifests: Sequence[Manifest], file: str) -> str:
    """Rows of one file of each artifact.

    Those of one code version have the same columns, so that DuckDB looks at the first of them to learn which, and not
    at thousands each time; what an older code version lacks is null there.
    """
    files: dict[str, list[str]] = {}
    for manifest, payload in zip(manifests, store.payloads(manifests), strict=True):
        files.setdefault(manifest.code_version, []).append(f"{payload}/{file}")
    parts = [f"SELECT * FROM read_parquet({_list(each)}, filename = true)" for each in files.values()]
    return "(" + " UNION ALL BY NAME ".join(parts) + ")"


def _list(files: Sequence[str]) -> str:
    return "[" + ", ".join(_text(file) for file in files) + "]"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def query(home: Home, sql: str) -> pl.DataFrame:
    """The rows of one SELECT over the views of `connect`.

    Raises StoreError when `sql` is not exactly one query (statements that write are refused), or when it fails, with
    the reason in one line.
    """
    remedy = "SELECT view_name FROM duckdb_views() WHERE NOT internal lists the views; docs/views.md has their columns"
    with connect(home) as connection:
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise StoreError(
                    "is not one SELECT", where="the query", remedy="the store is read-only: give one SELECT"
                )
            rows: pl.DataFrame = connection.sql(sql).pl()
        except duckdb.Error as error:
            first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise StoreError(first.strip(), where="the query", remedy=remedy) from error
    return rows
