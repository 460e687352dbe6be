"""A clip in which a word is spoken before a plain picture: to find out whether a judge hears."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from vvb_resources.errors import MediaError
from vvb_resources.media.tools import input_url, run_ffmpeg


def spoken_clip(pcm: bytes, rate: int, target: Path) -> None:
    """Write an MP4 of 640x360 grey at 10 frames a second with `pcm` (16-bit mono at `rate`) from second 1 on.

    One second of silence before and after. Raises MediaError when it cannot be made.
    """
    from scipy.io import wavfile

    pad = np.zeros(rate, np.int16)
    samples = np.concatenate([pad, np.frombuffer(pcm, "<i2"), pad])
    with tempfile.TemporaryDirectory(prefix="vvb-spoken-") as work:
        sound = Path(work) / "sound.wav"
        wavfile.write(sound, rate, samples)
        picture = ["-f", "lavfi", "-i", f"color=c=gray:s=640x360:r=10:d={len(samples) / rate:.3f}"]
        codecs = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", "-shortest"]
        args = ["-v", "error", *picture, "-i", input_url(sound), *codecs, "-f", "mp4", input_url(target)]
        _, ended = run_ffmpeg(args, work=Path(work))
    if ended.code != 0:
        raise MediaError(f"no clip could be made ({ended.log.strip()[-300:] or f'exit {ended.code}'})")
