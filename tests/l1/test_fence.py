"""No socket and no other file: hostile deliveries measured in a process that dies of a socket, with their neighbours
watched by the kernel."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.media.clips import make_clip
from tests.media.watching import Watch
from vvb_resources.media.tools import run_ffmpeg

ROOT = Path(__file__).parents[2]
VIDEO = "video.mp4"


def alone(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """`tests.l1.alone` with `folder` as its working folder."""
    command = [sys.executable, "-m", "tests.l1.alone", *names]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def elsewhere(clip: bytes, target: str, kind: bytes = b"url ") -> bytes:
    """`clip` whose picture lies, by its data reference, in the file `target`. Box sizes are kept right."""
    data = bytearray(clip)
    at = data.index(kind) - 4
    (old,) = struct.unpack_from(">I", data, at)
    new = struct.pack(">I4sI", 0, kind, 0) + target.encode() + b"\0"
    new = struct.pack(">I", len(new)) + new[4:]
    data[at : at + old] = new
    for box in (b"dref", b"dinf", b"minf", b"mdia", b"trak", b"moov"):
        place = data.rindex(box, 0, at) - 4
        (size,) = struct.unpack_from(">I", data, place)
        struct.pack_into(">I", data, place, size + len(new) - old)
    return bytes(data)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders by name, each with a `video.mp4` that tries to have `other.mp4` beside it, or a server, opened."""
    root = tmp_path_factory.mktemp("hostile")
    clip = make_clip(root / "clip.mp4").read_bytes()
    contents = {
        "reference": clip,
        "data reference": elsewhere(clip, "other.mp4"),
        "data reference by url": elsewhere(clip, "http://127.0.0.1:9/other.mp4"),
        "hls": b"#EXTM3U\n#EXTINF:5,\nother.mp4\n#EXT-X-ENDLIST\n",
        "hls by url": b"#EXTM3U\n#EXTINF:5,\nhttp://127.0.0.1:9/other.ts\n",
        "concat": b"ffconcat version 1.0\nfile other.mp4\n",
        "dash": b"<?xml version='1.0'?><MPD><BaseURL>http://127.0.0.1:9/</BaseURL></MPD>",
        "sdp": b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
        "subtitles": b"1\n00:00:00,000 --> 00:00:01,000\n<img src='other.mp4'>\n",
        "cut": clip[: len(clip) // 2],
    }
    folders = {}
    for name, content in contents.items():
        folders[name] = root / name
        folders[name].mkdir()
        (folders[name] / VIDEO).write_bytes(content)
        (folders[name] / "other.mp4").write_bytes(clip)
    folders["link"] = root / "link"
    folders["link"].mkdir()
    (folders["link"] / "other.mp4").write_bytes(clip)
    (folders["link"] / VIDEO).symlink_to("other.mp4")
    return folders


def test_nothing_but_the_video_is_opened_and_no_socket(hostile: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "other.mp4").write_bytes((hostile["reference"] / VIDEO).read_bytes())
    watch = Watch(tmp_path, *hostile.values())
    ended = alone(tmp_path, *(str(folder / VIDEO) for folder in hostile.values()))
    opened = watch.opened()
    watch.close()
    assert ended.returncode == 0, ended.stderr[-500:]
    verdicts = dict(zip(hostile, json.loads(ended.stdout), strict=True))
    # A reference to other data is not followed: the file's own bytes, which are sound here, are judged.
    passing = {name for name, verdict in verdicts.items() if verdict == "pass"}
    assert passing == {"reference", "data reference", "data reference by url"}
    # The folder's own name is empty: python looks into the working folder for modules.
    assert opened <= {VIDEO, ""}
    assert VIDEO in opened


def test_the_watchers_would_tell(hostile: dict[str, Path], tmp_path: Path) -> None:
    assert alone(tmp_path, "--socket").returncode == -signal.SIGSYS
    # Without our fence, ffmpeg follows a playlist to its neighbour: the watch sees it.
    watch = Watch(hostile["concat"])
    playlist = hostile["concat"] / VIDEO
    _, ended = run_ffmpeg(["-v", "error", "-f", "concat", "-i", f"file:{playlist}", "-f", "null", "-"], work=tmp_path)
    assert ended.code == 0, ended.log
    assert "other.mp4" in watch.opened()
    watch.close()
