"""Make the delivery of the task in the current folder, after one more look: `python main.py`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from kit.brief import Brief, read_brief  # noqa: E402
from kit.deliver import Film, Frame, deliver, pictures, render  # noqa: E402
from vector.scenes import scene_of  # noqa: E402

from late import habits  # noqa: E402


def main() -> None:
    """Preview until satisfied, then render; on some tasks that is too late."""
    brief = read_brief()
    make, _ = scene_of(brief)
    film = make(brief, habits.POLISHER)
    name = f"{brief.id.lower()}_final.mp4"
    aside = habits.last_minute_folder(brief)
    if aside is None:
        for number in range(habits.PREVIEWS):
            preview(brief, film, number)
            time.sleep(habits.PAUSE_S)
        sources = [HERE, HERE.parent / "vector", HERE.parent / "kit"]
        deliver(brief, film, name, sources=sources, rerun="python project/late/main.py", timing=False)
        print(f"{brief.id}: delivered", flush=True)
        return
    number = 0
    while brief.seconds_left() > habits.LAST_CALL_S:
        preview(brief, film, number)
        number += 1
        time.sleep(max(0.0, min(habits.LONG_PAUSE_S, brief.seconds_left() - habits.LAST_CALL_S)))
    print(f"{brief.id}: final render starts {brief.seconds_left():.1f} s before the deadline", flush=True)
    # Packets go to the file at once, so that an interrupted render leaves its beginning and not an empty file.
    options = ["-flush_packets", "1", "-x264-params", "rc-lookahead=10"]
    render(brief, film, aside / name, preset="slow", options=options, frames=paced(film, brief.fps))


def preview(brief: Brief, film: Film, number: int) -> None:
    """Draw a few frames spread over the film, each round others, and save them at a quarter of the size."""
    folder = brief.tmp / f"preview_{number:03d}"
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(habits.PREVIEW_FRAMES):
        t = (k + (number * 0.37) % 1.0) / habits.PREVIEW_FRAMES * film.frames / brief.fps
        frame = film.draw(t)[::4, ::4]
        colour = frame[:, :, 2::-1] if film.pixels == "bgra" else frame[:, :, :3]
        Image.fromarray(colour.copy()).save(folder / f"{t:06.3f}.png")
    print(f"{brief.id}: preview {number}, {brief.seconds_left():.0f} s left", flush=True)


def paced(film: Film, fps: float) -> Iterator[Frame]:
    """The pictures of `film`, none sooner than `PACE` times its place in the film after the first."""
    begun = time.monotonic()
    for n, frame in enumerate(pictures(film, fps)):
        time.sleep(max(0.0, begun + habits.PACE * n / fps - time.monotonic()))
        yield frame


if __name__ == "__main__":
    main()
