"""An agent for containers: reads its brief and renders a moving picture with a tone, by ffmpeg alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Deliver what spec.json asks for, after as many seconds as the first argument says."""
    Path("delivery/executed").write_text(os.urandom(8).hex())
    time.sleep(float(sys.argv[1]))
    spec = json.loads(Path("spec.json").read_text())
    asked = spec["delivery"]
    size, rate, seconds = f"{asked['width']}x{asked['height']}", asked["fps"], asked["duration"]["min"]
    command = [
        "ffmpeg",
        "-v",
        "error",
        "-y",
        "-f",
        "lavfi",
        "-i",
        f"testsrc2=size={size}:rate={rate}:duration={seconds}",
    ]
    command += ["-f", "lavfi", "-i", f"sine=frequency=330:duration={seconds}", "-pix_fmt", "yuv420p", "-c:a", "aac"]
    if asked.get("frames"):
        command += ["-frames:v", str(asked["frames"])]
    subprocess.run([*command, "-preset", "ultrafast", "tmp/video.mp4"], check=True)
    Path("delivery/project").mkdir()
    Path("delivery/project/clip.txt").write_text(" ".join(command))
    Path("delivery/timing.csv").write_text(f"start,end,what\n0,{seconds},a test picture\n")
    Path("delivery/notes.md").write_text("Made by ffmpeg's own test sources. Nothing was verified.\n")
    os.rename("tmp/video.mp4", "delivery/video.mp4")


if __name__ == "__main__":
    main()
