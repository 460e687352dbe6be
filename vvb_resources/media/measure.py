"""Measure a delivery: guard, probe, one decode, speech. Gives facts, no verdict, and never fails on the delivery."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from vvb_resources.errors import MediaError
from vvb_resources.media.apart import probe_apart
from vvb_resources.media.container import ContainerCheck, check_container
from vvb_resources.media.decode import Decoded, decode
from vvb_resources.media.delivery import Delivery
from vvb_resources.media.engines import LanguageModel
from vvb_resources.media.facts import (
    ContainerFacts,
    DecodeFacts,
    DeliveryFacts,
    LanguageFacts,
    MediaFacts,
    PictureFacts,
    SoundFacts,
    SpeechFacts,
    StreamFacts,
    TimingFacts,
    VideoFacts,
    exact,
)
from vvb_resources.media.filters import SPEECH_RATE
from vvb_resources.media.language import language_facts
from vvb_resources.media.outputs import Outputs
from vvb_resources.media.preview import leave_previews
from vvb_resources.media.probe import AudioProbe, Probe, VideoProbe
from vvb_resources.media.speech import speech_facts
from vvb_resources.media.timing import Timing, read_timing
from vvb_resources.media.tools import MAX_PIXELS
from vvb_resources.store.digests import digest_file

# Where a sample may be no picture of its own: cover art, packed frames.
STILL_CODECS = frozenset({"mp4v", "jpeg", "png ", "mjpa", "mjpb"})
HOLE_S = Fraction(1, 10)  # more than the resampler's own delay, less than anyone hears as a different length
KNOWN_LAYOUT = re.compile(r"mono|stereo|[2-7]\.[01](\([a-z]+\))?|quad(\(side\))?|hexagonal|octagonal|downmix")


def measure(
    delivery: Delivery,
    work: Path,
    *,
    language_model: LanguageModel | str | None = None,
    deadline_s: float = 1800.0,
    speech: bool = True,
    outputs: Outputs | None = None,
) -> MediaFacts:
    """Measure the delivery. `work` is an existing folder; what is put there is removed again.

    `language_model`: see `language_facts`. `deadline_s`: wall-clock limit of the decode; a file that takes longer is
    undecodable. `speech` False leaves speech and its language unmeasured. `outputs`: pictures wanted from the same
    decode (see `Outputs`); a contact sheet is left there as `contact.jpg`, a waveform as `waveform.png`. A missing, odd
    or damaged file is told in the facts. Raises MediaError when a tool of ours is missing.
    """
    beside = DeliveryFacts(
        video=delivery.video.name.encode("utf-8", "replace").decode() if delivery.video else None,
        fault=delivery.fault,
        project=delivery.project,
        timing=delivery.timing is not None,
        notes=delivery.notes is not None,
    )
    check = check_container(delivery.video)
    if delivery.video is None and delivery.fault and check.fault == "missing":
        check = ContainerCheck(False, "not_regular" if "regular" in delivery.fault else "missing", delivery.fault)
    container = _container(check)
    digest = digest_file(delivery.video) if delivery.video and check.size_bytes and check.fault != "too_large" else None
    refused = MediaFacts(digest=digest, delivery=beside, container=container, decode=DecodeFacts(ok=False))
    if not check.ok or delivery.video is None:
        return refused.model_copy(update={"decode": DecodeFacts(ok=False, errors=(check.message,))})
    with tempfile.TemporaryDirectory(prefix="measure-", dir=work) as folder:
        return _opened(
            refused, delivery.video, check, Path(folder), _Wishes(language_model, deadline_s, speech, outputs)
        )


@dataclass(frozen=True)
class _Wishes:
    language_model: LanguageModel | str | None
    deadline_s: float
    speech: bool
    outputs: Outputs | None


def _opened(refused: MediaFacts, path: Path, check: ContainerCheck, work: Path, wishes: _Wishes) -> MediaFacts:
    """Facts of a file that passed the guard: probed, then decoded if it has a picture of a size that one may decode."""
    try:
        streams = probe_apart(path, work)
    except MediaError as error:
        return refused.model_copy(update={"decode": DecodeFacts(ok=False, errors=(error.what,))})
    video = streams.video
    if video is None:
        return refused.model_copy(
            update={"streams": _streams(streams), "decode": DecodeFacts(ok=False, errors=("no picture stream",))}
        )
    if (pixels := video.width * video.height) > MAX_PIXELS:
        reason = f"{video.width}x{video.height} is {pixels} pixels; the limit is {MAX_PIXELS}"
        return refused.model_copy(
            update={
                "streams": _streams(streams),
                "video": _video(video, ()),
                "decode": DecodeFacts(ok=False, errors=(reason,), refused=True),
            }
        )
    audio = streams.audio[0] if streams.audio else None
    channels = max(1, audio.channels) if audio else 0
    layout = audio.layout if audio and KNOWN_LAYOUT.fullmatch(audio.layout) else ""
    plan = wishes.outputs.plan(video, video.ends_s) if wishes.outputs else None
    once = partial(
        decode,
        path,
        channels=channels,
        layout=layout,
        work=work,
        deadline_s=wishes.deadline_s,
    )
    decoded = once(plan=plan)
    if plan and not decoded.healthy and not decoded.timed_out:
        # Was it the file, or a further output of it? Only the first is a fact of the delivery.
        decoded = once()
    facts = _assembled(refused, streams, video, audio, decoded, check, wishes)
    if wishes.outputs and wishes.outputs.sheet and facts.timing is not None:
        sheet = plan.read_sheet(decoded.files.sheet) if plan else []
        again = path if facts.decode.ok else None
        leave_previews(wishes.outputs.folder, again, facts.duration_s or 0.0, sheet, decoded.pcm())
    return facts


def _assembled(
    base: MediaFacts,
    streams: Probe,
    video: VideoProbe,
    audio: AudioProbe | None,
    decoded: Decoded,
    check: ContainerCheck,
    wishes: _Wishes,
) -> MediaFacts:
    timing: Timing | None = None
    picture: PictureFacts | None = None
    if decoded.stamps:
        timing = read_timing(decoded.stamps, video.time_base, video.rate)
        picture = decoded.picture.facts(decoded.stamps, timing.end)
    sound = _sound(audio, decoded) if audio else None
    bounds = [(Fraction(part.start), Fraction(part.end)) for part in (timing, sound) if part is not None]
    duration = max(end for _, end in bounds) - min(start for start, _ in bounds) if bounds else None
    speech, language = _speech(decoded, duration, wishes) if audio else (None, None)
    return base.model_copy(
        update={
            "streams": _streams(streams),
            "video": _video(video, tuple(size for size in decoded.sizes if size != (video.width, video.height))),
            "timing": _timing(timing) if timing else None,
            "decode": _health(decoded, check),
            "picture": picture,
            "sound": sound,
            "speech": speech,
            "language": language,
            "duration": exact(duration) if duration is not None else None,
            "duration_s": round(float(duration), 6) if duration is not None else None,
        }
    )


def _speech(
    decoded: Decoded, duration: Fraction | None, wishes: _Wishes
) -> tuple[SpeechFacts | None, LanguageFacts | None]:
    if duration is None:
        return None, None
    if not wishes.speech:
        return SpeechFacts(measured=False, reason="speech was not asked for"), None
    pcm = decoded.speech_pcm()
    speech = speech_facts(pcm, float(duration))
    return speech, language_facts(pcm, speech.segments, wishes.language_model) if speech.measured else None


def _container(check: ContainerCheck) -> ContainerFacts:
    layout = check.layout
    pictures = [track for track in layout.tracks if track.handler == "vide"] if layout else []
    largest = max(pictures, key=lambda track: track.width * track.height, default=None)
    return ContainerFacts(
        sound=check.ok or check.fault == "no_video",
        fault=check.fault,
        message=check.message,
        size_bytes=check.size_bytes,
        major_brand=layout.major_brand if layout else "",
        brands=layout.brands if layout else (),
        trailing_bytes=layout.trailing if layout else 0,
        truncated=layout.truncated if layout else False,
        claimed_width=largest.width if largest else 0,
        claimed_height=largest.height if largest else 0,
    )


def _streams(streams: Probe) -> StreamFacts:
    return StreamFacts(
        video=streams.video_streams,
        audio=len(streams.audio),
        attached_pictures=streams.attached_pictures,
        others=streams.others,
    )


def _video(video: VideoProbe, changes: tuple[tuple[int, int], ...]) -> VideoFacts:
    width, height = video.displayed
    return VideoFacts(
        codec=video.codec,
        profile=video.profile,
        pix_fmt=video.pix_fmt,
        coded_width=video.width,
        coded_height=video.height,
        sar=exact(video.sar),
        rotation=video.rotation,
        width=width,
        height=height,
        time_base=exact(video.time_base),
        header_frames=video.header_frames,
        header_fps=exact(video.rate) if video.rate else None,
        changes=changes,
    )


def _timing(timing: Timing) -> TimingFacts:
    return TimingFacts(
        frames=timing.frames,
        constant=timing.constant,
        fps=exact(timing.fps) if timing.fps is not None else None,
        fps_value=round(float(timing.fps), 6) if timing.fps is not None else None,
        start=exact(timing.start),
        end=exact(timing.end),
    )


def _health(decoded: Decoded, check: ContainerCheck) -> DecodeFacts:
    """Healthy: no damage was told, ffmpeg ended well in time, a picture came, and the file is as long as it says."""
    errors = list(decoded.messages)
    if check.layout and check.layout.truncated:
        errors.append("the file ends before its last box does")
    if not decoded.stamps:
        errors.append("no picture was decoded")
    elif lost := _lost(decoded, check):
        errors.append(f"{lost} stored pictures do not come out of the decoder")
    if decoded.timed_out:
        errors.append("the decode took longer than its deadline")
    elif decoded.code != 0:
        errors.append(f"the decoder ended with code {decoded.code}")
    return DecodeFacts(ok=not errors, errors=tuple(errors), timed_out=decoded.timed_out)


def _lost(decoded: Decoded, check: ContainerCheck) -> int:
    """Pictures that the file stores and no edit list leaves out, but that were not decoded. A cut or late decode has
    its own message."""
    tracks = check.layout.tracks if check.layout else ()
    track = next((track for track in tracks if track.handler == "vide" and track.codec not in STILL_CODECS), None)
    if track is None or not track.all_shown or decoded.timed_out or decoded.code != 0:
        return 0
    return max(0, track.samples - len(decoded.stamps))


def _sound(audio: AudioProbe, decoded: Decoded) -> SoundFacts | None:
    """Facts of the sound; None when no sample was decoded."""
    levels = decoded.levels
    if levels is None:
        return None
    return SoundFacts(
        codec=audio.codec,
        rate=audio.rate,
        channels=audio.channels,
        layout=audio.layout,
        start=exact(audio.start),
        end=exact(_sound_end(audio, decoded, levels.samples)),
        peaks_dbfs=levels.peaks,
        peak_dbfs=levels.peak,
        rms_dbfs=levels.rms,
        silent=levels.peak is None,
        loudness_lufs=levels.loudness,
        silence=levels.silence,
    )


def _sound_end(audio: AudioProbe, decoded: Decoded, samples: int) -> Fraction:
    """Where the sound ends: start and number of samples say it exactly, unless there are holes between packets or the
    header's rate is not the decoder's; the resampled sound, which lies on the presentation clock, shows both."""
    counted = audio.start + Fraction(samples, audio.rate or 1)
    heard = Fraction(len(decoded.pcm()), SPEECH_RATE)
    return counted if abs(heard - counted) <= HOLE_S else heard
