"""What L1 costs beside a bare full decode of the same file in the same run: `make bench-l1`.

Each figure is a process of its own, interpreter and imports included; yardstick and L1 take turns, and the ratio is of
medians. `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.l1_media import PIECE_S, Cost, bare_decode, fastest_ffmpeg, make_clips, run
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.measure import measure
from vvb_resources.media.outputs import Outputs

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
HEADING = "## L1"
WAYS = {
    "measured": "frames, rate, levels, black, frozen",
    "sheet": "the same with contact sheet and waveform, as the graph makes it",
    "speech": "the same as the first with speech detection (no language model)",
    "judges": "the same as the first with a 1 fps JPEG of 1280 px (at most 300) and a 4 fps proxy",
}


def one(clip: Path, way: str) -> None:
    """In a process of its own: measure `clip` and print the peak memory of this process and of its children."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        outputs = {
            "sheet": Outputs(work, sheet=True),
            "judges": Outputs(work, frames_fps=1, max_frames=300, proxy_fps=4),
        }.get(way)
        facts = measure(find_delivery(clip), work, speech=way == "speech", outputs=outputs)
    if not facts.decode.ok or facts.timing is None or facts.timing.fps != "30/1":
        raise RuntimeError(f"{clip.name} was not measured as it was made: {facts.decode}, {facts.timing}")
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    print(json.dumps((own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024))


def measured(clip: Path, way: str) -> Cost:
    """Cost of L1 for `clip`."""
    cost, printed = run([sys.executable, "-m", "benchmarks.l1", "--one", str(clip), way])
    return Cost(cost.cpu_s, cost.wall_s, float(json.loads(printed)))


def median(costs: list[Cost]) -> Cost:
    """Median of each figure."""
    return Cost(*(statistics.median(getattr(cost, name) for cost in costs) for name in ("cpu_s", "wall_s", "peak_mib")))


def table(lengths: tuple[int, ...], repeats: int) -> str:
    """The section for docs/performance.md."""
    with tempfile.TemporaryDirectory(prefix="vvb-bench-") as name:
        clips = make_clips(Path(name), (PIECE_S, *lengths))
        program, version = fastest_ffmpeg(clips[PIECE_S])
        lines = [
            HEADING,
            "",
            "CPU and wall of L1 as shares of a bare full decode of the same file (1080p30 H.264, AAC stereo) in the",
            f"same run, by the fastest installed ffmpeg ({version}). Peak memory is that of L1 and of its largest",
            f"child, added. Medians of {repeats} run(s), interpreter and imports included. Made by `make bench-l1`.",
            "",
            "| length | what | CPU s | CPU / decode | wall s | wall / decode | peak MiB |",
            "|---|---|---|---|---|---|---|",
        ]
        for length in lengths:
            costs: dict[str, list[Cost]] = {way: [] for way in ("bare decode", *WAYS)}
            for _ in range(repeats):
                costs["bare decode"].append(bare_decode(program, clips[length]))
                for way in WAYS:
                    costs[way].append(measured(clips[length], way))
            bare = median(costs["bare decode"])
            lines.append(f"| {length} s | bare decode | {bare.cpu_s:.2f} | 1 | {bare.wall_s:.2f} | 1 | |")
            for way in WAYS:
                cost = median(costs[way])
                cpu = f"{cost.cpu_s:.2f} | {cost.cpu_s / bare.cpu_s:.2f}"
                wall = f"{cost.wall_s:.2f} | {cost.wall_s / bare.wall_s:.2f}"
                lines.append(f"| {length} s | {way} | {cpu} | {wall} | {cost.peak_mib:.0f} |")
            print("\n".join(lines[-len(WAYS) - 1 :]), flush=True)
    return "\n".join([*lines, "", *(f"- {way}: {what}" for way, what in WAYS.items())]) + "\n"


def write_section(section: str) -> None:
    """Replace the section of L1 in docs/performance.md, or add it."""
    text = DOCUMENT.read_text() if DOCUMENT.exists() else "# Performance: ratios to a yardstick of the same run\n"
    parts = text.split("\n## ")
    others = [part for part in parts if not part.startswith("L1\n")]
    DOCUMENT.write_text("\n## ".join(others).rstrip("\n") + "\n\n" + section)


def main() -> None:
    """Print the table; with `--write` keep it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lengths", default="15,120,600", help="seconds, multiples of 15")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--write", action="store_true", help="into docs/performance.md")
    options.add_argument("--one", nargs=2, metavar=("CLIP", "WAY"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        one(Path(chosen.one[0]), chosen.one[1])
        return
    section = table(tuple(int(length) for length in chosen.lengths.split(",")), chosen.repeats)
    if chosen.write:
        write_section(section)


if __name__ == "__main__":
    main()
