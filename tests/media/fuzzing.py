"""Damaged files by the thousand, each from its number alone: boxes rewritten, files cut, bytes replaced at random.

A file is judged twice: by L1, and by a full decode that shares nothing with it but the ffmpeg program (its own
arguments, exit code and messages). `python -m tests.media.fuzzing --files 2000` is `make fuzz`.
"""

from __future__ import annotations

import argparse
import random
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tests.media.clips import BLACK, make_clip, remux
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.measure import measure
from vvb_resources.media.tools import input_url, run_ffmpeg

SLOWEST_S = 30.0  # on a machine that does something else as well
WORDS = (0, 1, 2, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FFFFFF, 0x40000000)
CONTAINERS = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"moof", b"traf", b"udta")


@dataclass
class Tally:
    """What became of the files: outcomes by name, faults (must stay empty), the slowest file's seconds, and resident
    memory in MiB after a tenth of the files and at the end."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    early_mib: float = 0.0
    late_mib: float = 0.0


@lru_cache
def seeds() -> tuple[bytes, ...]:
    """Clips of at most 2 s at 160x90: header first and last, fragments, B-frames, an edit list, no sound, silence."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usual = {"size": "160x90", "seconds": "1"}
        ways = [
            make_clip(folder / "a.mp4", **usual),
            make_clip(folder / "b.mp4", **usual, extra=["-movflags", "+faststart"]),
            make_clip(folder / "c.mp4", **usual, extra=["-movflags", "+frag_keyframe+delay_moov", "-g", "10"]),
            make_clip(folder / "d.mp4", **usual, codec=["-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv420p"]),
            make_clip(folder / "e.mp4", **usual, sound=None, picture=BLACK),
            make_clip(folder / "f.mp4", size="96x54", seconds="2", rate="10"),
        ]
        ways.append(remux(ways[5], folder / "g.mp4", before=["-ss", "0.5"]))
        return tuple(path.read_bytes() for path in ways)


def damaged(number: int) -> bytes:
    """The damaged file of this number."""
    dice = random.Random(number)
    data = bytearray(dice.choice(seeds()))
    way = dice.randrange(6)
    if way == 0:
        return bytes(data[: dice.randrange(len(data))])
    if way == 1:  # noise in the media
        for _ in range(dice.randint(1, 12)):
            at = dice.randrange(len(data))
            data[at : at + dice.randint(1, 64)] = dice.randbytes(dice.randint(1, 64))
        return bytes(data)
    if way == 2:  # single bits anywhere
        for _ in range(dice.randint(1, 40)):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        return bytes(data)
    boxes = list(_boxes(data, 0, len(data)))
    for _ in range(dice.randint(1, 3)):
        at, size, _ = dice.choice(boxes)
        if way == 3:  # a length or a field of a box
            place = at if dice.random() < 0.3 else at + 4 * dice.randrange(max(1, min(size, 256) // 4))
            data[place : place + 4] = struct.pack(">I", dice.choice(WORDS))
        elif way == 4:  # a type
            data[at + 4 : at + 8] = dice.choice([b"free", b"moov", b"trak", b"zzzz", b"mdat", b"stsz"])
        else:  # a box gone, doubled or moved
            body = bytes(data[at : at + size])
            data[at : at + size] = dice.choice([b"", body + body, body[: size // 2]])
            boxes = list(_boxes(data, 0, len(data))) or [(0, 8, b"")]
    return bytes(data)


def _boxes(data: bytearray, start: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Offset, size and type of every box, nested ones too."""
    at = start
    while at + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, at)
        if size < 8 or at + size > end:
            return
        yield at, size, kind
        if kind in CONTAINERS:
            yield from _boxes(data, at + 8, at + size)
        at += size


def full_decode_finds_damage(video: Path, work: Path) -> str:
    """The first error that a plain full decode of picture and sound reports, or an empty text."""
    args = ["-v", "error", "-f", "mov", "-i", input_url(video), "-map", "0:V:0", "-map", "0:a:0?", "-f", "null", "-"]
    _, ended = run_ffmpeg(args, work=work, deadline_s=SLOWEST_S)
    return ended.log.strip().split("\n")[0] or (f"exit {ended.code}" if ended.code else "")


def children() -> list[int]:
    """Processes that this one started and that still are (zombies too), from Linux's /proc."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            found += [int(pid) for pid in (task / "children").read_text().split()]
        except OSError:  # the thread has just ended, and with it its claim
            continue
    return found


def resident_mib() -> float:
    """Memory of this process that is resident."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def fuzz(numbers: range, folder: Path) -> Tally:
    """Measure the damaged files of these numbers one after the other in `folder`."""
    tally = Tally()
    video = folder / "video.mp4"
    ours = set(children())  # of whatever else this process runs
    for done, number in enumerate(numbers):
        video.write_bytes(damaged(number))
        began = time.monotonic()
        try:
            facts = measure(find_delivery(video), folder, deadline_s=SLOWEST_S)
        except Exception as error:  # whatever it is, it is the finding
            tally.faults.append(f"{number}: raised {error!r}")
            continue
        took = time.monotonic() - began
        tally.slowest_s = max(tally.slowest_s, took)
        if took > SLOWEST_S + 5:
            tally.faults.append(f"{number}: took {took:.1f} s")
        outcome = facts.container.fault or ("decodes" if facts.decode.ok else "damaged")
        tally.outcomes[outcome] += 1
        if facts.decode.ok and (found := full_decode_finds_damage(video, folder)):
            tally.faults.append(f"{number}: passed, but a full decode says: {found}")
        if left := sorted(set(children()) - ours):
            tally.faults.append(f"{number}: left the processes {left}")
        if extra := sorted(path.name for path in folder.iterdir() if path.name not in ("video.mp4", "ffmpeg.log")):
            tally.faults.append(f"{number}: left the files {extra}")
        if done == len(numbers) // 10:
            tally.early_mib = resident_mib()
    tally.late_mib = resident_mib()
    return tally


def main() -> int:
    """Fuzz and print the figures; 1 when there was a fault."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=2_000)
    options.add_argument("--first", type=int, default=0, help="number of the first file")
    chosen = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vvb-fuzz-") as name:
        tally = fuzz(range(chosen.first, chosen.first + chosen.files), Path(name))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{chosen.files} files in {time.monotonic() - began:.0f} s; slowest {tally.slowest_s:.2f} s")
    print(", ".join(f"{name} {count}" for name, count in tally.outcomes.most_common()))
    print(f"memory {tally.early_mib:.0f} MiB early, {tally.late_mib:.0f} MiB at the end; largest child {peak:.0f} MiB")
    for fault in tally.faults:
        print("FAULT", fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
