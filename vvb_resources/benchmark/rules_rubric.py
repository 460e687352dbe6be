"""Authoring rules of a rubric: traceability, no over-specification, no prescribed method, decidable probes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vvb_resources.benchmark.models import Check, Rubric, TaskSpec
from vvb_resources.benchmark.probes import AUDIO_PROBES, LanguageProbe, OnsetProbe
from vvb_resources.benchmark.problems import Problem
from vvb_resources.benchmark.quoting import QuotableText, compact, optional_part
from vvb_resources.benchmark.yaml_source import YamlSource

WINDOW_SLACK_S = 0.5  # the tolerance of the duration check
_METHOD = re.compile(
    r"\b(?:ffmpeg|manim|moviepy|remotion|blender|python|javascript|typescript|three\.?js|webgl|pycairo|matplotlib|numpy"
    r"|opencv|gsap|skia|imagemagick|puppeteer|playwright|selenium|headless browser|after effects|espeak)\b"
    r"|(?-i:\bPIL\b|\bcairo\b|\bSoX\b)"  # a pill, the city and sox are not tools
    r"|\b(?:must|should|has to) be (?:rendered|coded|programmed|implemented) (?:with|using|in|by)\b"
    r"|必须(?:使用|用).{0,12}(?:渲染|编程|代码)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RubricContext:
    """A rubric, the texts its quotes may come from (`texts[0]` is the prompt), and its task's spec if readable."""

    rubric: Rubric
    source: YamlSource
    texts: Sequence[QuotableText]
    spec: TaskSpec | None

    @property
    def prompt(self) -> QuotableText:
        return self.texts[0]


def rubric_rules(context: RubricContext) -> Iterator[Problem]:
    """Problems of one rubric beyond its structure."""
    yield from _ids(context)
    yield from _links(context)
    for place, requirement in enumerate(context.rubric.requirements):
        yield from _quoted(
            context, ("requirements", place, "quote"), f"requirement {requirement.id}", requirement.quote
        )
    for place, check in enumerate(context.rubric.checks):
        yield from _quoted(context, ("checks", place, "basis"), f"check {check.id}", check.basis)
        yield from _wording(context, place, check)
        yield from _probe(context, place, check)
    yield from _heard(context)


def _ids(context: RubricContext) -> Iterator[Problem]:
    rubric = context.rubric
    lists: Iterable[tuple[str, str, list[str]]] = (
        ("goals", "goal", [goal.id for goal in rubric.goals]),
        ("requirements", "requirement", [requirement.id for requirement in rubric.requirements]),
        ("checks", "check", [check.id for check in rubric.checks]),
    )
    for field, kind, ids in lists:
        first: dict[str, int] = {}
        for place, name in enumerate(ids):
            if name in first:
                line = context.source.line_of((field, first[name], "id"))
                what = f"the {kind} id {name} is given twice (first on line {line})"
                yield context.source.problem((field, place, "id"), what, "give each its own id")
            first.setdefault(name, place)


def _links(context: RubricContext) -> Iterator[Problem]:
    """Requirements to checks, checks to goals, both ways."""
    rubric, source = context.rubric, context.source
    checks, goals = {check.id for check in rubric.checks}, {goal.id for goal in rubric.goals}
    for place, requirement in enumerate(rubric.requirements):
        for item, name in enumerate(requirement.checks):
            if name not in checks:
                what = f"requirement {requirement.id} names the check {name}, which does not exist"
                yield source.problem(("requirements", place, "checks", item), what, "add the check, or mend the id")
    named = {name for requirement in rubric.requirements for name in requirement.checks}
    told: set[str] = set()
    for place, check in enumerate(rubric.checks):
        if check.goal not in goals:
            what = f"check {check.id} names the goal {check.goal}, which does not exist"
            yield source.problem(("checks", place, "goal"), what, f"use one of {', '.join(sorted(goals))}")
        if check.id not in named and check.id not in told:
            remedy = "name it in the requirement it enforces, or remove it"
            yield source.problem(("checks", place, "id"), f"no requirement names the check {check.id}", remedy)
        told.add(check.id)
    used = {check.goal for check in rubric.checks}
    for place, goal in enumerate(rubric.goals):
        if goal.id not in used:
            what = f"the goal {goal.id} has no check"
            yield source.problem(("goals", place, "id"), what, "give it a check, or remove it")


def _quoted(context: RubricContext, where: tuple[str | int, ...], owner: str, quote: str) -> Iterator[Problem]:
    if any(text.quotes(quote) for text in context.texts):
        return
    near = context.prompt.nearest(quote)
    remedy = "quote the prompt, the spec or a text asset word for word"
    if near:
        remedy += f"; the prompt's line {near.line} says {near.text[:120]!r}"
    kind = where[-1]
    yield context.source.problem(where, f"the {kind} of {owner} is not in the prompt, task.yaml or assets", remedy)


def _wording(context: RubricContext, place: int, check: Check) -> Iterator[Problem]:
    source = context.source
    if compact(check.pass_) == compact(check.fail):
        what = f"pass and fail of check {check.id} are the same"
        yield source.problem(("checks", place, "fail"), what, "say what a failure looks like")
    for field, text in (("pass", check.pass_), ("fail", check.fail)):
        method = _METHOD.search(text)
        if method and compact(method.group()) not in context.prompt.compact:
            what = f"{field} of check {check.id} prescribes a production method ({method.group()!r})"
            yield source.problem(("checks", place, field), what, "say what is seen or heard, not how it was made")
    if check.core and context.prompt.quotes(check.basis):
        soft = context.prompt.only_optional(check.basis)
        if soft or optional_part(check.basis):
            said = f" (prompt line {soft.line})" if soft else ""
            what = f"core check {check.id} makes optional wording mandatory{said}"
            yield source.problem(("checks", place, "basis"), what, "quote a demand, or make the check detail")


def _probe(context: RubricContext, place: int, check: Check) -> Iterator[Problem]:
    probe, source = check.probe, context.source
    if probe is None:
        return
    where: tuple[str | int, ...] = ("checks", place, "probe")
    hears = probe.kind in AUDIO_PROBES or (isinstance(probe, LanguageProbe) and probe.channel == "speech")
    if (check.modality, hears) in {("visual", True), ("audio", False)}:
        what = f"the {probe.kind} probe {'hears' if hears else 'sees'}; check {check.id} is {check.modality}"
        yield source.problem((*where, "kind"), what, "change the probe, or the check's modality")
    if context.spec is None:
        return
    end = context.spec.delivery.duration.max + WINDOW_SLACK_S
    if probe.window and probe.window[1] > end:
        what = f"the window of check {check.id} ends at {probe.window[1]:g} s, after the longest video ({end:g} s)"
        yield source.problem((*where, "window"), what, "end it within the video")
    if isinstance(probe, OnsetProbe):
        low, high = probe.window or (0.0, end)
        late = [time for time in probe.times if not low <= time <= high]
        if late:
            what = f"check {check.id} expects a sound at {late[0]:g} s, outside {low:g}-{high:g} s"
            yield source.problem((*where, "times"), what, "keep the times within the window and the video")


def _heard(context: RubricContext) -> Iterator[Problem]:
    required = context.spec.audio.required if context.spec else ()
    if required and all(check.modality == "visual" for check in context.rubric.checks):
        what = f"the task requires {', '.join(required)}, yet no check is audio or audio_visual"
        yield context.source.problem(("checks",), what, "add a check of the sound")
