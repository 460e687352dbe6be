"""Reading a whole benchmark folder: everything that can be used, beside every structural problem.

`read_folder` never stops at the first fault. The loader raises what it found; the linter goes on from what it could
read. Two ids that differ only in case would share a folder on some file systems: they are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

from pydantic import BaseModel

from vvb_resources.benchmark.files import JUNK, Refused, collect, leaves, read_text, relative_name
from vvb_resources.benchmark.models import BenchmarkConfig, PanelConfig, PriceList, Rubric, SystemConfig, TaskSpec
from vvb_resources.benchmark.problems import Problem
from vvb_resources.benchmark.validate import parse
from vvb_resources.benchmark.votes import ENDINGS as VOTE_ENDINGS
from vvb_resources.benchmark.yaml_source import YamlSource, read_yaml

M = TypeVar("M", bound=BaseModel)

# A panel's id is the key prefix of its assets; these are keys of the graph already.
RESERVED_PANEL_IDS = frozenset(
    {
        "task_spec",
        "rubric",
        "rollout",
        "l1_measurements",
        "l1_checks",
        "blinded_media",
        "run_scores",
        "study_design",
        "human_pairs",
        "human_votes",
        "bradley_terry",
        "human_judge_agreement",
        "leaderboard",
        "tables",
    }
)

# A supplied file named in a prompt: `inputs/data.csv`, or the same behind assets/. In back quotes any name will do.
_QUOTED_INPUT = re.compile(r"`(?:\./)?(?:inputs|assets)/([^`\n]+)`")
_BARE_INPUT = re.compile(r"(?<![\w/.`-])(?:\./)?(?:inputs|assets)/([A-Za-z0-9_.\-/]*[A-Za-z0-9_])")


@dataclass(frozen=True)
class ReadTask:
    """What could be read of tasks/<id>/; None where the file is missing or broken."""

    id: str
    folder: Path
    spec: TaskSpec | None
    spec_source: YamlSource | None
    prompt: str | None
    rubric: Rubric | None
    rubric_source: YamlSource | None
    assets: tuple[Path, ...]


@dataclass
class Folder:
    """What could be read of a benchmark folder. Sources are by file name relative to the root."""

    root: Path
    config: BenchmarkConfig | None = None
    tasks: dict[str, ReadTask] = field(default_factory=dict)
    systems: dict[str, SystemConfig] = field(default_factory=dict)
    panels: dict[str, PanelConfig] = field(default_factory=dict)
    prices: tuple[PriceList, ...] = ()
    panel_prices: tuple[PriceList, ...] = ()  # of the folder that the panels come from, where that is another one
    votes: tuple[Path, ...] = ()
    sources: dict[str, YamlSource] = field(default_factory=dict)
    files: dict[tuple[str, str], str] = field(default_factory=dict)  # ("systems", id) -> file name
    problems: list[Problem] = field(default_factory=list)

    @property
    def newest_prices(self) -> PriceList | None:
        """The price list with the latest date; None where there is none.

        With the panels of another benchmark folder, that folder's newest list fills in the models which the
        benchmark's own does not name.
        """
        own, other = (
            max(lists, key=lambda prices: prices.date, default=None) for lists in (self.prices, self.panel_prices)
        )
        if own is None or other is None:
            return own or other
        return own.model_copy(update={"models": {**other.models, **own.models}})

    def attempt(self, path: Path, model: type[M], within: Path | None = None) -> tuple[M | None, YamlSource | None]:
        """Read and validate one YAML file; what is wrong goes to `problems`."""
        try:
            source = read_yaml(self.root, path, within)
        except Refused as refused:
            self.problems += refused.problems
            return None, None
        self.sources[source.name] = source
        try:
            return parse(source, model), source
        except Refused as refused:
            self.problems += refused.problems
            return None, source


def read_folder(root: Path, panels_dir: Path | None = None) -> Folder:
    """Read the benchmark at `root`, with the panels of `panels_dir` in place of its own if given."""
    root = root.absolute()
    folder = Folder(root)
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "the benchmark folder does not exist"
        folder.problems.append(Problem(".", None, what, "give the folder that holds benchmark.yaml"))
        return folder
    try:
        _read_all(folder, panels_dir)
    except OSError as error:  # a folder that may not be listed; single files are handled where they are read
        name = relative_name(root, Path(error.filename or root))
        folder.problems.append(Problem(name, None, f"cannot be read ({error.strerror})", "check its permissions"))
    return folder


def _read_all(folder: Folder, panels_dir: Path | None) -> None:
    root = folder.root
    folder.config, _ = folder.attempt(root / "benchmark.yaml", BenchmarkConfig)
    _read_tasks(folder)
    folder.systems = _read_entries(folder, root / "systems", SystemConfig, "system", lambda system: system.id)
    for system_id, system in folder.systems.items():
        _agent_files(folder, folder.sources[folder.files["system", system_id]], system)
    if panels_dir is not None and not panels_dir.is_dir():
        folder.problems.append(
            Problem(str(panels_dir), None, "the panels folder does not exist", "give another folder")
        )
    else:
        where = panels_dir.absolute() if panels_dir else root / "panels"
        folder.panels = _read_entries(folder, where, PanelConfig, "panel", lambda panel: panel.id)
    for panel_id in folder.panels:
        if panel_id in RESERVED_PANEL_IDS:
            source = folder.sources[folder.files["panel", panel_id]]
            folder.problems.append(
                source.problem(("id",), f"the panel id {panel_id!r} is a key of the graph", "choose another id")
            )
    folder.prices = _read_prices(folder, root / "prices")
    beside = panels_dir.absolute().parent if panels_dir else root
    if beside != root:
        folder.panel_prices = _read_prices(folder, beside / "prices")
    _find_votes(folder)


def _yaml_files(folder: Folder, where: Path) -> Iterator[Path]:
    """The *.yaml files of a folder in name order; a folder that is not there is empty."""
    if not where.is_dir():
        return
    if where.is_symlink() and leaves(folder.root, where):
        name = relative_name(folder.root, where)
        folder.problems.append(Problem(name, None, "is a link that leaves the folder", "put the files into the folder"))
        return
    for path in sorted(where.iterdir()):
        if path.suffix == ".yml":
            name = relative_name(folder.root, path)
            folder.problems.append(Problem(name, None, "is not read: its name ends in .yml", "rename it to .yaml"))
        elif path.suffix == ".yaml" and not path.name.startswith("."):
            yield path


def _read_entries(folder: Folder, where: Path, model: type[M], kind: str, id_of: Callable[[M], str]) -> dict[str, M]:
    """systems/*.yaml or panels/*.yaml by id, sorted; each file is named after its id."""
    read: list[tuple[bool, str, M, YamlSource]] = []
    within = folder.root if where.is_relative_to(folder.root) else where
    for path in _yaml_files(folder, where):
        entry, source = folder.attempt(path, model, within)
        if entry is not None and source is not None:
            read.append((path.stem != id_of(entry), path.stem, entry, source))
    found: dict[str, M] = {}
    for _, stem, entry, source in sorted(
        read, key=lambda item: item[:2]
    ):  # the rightly named first: they keep their id
        if _claim(folder, kind, id_of(entry), source, stem):
            found[id_of(entry)] = entry
    return dict(sorted(found.items()))


def _claim(folder: Folder, kind: str, entry_id: str, source: YamlSource, stem: str) -> bool:
    """Register an id; report a repeated, nearly repeated or misplaced one. False: the id is taken."""
    for (other_kind, other_id), file in folder.files.items():
        if other_kind == kind and other_id.casefold() == entry_id.casefold():
            how = "is also the id of" if other_id == entry_id else f"differs only in case from {other_id!r} of"
            folder.problems.append(
                source.problem(("id",), f"the {kind} id {entry_id!r} {how} {file}", "choose another id")
            )
            return False
    folder.files[kind, entry_id] = source.name
    if stem != entry_id:
        folder.problems.append(
            source.problem(
                ("id",),
                f"the {kind} id {entry_id!r} differs from its name {stem!r}",
                f"write `id: {stem}`, or rename it",
            )
        )
    return True


def _read_tasks(folder: Folder) -> None:
    where = folder.root / "tasks"
    if not where.is_dir():
        return
    read: list[ReadTask] = []
    for path in sorted(where.iterdir()):
        if path.name.startswith(".") or not path.is_dir():
            continue
        if path.is_symlink() and leaves(folder.root, path):
            name = relative_name(folder.root, path)
            folder.problems.append(
                Problem(name, None, "is a link that leaves the folder", "copy the task's folder here")
            )
            continue
        read.append(_read_task(folder, path))
    for task in sorted(read, key=lambda task: (task.id != task.folder.name, task.folder.name)):
        if task.spec is None or task.spec_source is None:
            folder.tasks[f"{task.folder.name}/"] = task  # kept for the linter under a key no id can have
        elif _claim(folder, "task", task.id, task.spec_source, task.folder.name):
            folder.tasks[task.id] = task
    folder.tasks = dict(sorted(folder.tasks.items()))


def _read_task(folder: Folder, path: Path) -> ReadTask:
    spec, spec_source = folder.attempt(path / "task.yaml", TaskSpec)
    rubric, rubric_source = folder.attempt(path / "rubric.yaml", Rubric)
    prompt: str | None = None
    prompt_name = relative_name(folder.root, path / "prompt.md")
    try:
        prompt = read_text(folder.root, path / "prompt.md")
    except Refused as refused:
        folder.problems += refused.problems
    if prompt is not None and not prompt.strip():
        folder.problems.append(Problem(prompt_name, None, "the prompt is empty", "write the task's specification"))
        prompt = None
    assets = path / "assets"
    files: tuple[Path, ...] = ()
    if assets.is_symlink() and leaves(folder.root, assets):
        name = relative_name(folder.root, assets)
        folder.problems.append(
            Problem(name, None, "is a link that leaves the folder", "copy the files into the folder")
        )
    elif assets.is_dir():
        files = collect(folder.root, assets, folder.problems)
    elif assets.exists():
        name = relative_name(folder.root, assets)
        folder.problems.append(Problem(name, None, "is not a folder", "put the task's files into a folder assets/"))
    if prompt is not None:
        folder.problems += _inputs_named(prompt, prompt_name, path / "assets", files)
    task_id = spec.id if spec else path.name
    return ReadTask(task_id, path.absolute(), spec, spec_source, prompt, rubric, rubric_source, files)


def _inputs_named(prompt: str, name: str, assets: Path, files: tuple[Path, ...]) -> Iterator[Problem]:
    """Files a prompt promises under inputs/ (or assets/) that the task does not supply."""
    have = {file.relative_to(assets.absolute()).as_posix() for file in files}
    told: set[str] = set()
    for place, line in enumerate(prompt.splitlines(), start=1):
        for pattern in (_QUOTED_INPUT, _BARE_INPUT):
            for match in pattern.finditer(line):
                wanted = match.group(1).strip().rstrip("/")
                parts = PurePosixPath(wanted).parts
                if wanted in told or not parts:
                    continue
                if ".." in parts:
                    told.add(wanted)
                    yield Problem(
                        name, place, f"the input {wanted!r} leaves the assets folder", "name a file below assets/"
                    )
                elif "." in parts[-1] and not any(c in wanted for c in "*<{") and wanted not in have:
                    told.add(wanted)
                    yield Problem(
                        name, place, f"the input {wanted!r} is not among the task's assets", f"add assets/{wanted}"
                    )


def _agent_files(folder: Folder, source: YamlSource, system: SystemConfig) -> None:
    """Report agent entries that are missing, leave the benchmark folder or share a name."""
    names: dict[str, str] = {}
    for place, entry in enumerate(system.agent):
        path, where = folder.root / entry, ("agent", place)
        if Path(entry).is_absolute() or ".." in Path(entry).parts or leaves(folder.root, path):
            remedy = "put the agent's files into the benchmark folder"
            folder.problems.append(source.problem(where, f"the agent path {entry!r} leaves the folder", remedy))
        elif not path.exists():
            remedy = "add it, or mend the path (it is relative to the benchmark folder)"
            folder.problems.append(source.problem(where, f"the agent path {entry!r} does not exist", remedy))
        elif path.name in names:
            remedy = "rename one of the two"
            what = f"the agent path {entry!r} has the same name as {names[path.name]!r}"
            folder.problems.append(source.problem(where, what, remedy))
        elif path.is_dir():
            collect(folder.root, path, folder.problems)
        names.setdefault(path.name, entry)


def _read_prices(folder: Folder, where: Path) -> tuple[PriceList, ...]:
    """The price lists of prices/*.yaml; two of one date are a problem."""
    lists: dict[str, tuple[PriceList, str]] = {}
    within = folder.root if where.is_relative_to(folder.root) else where
    for path in _yaml_files(folder, where):
        prices, source = folder.attempt(path, PriceList, within)
        if prices is None or source is None:
            continue
        day = prices.date.isoformat()
        if day in lists:
            what = f"the date {day} is also that of {lists[day][1]}"
            folder.problems.append(source.problem(("date",), what, "merge the two, or mend the date"))
            continue
        lists[day] = (prices, source.name)
        folder.files["prices", day] = source.name
    return tuple(prices for prices, _ in lists.values())


def _find_votes(folder: Folder) -> None:
    """List votes/*.csv and *.parquet; what is in them is read by the linter and where votes are imported."""
    where = folder.root / "votes"
    if not where.is_dir():
        return
    files: list[Path] = []
    stems: dict[str, str] = {}
    for path in sorted(where.iterdir()):
        name = relative_name(folder.root, path)
        if path.name.startswith(".") or path.name in JUNK or path.suffix in {".md", ".txt"}:
            continue
        if leaves(folder.root, path):
            remedy = "put the file itself into the folder"
            folder.problems.append(Problem(name, None, "is a link that leaves the folder", remedy))
        elif path.suffix not in VOTE_ENDINGS or not path.is_file():
            folder.problems.append(Problem(name, None, "is no votes file", "save votes as .csv or .parquet"))
        elif path.stem in stems:
            what = f"has the same name as {stems[path.stem]}: votes are named after their file"
            folder.problems.append(Problem(name, None, what, "rename it, or remove the copy"))
        else:
            stems[path.stem] = path.name
            files.append(path)
    folder.votes = tuple(files)
