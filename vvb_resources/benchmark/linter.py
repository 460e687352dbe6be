"""The linter: a benchmark folder against its format and the authoring rules (VibeVideoBench, appendix B)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vvb_resources.benchmark.files import MAX_TEXT_BYTES, relative_name
from vvb_resources.benchmark.folder import Folder, ReadTask, read_folder
from vvb_resources.benchmark.problems import Problem, sorted_problems
from vvb_resources.benchmark.quoting import QuotableText
from vvb_resources.benchmark.rules_config import config_rules
from vvb_resources.benchmark.rules_rubric import RubricContext, rubric_rules
from vvb_resources.benchmark.rules_task import task_rules
from vvb_resources.benchmark.votes import vote_faults

TEXT_ASSETS = frozenset(
    {".md", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml", ".srt", ".vtt", ".svg", ".tex"}
)


def lint(root: Path, panels_dir: Path | None = None) -> list[Problem]:
    """Every problem of the benchmark folder `root`, by file and line; [] if it is clean.

    What the loader refuses comes first in importance but not in order; a part that cannot be read is not judged
    further, so that one mistake gives one line.
    """
    folder = read_folder(root, panels_dir)
    return sorted_problems([*folder.problems, *_authoring(folder)])


def _authoring(folder: Folder) -> Iterator[Problem]:
    yield from config_rules(folder)
    yield from _votes(folder)
    for task in folder.tasks.values():
        yield from task_rules(task, relative_name(folder.root, task.folder / "prompt.md"))
        texts = quotable(folder.root, task)
        # Without the prompt or the spec every quote would seem false: their own problems are enough.
        if task.rubric and task.rubric_source and task.prompt is not None and task.spec_source:
            yield from rubric_rules(RubricContext(task.rubric, task.rubric_source, texts, task.spec))


def _votes(folder: Folder) -> Iterator[Problem]:
    """Rows of the human study that the format or the benchmark's ids refuse; a CSV's header is line 1."""
    for path in folder.votes:
        name = relative_name(folder.root, path)
        for fault in vote_faults(path, folder.tasks, folder.systems):
            if fault.row is None:
                yield Problem(name, None, fault.what, fault.remedy)
            else:
                line = fault.row + 1 if path.suffix == ".csv" else None
                yield Problem(name, line, f"row {fault.row}: {fault.what}", fault.remedy)


def quotable(root: Path, task: ReadTask) -> list[QuotableText]:
    """The texts a basis may quote, the prompt first: prompt.md, task.yaml, and text assets up to 2 MiB."""
    texts = [QuotableText(relative_name(root, task.folder / "prompt.md"), task.prompt or "")]
    if task.spec_source:
        texts.append(QuotableText(task.spec_source.name, task.spec_source.text))
    for path in task.assets:
        if path.suffix.lower() not in TEXT_ASSETS or path.stat().st_size > MAX_TEXT_BYTES:
            continue
        # An asset need not be UTF-8; what is not simply cannot be quoted.
        texts.append(QuotableText(relative_name(root, path), path.read_text(encoding="utf-8-sig", errors="replace")))
    return texts
