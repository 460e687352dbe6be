"""The cache of observations: a blinded video is looked at and listened to once, for all panels.

Keyed by the video's digest, the instrument, its version and its parameters. A frame's observation is kept by its
instant, so that a panel that samples every second finds every other frame of one that samples twice a second. Losing
the cache loses time, never a result: replies are stored elsewhere.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vvb_resources.judges.instruments.frames_pass import FRAMES_VERSION, FrameFacts, frame_parameters, pass_frames
from vvb_resources.judges.instruments.ocr import TextLine
from vvb_resources.judges.instruments.sound_pass import BLOCK, HOP, RATE, SOUND_VERSION, SoundFacts, pass_sound
from vvb_resources.media.blinding import BlindedMedia
from vvb_resources.store.atomic import replace_with, write_json
from vvb_resources.store.digests import digest_value

_IN_MEMORY = 4


class ObservationCache:
    """Observations below `root`, and those of the last few videos in memory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._frames: OrderedDict[Path, dict[float, FrameFacts]] = OrderedDict()
        self._sound: OrderedDict[Path, SoundFacts] = OrderedDict()

    def frames(self, media: BlindedMedia, times: Sequence[float], max_side: int) -> tuple[FrameFacts, ...]:
        """Observations at `times` (seconds, ascending); instants not seen before are observed in one pass."""
        file = self._file(media, "frames", FRAMES_VERSION, frame_parameters(max_side), "npz")
        known = self._frames.get(file)
        if known is None:
            known = _load_frames(file)
        wanted = tuple(round(t, 6) for t in times)
        missing = tuple(t for t in wanted if t not in known)
        if missing:
            known = known | {facts.t: facts for facts in pass_frames(media.video, missing, max_side)}
            _save_frames(file, known)
        _remember(self._frames, file, known)
        return tuple(known[t] for t in wanted if t in known)

    def sound(self, media: BlindedMedia) -> SoundFacts:
        """What is heard in the video."""
        file = self._file(media, "sound", SOUND_VERSION, {"rate": RATE, "block": BLOCK, "hop": HOP}, "json")
        facts = self._sound.get(file)
        if facts is None and file.exists():
            facts = SoundFacts.from_json(json.loads(file.read_text()))
        if facts is None:
            facts = pass_sound(media.video, media.has_audio)
            write_json(file, facts.to_json())
        _remember(self._sound, file, facts)
        return facts

    def _file(self, media: BlindedMedia, instrument: str, version: str, parameters: dict[str, int], kind: str) -> Path:
        name = f"{instrument}-{digest_value({'version': version, 'parameters': parameters})[:12]}.{kind}"
        return self.root / media.digest[:2] / media.digest / name


def _remember(memory: OrderedDict[Path, Any], file: Path, value: Any) -> None:
    memory[file] = value
    memory.move_to_end(file)
    while len(memory) > _IN_MEMORY:
        memory.popitem(last=False)


def _save_frames(file: Path, known: dict[float, FrameFacts]) -> None:
    """All instants of a video in one file: pictures as an array, the rest as JSON."""
    ordered = [known[t] for t in sorted(known)]
    rows = [
        {
            "t": facts.t,
            "sharpness": facts.sharpness,
            "edges": facts.edges,
            "lines": [[line.text, line.confidence, list(line.box)] for line in facts.lines],
        }
        for facts in ordered
    ]
    thumbs = np.stack([facts.thumb for facts in ordered])

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as handle:
            np.savez_compressed(handle, thumbs=thumbs, rows=np.array(json.dumps(rows, ensure_ascii=False)))

    replace_with(file, fill)


def _load_frames(file: Path) -> dict[float, FrameFacts]:
    if not file.exists():
        return {}
    with np.load(file, allow_pickle=False) as stored:
        thumbs, rows = stored["thumbs"], json.loads(str(stored["rows"]))
    return {
        row["t"]: FrameFacts(
            t=row["t"],
            lines=tuple(TextLine(text, confidence, tuple(box)) for text, confidence, box in row["lines"]),
            thumb=thumb,
            sharpness=row["sharpness"],
            edges=row["edges"],
        )
        for row, thumb in zip(rows, thumbs, strict=True)
    }
