"""Hard files, made anew by each test run: of each kind two, with other parameters. All are 64x48 at 30 fps, 2 s with a
tone, but for what their kind changes; each comes with the verdicts that differ from pass.

The kinds are those that checkers are known to get wrong: headers that lie, clocks that jitter, pictures that turn.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.media.clips import BLACK, H264, MOVING, TONE, make_clip, remux, set_matrix
from vvb_resources.media.tools import run_ffmpeg

GONE = dict.fromkeys(
    ("resolution", "fps", "duration", "frames", "audible", "source_project", "narration_coverage", "black", "frozen"),
    "na",
)
REFUSED = {"container": "fail", "decode": "fail", **GONE}
UNDECODED = {"decode": "fail", **GONE}
ALAC = ("-c:a", "alac")

Verdicts = Mapping[str, str]
Builder = Callable[[Path, Any], tuple[Path, Verdicts]]


def clip(folder: Path, **how: Any) -> Path:
    """A clip of two seconds in `folder`."""
    return make_clip(folder / "made.mp4", **{"seconds": "2", **how})


def run(folder: Path, *args: str) -> None:
    """ffmpeg in `folder`, by relative names."""
    _, ended = run_ffmpeg(["-v", "error", *args], work=folder)
    assert ended.code == 0, ended.log


def sound(_folder: Path, extra: list[str]) -> tuple[Path, Verdicts]:
    return clip(_folder, extra=extra), {}


def cut_header(folder: Path, share: float) -> tuple[Path, Verdicts]:
    path = clip(folder)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path, REFUSED


def cut_media(folder: Path, share: float) -> tuple[Path, Verdicts]:
    path = clip(folder, extra=["-movflags", "+faststart"])
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path, {"decode": "fail", "frames": "fail", "duration": "?", "audible": "?"}


def not_a_video(folder: Path, content: bytes) -> tuple[Path, Verdicts]:
    path = folder / "made.mp4"
    path.write_bytes(content)
    return path, REFUSED


def other_container(folder: Path, kind: str) -> tuple[Path, Verdicts]:
    return remux(clip(folder), folder / "other.mp4", "-f", kind), REFUSED


def stray(folder: Path, content: bytes) -> tuple[Path, Verdicts]:
    path = clip(folder)
    path.write_bytes(path.read_bytes() + content)
    return path, {}


def jitter(folder: Path, pattern: str) -> tuple[Path, Verdicts]:
    source = f"{MOVING},settb=1/15360,setpts='{pattern}'"
    return clip(folder, picture=source, extra=["-fps_mode", "passthrough", "-enc_time_base", "1/15360"]), {
        "fps": "fail"
    }


def rate(folder: Path, how: tuple[str, str]) -> tuple[Path, Verdicts]:
    fps, verdict = how
    return clip(folder, rate=fps, extra=["-frames:v", "60"]), {"fps": verdict}


def late_picture(folder: Path, seconds: str) -> tuple[Path, Verdicts]:
    tone = make_clip(folder / "tone.mp4", picture=None, seconds="2")
    both = ["-map", "1:v", "-map", "0:a"]
    moved = remux(tone, folder / "late.mp4", "-itsoffset", seconds, "-i", str(clip(folder)), *both)
    return moved, {"duration": "pass" if float(seconds) <= 0.5 else "fail"}


def edit_list(folder: Path, start: int) -> tuple[Path, Verdicts]:
    source = clip(folder, seconds=str(2 + start), extra=["-g", "300"])
    return remux(source, folder / "trimmed.mp4", before=["-ss", str(start)]), {}


def long_sound(folder: Path, seconds: str) -> tuple[Path, Verdicts]:
    tone = make_clip(folder / "tone.mp4", picture=None, seconds=seconds)
    both = ["-i", str(tone), "-map", "0:v", "-map", "1:a"]
    return remux(clip(folder), folder / "long.mp4", *both), {"duration": "fail"}


def b_frames(folder: Path, count: str) -> tuple[Path, Verdicts]:
    codec = ["-c:v", "libx264", "-bf", count, "-pix_fmt", "yuv420p"]
    return clip(folder, codec=codec, extra=["-use_editlist", "0"]), {}


def count_off(folder: Path, frames: int) -> tuple[Path, Verdicts]:
    return clip(folder, seconds="2.4", extra=["-frames:v", str(frames)]), {"frames": "fail"}


def turned(folder: Path, how: tuple[str, tuple[int, int, int, int], str]) -> tuple[Path, Verdicts]:
    size, matrix, verdict = how
    return set_matrix(clip(folder, size=size), folder / "turned.mp4", matrix), {"resolution": verdict}


def pixel_aspect(folder: Path, sar: str) -> tuple[Path, Verdicts]:
    return clip(folder, picture=f"{MOVING},setsar={sar}"), {"resolution": "fail"}


def lying_header(folder: Path, side: int) -> tuple[Path, Verdicts]:
    path = clip(folder)
    data = bytearray(path.read_bytes())
    entry = data.index(b"avc1", data.index(b"stsd")) + 4 + 24
    data[entry : entry + 4] = struct.pack(">HH", side, side)
    tkhd = data.index(b"tkhd") + 4 + 76
    data[tkhd : tkhd + 8] = struct.pack(">II", side << 16, side << 16)
    path.write_bytes(data)
    return path, {"decode": "fail"}


def too_many_pixels(folder: Path, size: str) -> tuple[Path, Verdicts]:
    path = clip(folder, picture=BLACK, size=size, sound=None, rate="30", seconds="0.07")
    return path, {**UNDECODED, "resolution": "fail"}


def sound_only(folder: Path, source: str) -> tuple[Path, Verdicts]:
    return clip(folder, picture=None, sound=source), UNDECODED


def cover(folder: Path, how: tuple[str, bool]) -> tuple[Path, Verdicts]:
    size, alone = how
    run(folder, "-f", "lavfi", "-i", f"color=red:size={size}:rate=1:duration=1", "-frames:v", "1", "cover.png")
    maps = ["-map", "1:v", "-map", "0:a"] + ([] if alone else ["-map", "0:v"])
    marked = ["-i", str(folder / "cover.png"), *maps, "-disposition:v:0", "attached_pic"]
    return remux(clip(folder), folder / "cover.mp4", *marked), UNDECODED if alone else {}


def two_pictures(folder: Path, how: tuple[str, str, str]) -> tuple[Path, Verdicts]:
    first, second, verdict = how
    other = make_clip(folder / "other.mp4", size=second, seconds="2", sound=None)
    maps = ["-i", str(other), "-map", "0:v", "-map", "1:v", "-map", "0:a"]
    return remux(clip(folder, size=first), folder / "two.mp4", *maps), {"resolution": verdict}


def brand(folder: Path, name: bytes) -> tuple[Path, Verdicts]:
    path = clip(folder)
    data = path.read_bytes()
    path.write_bytes(data[:8] + name + data[12:])
    return path, {}


def codec(folder: Path, args: list[str]) -> tuple[Path, Verdicts]:
    return clip(folder, codec=args), {}


def extra_stream(folder: Path, kind: str) -> tuple[Path, Verdicts]:
    if kind == "timecode":
        return remux(clip(folder), folder / "more.mp4", "-timecode", "00:00:00:00", "-write_tmcd", "1"), {}
    (folder / "words.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    source = clip(folder)
    path = folder / "more.mp4"
    run(
        folder,
        "-i",
        source.name,
        "-i",
        "words.srt",
        "-map",
        "0",
        "-map",
        "1",
        "-c",
        "copy",
        "-c:s",
        "mov_text",
        path.name,
    )
    return path, {}


def fragments(folder: Path, flags: str) -> tuple[Path, Verdicts]:
    return clip(folder, extra=["-movflags", flags, "-g", "15"]), {}


def level(folder: Path, how: tuple[int, str]) -> tuple[Path, Verdicts]:
    peak, verdict = how
    wave = f"aevalsrc='{peak}/32768*sin(2*PI*11025*t)':s=44100:d={{seconds}}"
    return clip(folder, sound=wave, audio_codec=ALAC), {"audible": verdict}


def channels(folder: Path, wave: str) -> tuple[Path, Verdicts]:
    return clip(folder, sound=f"aevalsrc='{wave}':s=48000:d={{seconds}}", audio_codec=ALAC), {}


def no_sound(folder: Path, source: str | None) -> tuple[Path, Verdicts]:
    return clip(folder, sound=source), {"audible": "fail"}


def second_sound(folder: Path, how: tuple[str, str, str]) -> tuple[Path, Verdicts]:
    first, second, verdict = how
    other = make_clip(folder / "other.mp4", picture=None, sound=second, seconds="2")
    maps = ["-i", str(other), "-map", "0:v", "-map", "0:a", "-map", "1:a"]
    return remux(clip(folder, sound=first), folder / "two.mp4", *maps), {"audible": verdict}


def drawn(folder: Path, how: tuple[str, Verdicts]) -> tuple[Path, Verdicts]:
    source, verdicts = how
    return clip(folder, picture=source, codec=["-c:v", "libx264", "-crf", "12", "-pix_fmt", "yuv420p"]), verdicts


def repeated(folder: Path, fps: str) -> tuple[Path, Verdicts]:
    return clip(folder, picture=MOVING.replace("{rate}", fps) + ",fps=30"), {}


def backwards(folder: Path, seconds: int) -> tuple[Path, Verdicts]:
    """The second fragment's clock is set back by `seconds`."""
    path = clip(folder, sound=None, extra=["-movflags", "+frag_keyframe+empty_moov", "-g", "20", "-bf", "0"])
    data = bytearray(path.read_bytes())
    at = data.index(b"tfdt", data.index(b"tfdt") + 4) + 8
    long = data[at - 4] == 1
    form = ">Q" if long else ">I"
    (time,) = struct.unpack_from(form, data, at)
    struct.pack_into(form, data, at, time - seconds * time // 2)
    path.write_bytes(data)
    return path, {"decode": "fail", "fps": "fail", "frames": "?", "duration": "?", "audible": "fail"}


def size_changes(folder: Path, second: str) -> tuple[Path, Verdicts]:
    for name, size in (("a", "64x48"), ("b", second)):
        source = MOVING.format(size=size, rate="30", seconds="1")
        run(folder, "-f", "lavfi", "-i", source, *H264, "-bf", "0", "-f", "h264", f"{name}.h264")
    (folder / "c.h264").write_bytes((folder / "a.h264").read_bytes() + (folder / "b.h264").read_bytes())
    tone = make_clip(folder / "tone.mp4", picture=None, seconds="2")
    run(
        folder,
        "-framerate",
        "30",
        "-i",
        "c.h264",
        "-i",
        tone.name,
        "-c",
        "copy",
        "-video_track_timescale",
        "15360",
        "c.mp4",
    )
    return folder / "c.mp4", {"resolution": "fail"}


def sound_changes(folder: Path, counts: tuple[str, str]) -> tuple[Path, Verdicts]:
    tone = TONE.format(seconds="1")
    for name, count in zip("ab", counts, strict=True):
        run(folder, "-f", "lavfi", "-i", tone, "-ac", count, "-c:a", "aac", "-f", "adts", f"{name}.aac")
    (folder / "c.aac").write_bytes((folder / "a.aac").read_bytes() + (folder / "b.aac").read_bytes())
    picture = clip(folder, sound=None)
    run(folder, "-i", picture.name, "-i", "c.aac", "-c", "copy", "c.mp4")
    return folder / "c.mp4", {}


def special(folder: Path, kind: str) -> tuple[Path, Verdicts]:
    path = folder / "special.mp4"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(clip(folder))
        case _:
            path.symlink_to(folder / "absent")
    # A folder is taken for a delivery, in which there is no video.
    return path, {**REFUSED, "source_project": "na"}


def named(folder: Path, name: str) -> tuple[Path, Verdicts]:
    return clip(folder).rename(folder / name), {}
