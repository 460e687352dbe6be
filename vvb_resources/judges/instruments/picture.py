"""Picture probes on sampled frames: colour, motion or stillness, scene changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vvb_resources.benchmark.probes import ColourProbe, MotionProbe, Region, SceneChangeProbe
from vvb_resources.judges.instruments.finding import Finding, past_end, span_of, unsampled
from vvb_resources.judges.instruments.frames_pass import FrameFacts

CHANGED_LEVELS = 12
"""Grey levels of 255 by which a pixel must differ to count as changed."""


def measure_colour(probe: ColourProbe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    """Share of the region within `tolerance` (Euclidean RGB) of a colour, in some or in every sampled frame."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "visual", needed=True)
    inside = [frame for frame in frames if span.holds(frame.t)]
    if not inside:
        return unsampled(span, "visual", "no frame was sampled")
    shares = [colour_share(frame.thumb, probe.rgb, probe.tolerance, probe.region) for frame in inside]
    held = [probe.min_share <= share <= probe.max_share for share in shares]
    times = [frame.t for frame, ok in zip(inside, held, strict=True) if ok]
    reason = (
        f"{probe.rgb} covers {min(shares):.2%} to {max(shares):.2%}, asked "
        f"{probe.min_share:.2%} to {probe.max_share:.2%}, "
        f"so in {len(times)} of {len(inside)} sampled frames in {span.words}"
    )
    if all(held) if probe.hold else times:
        return Finding("pass", times[0], times[-1], "visual", reason)
    return Finding("fail", span.start, span.end, "visual", reason)


def measure_motion(probe: MotionProbe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    """Mean share of pixels that change between consecutive sampled frames of the window."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "visual", needed=probe.expect == "moving")
    inside = [frame for frame in frames if span.holds(frame.t)]
    if len(inside) < 2:
        return unsampled(span, "visual", "fewer than two frames were sampled")
    mean = float(np.mean([changed_share(a.thumb, b.thumb, probe.region) for a, b in pairwise(inside)]))
    moving = mean >= probe.min_share
    reason = (
        f"{mean:.2%} of the pixels change from one sampled frame to the next ({len(inside)} in {span.words}); "
        f"moving is {probe.min_share:.2%} or more"
    )
    passed = moving == (probe.expect == "moving")
    return Finding("pass" if passed else "fail", inside[0].t, inside[-1].t, "visual", reason)


def measure_scene_changes(probe: SceneChangeProbe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    """Pairs of consecutive sampled frames of which at least `min_share` of the pixels change."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "visual", needed=probe.at_least > 0)
    inside = [frame for frame in frames if span.holds(frame.t)]
    if len(inside) < 2:
        return unsampled(span, "visual", "fewer than two frames were sampled")
    cuts = [b.t for a, b in pairwise(inside) if changed_share(a.thumb, b.thumb, None) >= probe.min_share]
    most = "" if probe.at_most is None else f", at most {probe.at_most}"
    where = ", ".join(f"{t:.4g}" for t in cuts[:12])
    reason = (
        f"{len(cuts)} scene changes{f', seen at {where} s' if cuts else ''}; at least {probe.at_least}{most} asked "
        f"({len(inside)} sampled frames in {span.words})"
    )
    passed = len(cuts) >= probe.at_least and (probe.at_most is None or len(cuts) <= probe.at_most)
    start, end = (cuts[0], cuts[-1]) if cuts else (span.start, span.end)
    return Finding("pass" if passed else "fail", start, end, "visual", reason)


def colour_share(thumb: NDArray[np.uint8], rgb: str, tolerance: float, region: Region | None) -> float:
    """Share (0-1) of the region's pixels whose Euclidean RGB distance to `rgb` ("#rrggbb") is at most `tolerance`."""
    wanted = np.array([int(rgb[i : i + 2], 16) for i in (1, 3, 5)], np.float32)
    distance = np.linalg.norm(cut(thumb, region).astype(np.float32) - wanted, axis=2)
    return float((distance <= tolerance).mean())


def changed_share(a: NDArray[np.uint8], b: NDArray[np.uint8], region: Region | None) -> float:
    """Share (0-1) of the region's pixels whose luminance differs by more than 12 levels; 1 if the sizes differ."""
    if a.shape != b.shape:
        return 1.0
    return float((np.abs(grey(cut(a, region)) - grey(cut(b, region))) > CHANGED_LEVELS).mean())


def grey(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Luminance (Rec. 601), 0-255."""
    return picture.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)


def cut(picture: NDArray[np.uint8], region: Region | None) -> NDArray[np.uint8]:
    """The region (left, top, right, bottom as shares) of a picture, at least one pixel."""
    if region is None:
        return picture
    height, width = picture.shape[:2]
    left, right = _range(region[0], region[2], width)
    top, bottom = _range(region[1], region[3], height)
    return picture[top:bottom, left:right]


def _range(low: float, high: float, size: int) -> tuple[int, int]:
    first = min(size - 1, round(low * size))
    return first, max(first + 1, round(high * size))
