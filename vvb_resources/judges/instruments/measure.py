"""From a probe to its finding: which observation each kind needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vvb_resources.benchmark.probes import (
    ColourProbe,
    DwellProbe,
    LanguageProbe,
    LoudnessProbe,
    MotionProbe,
    OnsetProbe,
    Probe,
    SceneChangeProbe,
    SilenceProbe,
    SpeechProbe,
    TextProbe,
)
from vvb_resources.judges.instruments.finding import Finding
from vvb_resources.judges.instruments.frames_pass import FrameFacts
from vvb_resources.judges.instruments.picture import measure_colour, measure_motion, measure_scene_changes
from vvb_resources.judges.instruments.sound import (
    measure_loudness,
    measure_onsets,
    measure_silence,
    measure_speech,
    measure_spoken_language,
)
from vvb_resources.judges.instruments.sound_pass import SoundFacts
from vvb_resources.judges.instruments.text import measure_dwell, measure_shown_language, measure_text


@dataclass(frozen=True)
class Perceived:
    """What one judge perceives of one video; None for the sense it lacks."""

    duration_s: float
    frames: Sequence[FrameFacts] | None
    sound: SoundFacts | None


def needs_sound(probe: Probe) -> bool:
    """Is this probe measured on the sound (otherwise on frames)."""
    if isinstance(probe, LanguageProbe):
        return probe.channel == "speech"
    return isinstance(probe, SpeechProbe | SilenceProbe | OnsetProbe | LoudnessProbe)


def measure(probe: Probe, perceived: Perceived) -> Finding:
    """Measure one probe. A judge without the sense the probe needs answers unknown, whatever else it perceives."""
    duration = perceived.duration_s
    if needs_sound(probe):
        if perceived.sound is None:
            return Finding("unknown", None, None, "audio", "this judge does not hear")
        return _on_sound(probe, perceived.sound, duration)
    if perceived.frames is None:
        return Finding("unknown", None, None, "visual", "this judge does not see")
    return _on_frames(probe, perceived.frames, duration)


def _on_sound(probe: Probe, sound: SoundFacts, duration_s: float) -> Finding:
    match probe:
        case SpeechProbe():
            return measure_speech(probe, sound, duration_s)
        case SilenceProbe():
            return measure_silence(probe, sound, duration_s)
        case OnsetProbe():
            return measure_onsets(probe, sound, duration_s)
        case LoudnessProbe():
            return measure_loudness(probe, sound, duration_s)
        case LanguageProbe():
            return measure_spoken_language(probe, sound, duration_s)
        case _:
            raise TypeError(f"{probe.kind} is not measured on sound")


def _on_frames(probe: Probe, frames: Sequence[FrameFacts], duration_s: float) -> Finding:
    match probe:
        case TextProbe():
            return measure_text(probe, frames, duration_s)
        case DwellProbe():
            return measure_dwell(probe, frames, duration_s)
        case ColourProbe():
            return measure_colour(probe, frames, duration_s)
        case MotionProbe():
            return measure_motion(probe, frames, duration_s)
        case SceneChangeProbe():
            return measure_scene_changes(probe, frames, duration_s)
        case LanguageProbe():
            return measure_shown_language(probe, frames, duration_s)
        case _:
            raise TypeError(f"{probe.kind} is not measured on frames")
