"""Measure a delivery: guard, probe, one decode, speech. Gives facts, no verdict, and never fails on the delivery."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

from vvb_resources.errors import MediaError
from vvb_resources.media.container import ContainerCheck, check_container
from vvb_resources.media.decode import Decoded, decode
from vvb_resources.media.delivery import Delivery
from vvb_resources.media.facts import (
    ContainerFacts,
    DecodeFacts,
    DeliveryFacts,
    MediaFacts,
    PictureFacts,
    SoundFacts,
    StreamFacts,
    TimingFacts,
    VideoFacts,
    exact,
)
from vvb_resources.media.language import LanguageModel, language_facts
from vvb_resources.media.probe import AudioProbe, Probe, VideoProbe, probe
from vvb_resources.media.speech import speech_facts
from vvb_resources.media.timing import Timing, read_timing
from vvb_resources.media.tools import MAX_PIXELS
from vvb_resources.store.digests import digest_file


def measure(
    delivery: Delivery, work: Path, *, language_model: LanguageModel | str | None = None, deadline_s: float = 1800.0
) -> MediaFacts:
    """Measure the delivery. `work` is an existing folder; what is put there is removed again.

    `language_model`: see `language_facts`. `deadline_s`: wall-clock limit of the decode; a file that takes longer is
    undecodable. A missing, odd or damaged file is told in the facts. Raises MediaError when a tool of ours is missing.
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
    try:
        streams = probe(delivery.video)
    except MediaError as error:
        return refused.model_copy(update={"decode": DecodeFacts(ok=False, errors=(error.what,))})
    if streams.video is None:
        return refused.model_copy(
            update={"streams": _streams(streams), "decode": DecodeFacts(ok=False, errors=("no picture stream",))}
        )
    if (pixels := streams.video.width * streams.video.height) > MAX_PIXELS:
        reason = f"{streams.video.width}x{streams.video.height} is {pixels} pixels; the limit is {MAX_PIXELS}"
        return refused.model_copy(
            update={
                "streams": _streams(streams),
                "video": _video(streams.video),
                "decode": DecodeFacts(ok=False, errors=(reason,), refused=True),
            }
        )
    with tempfile.TemporaryDirectory(prefix="measure-", dir=work) as folder:
        audio = streams.audio[0] if streams.audio else None
        channels = max(1, audio.channels) if audio else 0
        decoded = decode(delivery.video, channels=channels, work=Path(folder), deadline_s=deadline_s)
        return _assembled(refused, streams, streams.video, audio, decoded, check, language_model)


def _assembled(
    base: MediaFacts,
    streams: Probe,
    video: VideoProbe,
    audio: AudioProbe | None,
    decoded: Decoded,
    check: ContainerCheck,
    language_model: LanguageModel | str | None,
) -> MediaFacts:
    timing: Timing | None = None
    picture: PictureFacts | None = None
    if decoded.stamps:
        timing = read_timing(decoded.stamps, video.time_base, video.rate)
        picture = decoded.picture.facts(decoded.stamps, timing.end)
    sound = _sound(audio, decoded) if audio else None
    bounds = [(Fraction(part.start), Fraction(part.end)) for part in (timing, sound) if part is not None]
    duration = max(end for _, end in bounds) - min(start for start, _ in bounds) if bounds else None
    speech = language = None
    if audio and duration is not None:
        pcm = decoded.speech_pcm()
        speech = speech_facts(pcm, float(duration))
        if speech.measured:
            language = language_facts(pcm, speech.segments, language_model)
    return base.model_copy(
        update={
            "streams": _streams(streams),
            "video": _video(video),
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


def _video(video: VideoProbe) -> VideoFacts:
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
    if decoded.timed_out:
        errors.append("the decode took longer than its deadline")
    elif decoded.code != 0:
        errors.append(f"the decoder ended with code {decoded.code}")
    return DecodeFacts(ok=not errors, errors=tuple(errors), timed_out=decoded.timed_out)


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
        end=exact(audio.start + Fraction(levels.samples, audio.rate or 1)),
        peaks_dbfs=levels.peaks,
        peak_dbfs=levels.peak,
        rms_dbfs=levels.rms,
        silent=levels.peak is None,
        loudness_lufs=levels.loudness,
        silence=levels.silence,
    )
