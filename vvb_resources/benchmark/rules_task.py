"""Authoring rules of a task's spec and prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vvb_resources.benchmark.folder import ReadTask
from vvb_resources.benchmark.models import Rubric, TaskSpec
from vvb_resources.benchmark.problems import Problem
from vvb_resources.benchmark.quoting import words
from vvb_resources.benchmark.yaml_source import YamlSource

MIN_PROMPT_WORDS = 40
_TRACES = re.compile(
    r"\b(?:TODO|FIXME|TBD|XXX)\b|\b[Rr]eviewers?\b|\b[Rr]ubrics?\b|\b[Cc]heck ids?\b|\bcheck ID\b"
    r"|评审备注|评审意见|评分标准|评分细则|待补充"
)
_CODED_ID = re.compile(r"^[A-Z]+\d{2,}$")  # an id like V01 in a prompt is a trace; an id that is a plain word is not


def task_rules(task: ReadTask, prompt_name: str) -> Iterator[Problem]:
    """Problems of one task beyond its structure; parts that could not be read are passed over."""
    if task.spec is not None and task.spec_source is not None:
        yield from _frames(task.spec, task.spec_source)
        yield from _narration(task.spec, task.spec_source)
    if task.prompt is not None:
        yield from _length(task.prompt, prompt_name)
        yield from _traces(task.prompt, prompt_name, task.rubric)


def _frames(spec: TaskSpec, source: YamlSource) -> Iterator[Problem]:
    delivery, where = spec.delivery, ("delivery", "frames")
    if delivery.frames is None:
        return
    if spec.kind != "core":
        yield source.problem(where, f"an exact frame count on a {spec.kind} task", "remove it; it is for core tasks")
        return
    seconds, low, high = delivery.frames / delivery.fps, delivery.duration.min, delivery.duration.max
    if not low - 1e-9 <= seconds <= high + 1e-9:
        yield source.problem(
            where,
            f"{delivery.frames} frames at {delivery.fps:g} fps last {seconds:.3f} s, outside {low:g}-{high:g} s",
            "make frames, fps and duration agree",
        )


def _narration(spec: TaskSpec, source: YamlSource) -> Iterator[Problem]:
    if spec.kind != "core" and spec.audio.narration != "required":
        yield source.problem(
            ("audio", "narration"), f"a {spec.kind} task whose narration is {spec.audio.narration}", "make it required"
        )


def _length(prompt: str, name: str) -> Iterator[Problem]:
    count = words(prompt)
    if count < MIN_PROMPT_WORDS:
        yield Problem(
            name,
            1,
            f"the prompt has {count} words, fewer than {MIN_PROMPT_WORDS}",
            "make it self-contained: audience, content, stages with times, audio policy, freedom, deliverables",
        )


def _traces(prompt: str, name: str, rubric: Rubric | None) -> Iterator[Problem]:
    ids = {check.id for check in rubric.checks if _CODED_ID.match(check.id)} if rubric else set()
    for place, line in enumerate(prompt.splitlines(), start=1):
        found = [match.group() for match in _TRACES.finditer(line)]
        found += [f"check id {word}" for word in dict.fromkeys(re.findall(r"[A-Za-z0-9]+", line)) if word in ids]
        for trace in dict.fromkeys(found):
            yield Problem(name, place, f"an authoring trace is left in the prompt: {trace!r}", "remove it")
