"""Sampled frames for judges: instants, and the pictures shown at them, as a viewer sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from av.error import FFmpegError
from numpy.typing import NDArray

from vvb_resources.errors import MediaError
from vvb_resources.media.probe import VideoProbe, opened, picture_stream, probe


def sample_times(duration_s: float, fps: float, min_frames: int = 1, max_frames: int = 600) -> tuple[float, ...]:
    """Instants k/fps from 0 up to (not including) `duration_s`, in seconds.

    A grid whose rate divides another's is a subset of it, so that judges who sample at different rates can share
    pictures. The rate is raised to a multiple of `fps` when it gives fewer than `min_frames`, and lowered to a whole
    part of it when it gives more than `max_frames`. Raises ValueError on a rate or
    bounds that are not positive or not in order.
    """
    length = max(Fraction(str(duration_s)), Fraction(1, 1000))
    step = sample_step(duration_s, fps, min_frames, max_frames)
    return tuple(float(k * step) for k in range(-(-length // step)))


def sample_step(duration_s: float, fps: float, min_frames: int = 1, max_frames: int = 600) -> Fraction:
    """Seconds between the instants of `sample_times`, exactly. Raises ValueError as it does."""
    if fps <= 0 or not 1 <= min_frames <= max_frames:
        raise ValueError(f"bad sampling: fps {fps:g}, {min_frames} to {max_frames} frames")
    length = max(Fraction(str(duration_s)), Fraction(1, 1000))
    step = 1 / Fraction(str(fps))

    def count(of: Fraction) -> int:
        return -(-length // of)

    multiple = 1
    while count(step / multiple) < min_frames:
        multiple += 1
    part = 1
    while count(step * part / multiple) > max_frames:
        part += 1
    return step * part / multiple


def read_frames(video: Path, times: Sequence[float], max_side: int = 1280) -> Iterator[tuple[float, NDArray[np.uint8]]]:
    """Yield (time, picture) for each of the ascending `times` (seconds on the presentation clock) in one decode pass.

    A picture is what is on screen then: the last frame at or before the time, before the first frame the first one,
    after the last frame the last one; RGB, height x width x 3, in display aspect and turned upright, longest side at
    most `max_side` (never enlarged beyond its displayed size). Damaged packets are skipped. Raises MediaError when
    there is no picture to decode and ValueError when `times` descend.
    """
    if any(later < earlier for earlier, later in pairwise(times)):
        raise ValueError("times must ascend")
    if not times:
        return
    facts = probe(video).video
    if facts is None:
        raise MediaError("no picture stream", where=video.name)
    size = fitted(facts, max_side)
    waiting = list(times)
    shown: Any | None = None
    picture: NDArray[np.uint8] | None = None
    with opened(video) as container:
        stream = picture_stream(container)
        if stream is None:
            raise MediaError("no picture stream", where=video.name)
        stream.thread_type = "AUTO"
        for frame in _decoded(container, stream):
            at = float(frame.pts * frame.time_base) if frame.pts is not None else 0.0
            while waiting and shown is not None and waiting[0] < at - 1e-9:
                if picture is None:
                    picture = _picture(shown, size, facts.rotation)
                yield waiting.pop(0), picture
            shown, picture = frame, None
            if not waiting:
                return
        if shown is None:
            raise MediaError("no picture can be decoded", where=video.name)
        picture = _picture(shown, size, facts.rotation)
        for time in waiting:
            yield time, picture


def _decoded(container: Any, stream: Any) -> Iterator[Any]:
    """Frames in display order; a damaged packet costs its frame, not the rest."""
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
            frames = packet.decode()
        except StopIteration:
            return
        except FFmpegError:
            continue
        yield from frames


def fitted(facts: VideoProbe, max_side: int) -> tuple[int, int]:
    """Width and height to scale to, before the turn, so that the longest side is at most `max_side` pixels."""
    wide, high = round(facts.width * facts.sar), facts.height
    share = min(1.0, max_side / max(wide, high, 1))
    return max(1, round(wide * share)), max(1, round(high * share))


def _picture(frame: Any, size: tuple[int, int], rotation: int) -> NDArray[np.uint8]:
    image = frame.reformat(width=size[0], height=size[1], format="rgb24", interpolation="AREA").to_ndarray()
    turned: NDArray[np.uint8] = np.ascontiguousarray(np.rot90(image, rotation // 90 % 4))
    return turned
