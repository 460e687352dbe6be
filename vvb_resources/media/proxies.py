"""Small copies of a blinded video for services that take the video itself inside a request."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from vvb_resources.errors import MediaError
from vvb_resources.media.blinding import BARE
from vvb_resources.media.sound import read_sound
from vvb_resources.media.tools import input_args, input_url, run_ffmpeg
from vvb_resources.store.atomic import replace_with

PROXY_VERSION = "1"
JPEG_QUALITY = 85


def make_proxy(video: Path, target: Path, *, fps: float, max_side: int, with_sound: bool) -> None:
    """Write `video` at `fps` frames a second, longest side at most `max_side` pixels, H.264, whole length, as `target`.

    With `with_sound` the first audio stream comes along as AAC. Without any trace of the encoder. Raises MediaError.
    """
    side = f"min(1\\,{max_side}/max(iw\\,ih))"
    scale = f"scale=w=trunc(iw*{side}/2)*2:h=trunc(ih*{side}/2)*2"
    picture = ["-map", "0:V:0", "-vf", f"fps={fps:g}:start_time=0,{scale}", "-c:v", "libx264", "-crf", "23"]
    picture += ["-preset", "veryfast", "-pix_fmt", "yuv420p", "-bsf:v", "filter_units=remove_types=6"]
    picture += ["-metadata:s:v", "encoder=video"]  # else ffmpeg writes its own name there, even when bit-exact
    sound = ["-map", "0:a:0?", "-c:a", "aac", "-b:a", "128k"] if with_sound else ["-an"]

    def fill(temporary: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="vvb-proxy-") as work:
            args = ["-v", "error", *input_args(video), *picture, *sound, *BARE, "-f", "mp4", input_url(temporary)]
            _, ended = run_ffmpeg(args, work=Path(work), deadline_s=1800)
        if ended.code != 0:
            raise MediaError(f"no proxy could be made ({ended.log.strip()[-300:] or f'exit {ended.code}'})")

    replace_with(target, fill)


def jpeg(picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    """An RGB picture, height x width x 3, as JPEG without metadata."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def wav(video: Path, rate: int) -> bytes:
    """The sound of `video` from second 0 as 16-bit mono WAV at `rate` samples a second; b"" without sound."""
    samples = read_sound(video, rate)
    if samples.size == 0:
        return b""
    from scipy.io import wavfile

    buffer = io.BytesIO()
    wavfile.write(buffer, rate, (np.clip(samples[0], -1.0, 1.0) * 32767).astype(np.int16))
    return buffer.getvalue()
