"""Sound probes on decoded PCM: speech, silence, onsets, loudness, language of the speech."""

from __future__ import annotations

from vvb_resources.benchmark.probes import LanguageProbe, LoudnessProbe, OnsetProbe, SilenceProbe, SpeechProbe
from vvb_resources.judges.instruments.finding import EPSILON, Finding, past_end, span_of
from vvb_resources.judges.instruments.sound_pass import SoundFacts

_NO_STREAM = "the video has no sound"


def measure_speech(probe: SpeechProbe, sound: SoundFacts, duration_s: float) -> Finding:
    """Share of the window covered by speech, by voice activity detection."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "audio", needed=probe.min_share > 0)
    share = sound.speech_share(span.start, span.end)
    passed = probe.min_share - EPSILON <= share <= probe.max_share + EPSILON
    reason = f"speech covers {share:.0%} of {span.words}, {probe.min_share:.0%} to {probe.max_share:.0%} asked"
    return Finding("pass" if passed else "fail", span.start, span.end, "audio", reason if sound.present else _NO_STREAM)


def measure_silence(probe: SilenceProbe, sound: SoundFacts, duration_s: float) -> Finding:
    """The window's peak stays at or below `max_dbfs`. A video without sound is silent."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "audio", needed=False)
    peak = sound.peak_dbfs(span.start, span.end)
    reason = f"peak {peak:.1f} dBFS in {span.words}, at most {probe.max_dbfs:g} asked"
    return Finding(
        "pass" if peak <= probe.max_dbfs else "fail",
        span.start,
        span.end,
        "audio",
        reason if sound.present else f"{_NO_STREAM}: silent throughout",
    )


def measure_onsets(probe: OnsetProbe, sound: SoundFacts, duration_s: float) -> Finding:
    """Share of the asked instants near which a sound begins; instants outside the window are not asked."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "audio", needed=True)
    asked = [t for t in probe.times if probe.window is None or span.holds(t)]
    if not asked:
        return Finding("unknown", span.start, span.end, "audio", f"no asked instant lies in {span.words}")
    met = [t for t in asked if any(abs(onset - t) <= probe.tolerance + EPSILON for onset in sound.onsets)]
    missed = [t for t in asked if t not in met]
    share = len(met) / len(asked)
    passed = share >= probe.min_share - EPSILON
    detail = ", ".join(f"{t:g} s" for t in missed[:8])
    reason = (
        f"a sound begins within {probe.tolerance:g} s of {len(met)} of {len(asked)} instants"
        f"{f' (none near {detail})' if missed else ''}, {probe.min_share:.0%} asked; {len(sound.onsets)} onsets in all"
    )
    return Finding(
        "pass" if passed else "fail", min(asked), max(asked), "audio", reason if sound.present else _NO_STREAM
    )


def measure_loudness(probe: LoudnessProbe, sound: SoundFacts, duration_s: float) -> Finding:
    """RMS level of the window in dBFS lies between the bounds. A video without sound is below any."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "audio", needed=True)
    level = sound.rms_dbfs(span.start, span.end)
    passed = sound.present and probe.min_dbfs <= level <= probe.max_dbfs
    reason = f"RMS {level:.1f} dBFS in {span.words}, {probe.min_dbfs:g} to {probe.max_dbfs:g} asked"
    return Finding("pass" if passed else "fail", span.start, span.end, "audio", reason if sound.present else _NO_STREAM)


def measure_spoken_language(probe: LanguageProbe, sound: SoundFacts, duration_s: float) -> Finding:
    """The language of the speech. Without speech the check fails; with speech it takes a speech model to tell."""
    span = span_of(probe.window, duration_s)
    if span.past_end:
        return past_end(span, duration_s, "audio", needed=True)
    if sound.speech_share(span.start, span.end) <= 0:
        return Finding(
            "fail", span.start, span.end, "audio", f"no speech in {span.words}" if sound.present else _NO_STREAM
        )
    return Finding(
        "unknown", span.start, span.end, "audio", "this instrument detects speech but carries no model of its language"
    )
