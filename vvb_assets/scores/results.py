"""Results: what runs, checks and judges left behind, as data frames in the results format.

The same shape is read from a folder (Parquet or CSV), built by the graph from its own artifacts, and written for
others. Every figure is computed from a validated `Results` and from nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import polars as pl

from vvb_assets.scores.consistency import check_consistency
from vvb_assets.scores.cube import VerdictCube
from vvb_assets.scores.schema import FORMAT, conform, conform_in_parts
from vvb_resources.errors import ResultsError
from vvb_resources.store.atomic import write_parquet, write_text
from vvb_resources.store.tables import scan_csv, scan_parquet

PART_ROWS = 8_000_000  # verdict rows typed at once: 72 MB


@dataclass(frozen=True)
class Results:
    """Frames of the results format; columns are in `schema.FORMAT`, absent optional frames are None.

    After `validate` the ids are Enums that all frames share (one category order, so they join on integers), `verdict`,
    `dim` and `choice` are Enums of their sets, `score` and `usd` floats, `checks.modality` is there if given, and
    `cube` holds the verdicts as an array (scores/cube.py). After `read_results(..., keep_verdicts=False)` it alone
    does: `verdicts` has its types and no row, which is all that figures need.
    """

    checks: pl.DataFrame
    runs: pl.DataFrame
    verdicts: pl.DataFrame
    scores: pl.DataFrame
    tasks: pl.DataFrame | None = None
    systems: pl.DataFrame | None = None
    panels: pl.DataFrame | None = None
    l1: pl.DataFrame | None = None
    votes: pl.DataFrame | None = None
    cube: VerdictCube | None = field(default=None, repr=False, compare=False)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames that are there, by name. Raises ResultsError when the rows of `verdicts` were not kept."""
        if self.cube is not None and self.cube.verdicts is self.verdicts and self.cube.rows != len(self.verdicts):
            raise ResultsError(
                "the verdicts were read for their counts only", remedy="read_results(..., keep_verdicts=True)"
            )
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "cube"}
        return {name: frame for name, frame in found.items() if frame is not None}

    def validate(self, *, require_all_runs: bool = True) -> Results:
        """Check every rule of the format and return the typed frames.

        `require_all_runs=False` allows a (system, task) pair without a run row: a run not made yet, which the tables
        show as missing. Results made elsewhere must be whole. Raises ResultsError with frame, row and reason.
        """
        lazy = {name: frame.lazy() for name, frame in self.frames().items()}
        return _conform_all(lazy, {name: name for name in lazy}, require_all_runs, True)

    @property
    def task_ids(self) -> list[str]:
        """Every task of the benchmark, in the order of `tasks`, else of first appearance in checks and runs."""
        frames = {"tasks": self.tasks, "checks": self.checks, "runs": self.runs}
        return _known(frames, "tasks", "task", (("checks", "task"), ("runs", "task")))

    @property
    def system_ids(self) -> list[str]:
        """Every system, in the order of `systems`, else of first appearance in runs."""
        return _known({"systems": self.systems, "runs": self.runs}, "systems", "system", (("runs", "system"),))

    @property
    def panel_ids(self) -> list[str]:
        """Every panel: those of `panels`, else those that verdicts or scores name, in name order."""
        if self.panels is not None:
            return _known({"panels": self.panels}, "panels", "panel", ())
        named = self.verdicts.schema["panel"]
        if isinstance(named, pl.Enum) and named == self.scores.schema["panel"]:
            return named.categories.to_list()  # validated: the Enum holds the panels that occur, and rows are many
        return sorted(_known(self.frames(), "panels", "panel", (("verdicts", "panel"), ("scores", "panel"))))


def read_results(folder: Path, *, require_all_runs: bool = True, keep_verdicts: bool = True) -> Results:
    """Read and validate a results folder: `<name>.parquet` or `<name>.csv` for each file of the format.

    `keep_verdicts=False` keeps the array of the verdicts and not their rows (9 bytes each): enough for every figure.
    Other files are ignored. Raises ResultsError naming file, row and reason; the first fault found is reported.
    """
    if not folder.is_dir():
        raise ResultsError(
            "is not a folder", where=str(folder), remedy="give the folder that holds verdicts, runs, ..."
        )
    lazy: dict[str, pl.LazyFrame] = {}
    sources: dict[str, str] = {}
    for name, spec in FORMAT.items():
        found = [
            folder / f"{name}.{ending}" for ending in ("parquet", "csv") if (folder / f"{name}.{ending}").is_file()
        ]
        if len(found) > 1:
            raise ResultsError(
                f"both {found[0].name} and {found[1].name} are there", where=str(folder), remedy="keep one"
            )
        if found:
            sources[name] = found[0].name
            lazy[name] = _scan(found[0])
        elif spec.required:
            raise ResultsError(f"{name}.parquet or {name}.csv is missing", where=str(folder), remedy="add it")
    return _conform_all(lazy, sources, require_all_runs, keep_verdicts)


def write_results(results: Results, folder: Path, *, csv: bool = False) -> list[Path]:
    """Write each frame as Parquet (or CSV) below `folder`, durably; lists become '|'-joined text in CSV.

    Returns the files written. `read_results` gives the same results back.
    """
    written = []
    for name, frame in results.frames().items():
        plain = frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
        path = folder / f"{name}.{'csv' if csv else 'parquet'}"
        if csv:
            write_text(path, plain.with_columns(pl.col(pl.List(pl.String)).list.join("|")).write_csv())
        else:
            write_parquet(path, plain)
        written.append(path)
    return written


def _scan(path: Path) -> pl.LazyFrame:
    if path.suffix == ".parquet":
        return scan_parquet(path)
    if path.stat().st_size == 0:
        raise ResultsError("the file is empty", where=path.name, remedy="write at least its header line")
    return scan_csv(path)  # ids such as 007 stay text


def _conform_all(
    lazy: Mapping[str, pl.LazyFrame], sources: Mapping[str, str], require_all_runs: bool, keep_verdicts: bool
) -> Results:
    ids = _id_sets(lazy, sources)
    frames = {name: conform(name, raw, ids, sources[name]) for name, raw in lazy.items() if name != "verdicts"}
    for frame_name, key in (("tasks", "task"), ("systems", "system"), ("panels", "panel"), ("checks", "check")):
        if frame_name in frames:
            frames[frame_name] = frames[frame_name].with_columns(pl.col(key).cast(ids[key]))
    if "votes" in frames and "vote" not in frames["votes"].columns:
        numbers = pl.int_range(1, pl.len() + 1).cast(pl.String).alias("vote")
        frames["votes"] = frames["votes"].select(numbers, pl.all())

    def verdicts() -> Iterator[pl.DataFrame]:
        return conform_in_parts("verdicts", lazy["verdicts"], ids, sources["verdicts"], PART_ROWS)

    frames["scores"], frames["verdicts"], cube = check_consistency(
        frames, verdicts, sources, require_all_runs=require_all_runs, keep_verdicts=keep_verdicts
    )
    return Results(**frames, cube=cube)


def _id_sets(lazy: Mapping[str, pl.LazyFrame], sources: Mapping[str, str]) -> dict[str, pl.Enum]:
    """The known ids of tasks, systems, panels and checks, as the Enums that all frames will share."""
    small: dict[str, pl.DataFrame] = {}
    for frame_name, columns in (
        ("tasks", ["task"]),
        ("systems", ["system"]),
        ("panels", ["panel"]),
        ("checks", ["task", "check"]),
        ("runs", ["system", "task"]),
        ("verdicts", ["panel"]),
        ("scores", ["panel"]),
    ):
        if frame_name not in lazy:
            continue
        parts = [_distinct(lazy[frame_name], c, frame_name, sources) for c in columns]
        small.update({f"{frame_name}.{c}": part for c, part in zip(columns, parts, strict=True)})

    def gather(defining: str, others: tuple[str, ...]) -> pl.Enum:
        names = (defining,) if defining in small else others
        values = [v for name in names if name in small for v in small[name].to_series().to_list()]
        return pl.Enum(list(dict.fromkeys(values)))

    panels = gather("panels.panel", ("verdicts.panel", "scores.panel"))
    return {
        "task": gather("tasks.task", ("checks.task", "runs.task")),
        "system": gather("systems.system", ("runs.system",)),
        "panel": panels if "panels.panel" in small else pl.Enum(sorted(panels.categories.to_list())),
        "check": gather("checks.check", ()),
    }


def _distinct(raw: pl.LazyFrame, column: str, name: str, sources: Mapping[str, str]) -> pl.DataFrame:
    """Distinct non-empty values of a column, in order of appearance; empty if the column is missing (told later)."""
    text = pl.col(column).cast(pl.String)
    try:
        if column not in raw.collect_schema():
            return pl.DataFrame({column: []}, schema={column: pl.String})
        distinct = raw.select(text).filter(text.str.len_chars() > 0).unique(maintain_order=True)
        return distinct.collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ResultsError(
            f"cannot be read: {reason}", where=sources[name], remedy="write it as Parquet or UTF-8 CSV"
        ) from error


def _known(
    frames: Mapping[str, pl.DataFrame | None], defining: str, key: str, others: tuple[tuple[str, str], ...]
) -> list[str]:
    places = ((defining, key),) if frames.get(defining) is not None else others
    columns = [frame[c] for name, c in places if (frame := frames.get(name)) is not None]
    values = [v for column in columns for v in column.unique(maintain_order=True).cast(pl.String).to_list()]
    return list(dict.fromkeys(values))
