"""Text probes on sampled frames: text shown, dwell time, language of the shown text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vvb_resources.benchmark.probes import DwellProbe, LanguageProbe, Region, TextProbe
from vvb_resources.judges.instruments.finding import (
    EPSILON,
    Decision,
    Finding,
    Span,
    past_end,
    runs_of,
    span_of,
    unsampled,
)
from vvb_resources.judges.instruments.frames_pass import FrameFacts
from vvb_resources.judges.instruments.matching import page, script_share, shows


def measure_text(probe: TextProbe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    """Texts that must be read (all of, one of, none of), by the rule in `TextProbe`."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "visual", needed=bool(probe.all_of or probe.any_of))
    inside = [frame for frame in frames if span.holds(frame.t)]
    if not inside:
        return unsampled(span, "visual", "no frame was sampled")
    pages = [_page(frame, probe.region) for frame in inside]
    seen = {
        text: [frame.t for frame, shown in zip(inside, pages, strict=True) if shows(shown, text)]
        for text in (*probe.all_of, *probe.any_of, *probe.none_of)
    }
    said = "; ".join(_sightings(text, times) for text, times in seen.items()) + f" ({_sampled(inside, span)})"
    wanted = sorted(t for text in (*probe.all_of, *probe.any_of) for t in seen[text])
    start, end = (wanted[0], wanted[-1]) if wanted else (span.start, span.end)

    forbidden = [t for text in probe.none_of for t in seen[text]]
    if forbidden:
        return Finding("fail", min(forbidden), max(forbidden), "visual", f"text that must not be shown is read: {said}")
    if any(not seen[text] for text in probe.all_of):
        return Finding("fail", span.start, span.end, "visual", f"not every text is read: {said}")
    if probe.any_of and not any(seen[text] for text in probe.any_of):
        return Finding("fail", span.start, span.end, "visual", f"none of the texts is read: {said}")
    if probe.same_frame and probe.all_of:
        together = sorted(set.intersection(*(set(seen[text]) for text in probe.all_of)))
        if not together:
            return Finding("fail", span.start, span.end, "visual", f"never all in one frame: {said}")
        start, end = together[0], together[-1]
    if probe.order:
        firsts = [seen[text][0] for text in probe.all_of]
        if any(later <= earlier + EPSILON for earlier, later in pairwise(firsts)):
            return Finding("fail", min(firsts), max(firsts), "visual", f"not first seen in that order: {said}")
    return Finding("pass", start, end, "visual", said)


def measure_dwell(probe: DwellProbe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    """How long one of the texts stays, between the bounds that sampling allows.

    Of an unbroken stretch of sightings the lower bound is last minus first, the upper bound the gap between the frames
    just outside it (or the window's edge). Passes if some lower bound reaches `min_s`, fails if no upper bound does.
    Without a sighting the text may still have been shown between two sampled frames: the widest gap is the upper bound.
    """
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "visual", needed=True)
    inside = [frame for frame in frames if span.holds(frame.t)]
    if not inside:
        return unsampled(span, "visual", "no frame was sampled")
    flags = [any(shows(_page(frame, probe.region), text) for text in probe.any_of) for frame in inside]
    times = [frame.t for frame in inside]
    edges = [span.start, *times, span.end]
    bounds = [(times[b] - times[a], edges[b + 2] - edges[a], times[a], times[b]) for a, b in runs_of(flags)]
    asked = " or ".join(f'"{text}"' for text in probe.any_of)
    if not bounds:
        gap = max(later - earlier for earlier, later in pairwise(edges))
        status: Decision = "fail" if gap < probe.min_s - EPSILON else "unknown"
        reason = (
            f"{asked} is read in no frame; at most {gap:.4g} s could have gone unsampled ({_sampled(inside, span)})"
        )
        return Finding(status, span.start, span.end, "visual", reason)
    lower, upper, start, end = max(bounds)
    decision: Decision
    if lower >= probe.min_s - EPSILON:
        decision = "pass"
    elif max(bound[1] for bound in bounds) < probe.min_s - EPSILON:
        decision = "fail"
    else:
        decision = "unknown"
    reason = f"{asked} stays between {lower:.4g} and {upper:.4g} s, {probe.min_s:g} s asked ({_sampled(inside, span)})"
    return Finding(decision, start, end, "visual", reason)


def measure_shown_language(probe: LanguageProbe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    """Share of the letters read in the window that are in the language's script, each frame counted."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "visual", needed=True)
    inside = [frame for frame in frames if span.holds(frame.t)]
    if not inside:
        return unsampled(span, "visual", "no frame was sampled")
    share, letters = script_share([line.text for frame in inside for line in frame.lines], probe.language)
    if not letters:
        return Finding("unknown", span.start, span.end, "visual", f"no letter is read ({_sampled(inside, span)})")
    reason = (
        f"{share:.0%} of {letters} letters are {probe.language}, {probe.min_share:.0%} asked ({_sampled(inside, span)})"
    )
    return Finding("pass" if share >= probe.min_share else "fail", inside[0].t, inside[-1].t, "visual", reason)


def _page(frame: FrameFacts, region: Region | None) -> str:
    """The frame's text, or that whose lines are centred in the region."""
    if region is None:
        return page([line.text for line in frame.lines])
    left, top, right, bottom = region
    return page(
        [line.text for line in frame.lines if left <= line.centre[0] <= right and top <= line.centre[1] <= bottom]
    )


def _sightings(text: str, times: Sequence[float]) -> str:
    if not times:
        return f'"{text}" not read'
    if len(times) == 1:
        return f'"{text}" read at {times[0]:.4g} s'
    return f'"{text}" read in {len(times)} frames of {times[0]:.4g}-{times[-1]:.4g} s'


def _sampled(inside: Sequence[FrameFacts], span: Span) -> str:
    return f"{len(inside)} sampled frame{'s' * (len(inside) != 1)} in {span.words}"
