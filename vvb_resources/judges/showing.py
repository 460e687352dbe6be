"""What of a blinded video goes to a judge: frames as JPEG with their times, the sound as WAV, a proxy of the video.

Nothing here has a name: pictures and sound are bytes, and the video goes out under a neutral one.
"""

from __future__ import annotations

import base64
import math
import threading
from pathlib import Path

from vvb_resources.benchmark.models import JudgeConfig, Sampling
from vvb_resources.media.blinding import BlindedMedia
from vvb_resources.media.frames import read_frames, sample_times
from vvb_resources.media.proxies import JPEG_QUALITY, PROXY_VERSION, jpeg, make_proxy, wav
from vvb_resources.store.digests import digest_value

SHOWING_VERSION = f"jpeg {JPEG_QUALITY}, proxy {PROXY_VERSION}"

_making = threading.Lock()


def frame_count(sampling: Sampling, duration_s: float) -> int:
    """How many frames of a video of `duration_s` seconds the sampling takes."""
    return len(sample_times(duration_s, sampling.fps, sampling.min_frames, sampling.max_frames))


def frame_rate(sampling: Sampling, duration_s: float) -> float:
    """Frames a second for a service that samples itself: the plan's, or less where it would pass the most frames.

    4 a second up to 150 s with at most 600 frames: 240 s give 2.5. Rounded down to a thousandth, so that the bound
    holds.
    """
    if sampling.fps * duration_s <= sampling.max_frames:
        return sampling.fps
    return max(0.001, math.floor(1000 * sampling.max_frames / duration_s) / 1000)


def shown_size(sampling: Sampling, width: int, height: int) -> tuple[int, int]:
    """Pixels of a frame as sent: longest side at most `max_side`, never enlarged."""
    share = min(1.0, sampling.max_side / max(width, height, 1))
    return max(1, round(width * share)), max(1, round(height * share))


def frames(judge: JudgeConfig, media: BlindedMedia) -> list[tuple[float, bytes]]:
    """(second, JPEG) of each sampled frame, ascending; none for a judge that is shown no frames."""
    sampling = judge.sampling
    if sampling is None or judge.sees == "nothing":
        return []
    times = sample_times(media.duration_s, sampling.fps, sampling.min_frames, sampling.max_frames)
    return [(time, jpeg(picture)) for time, picture in read_frames(media.video, times, sampling.max_side)]


def frame_label(second: float) -> str:
    """The line that goes before a frame."""
    return f"t = {second:.3f} s"


def sound(media: BlindedMedia, rate: int) -> bytes:
    """The video's sound as mono WAV; b"" when it has none."""
    return wav(media.video, rate) if media.has_audio else b""


def proxy(root: Path, judge: JudgeConfig, media: BlindedMedia, *, with_sound: bool) -> Path:
    """A small copy of the video at the judge's rate and size, made once and kept below `root`."""
    sampling = judge.sampling
    assert sampling is not None, "a judge that sees has a sampling"
    rate = frame_rate(sampling, media.duration_s)
    plan = {
        "version": PROXY_VERSION,
        "fps": rate,
        "max_side": sampling.max_side,
        "sound": with_sound,
    }
    target = root / media.digest[:2] / media.digest / f"proxy-{digest_value(plan)[:12]}.mp4"
    with _making:  # two panels may want the same proxy at once; ffmpeg uses the cores anyway
        if not target.exists():
            make_proxy(media.video, target, fps=rate, max_side=sampling.max_side, with_sound=with_sound)
    return target


def data_url(data: bytes, mime: str) -> str:
    """Bytes as a data URL."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"
