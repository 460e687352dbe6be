"""Which language is spoken, judged on windows of speech only: a silent window would come out as some language.

The model is a multilingual Whisper, named by `VVB_WHISPER_MODEL` (engines.py says how). Nothing is ever downloaded;
without a model the language is unmeasured, with the reason.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vvb_resources.errors import MediaError
from vvb_resources.media.engines import SETTING, LanguageModel, chosen_model, load_model
from vvb_resources.media.facts import LanguageFacts, LanguageWindow, Span

RATE = 16_000
WINDOW_S = 30.0  # what Whisper hears at once
SHORTEST_S = 1.0


def language_facts(
    pcm: NDArray[np.float32], segments: tuple[Span, ...], model: LanguageModel | str | None = None
) -> LanguageFacts:
    """Languages of the speech `segments` of `pcm` (mono, 16 kHz, shape (n,)).

    `model`: a loaded one, a name or path, or None for `VVB_WHISPER_MODEL`. Without speech there is nothing to measure
    and nothing missing: measured, no windows.
    """
    if not segments:
        return LanguageFacts(measured=True)
    chosen = model or chosen_model()
    if not chosen:
        return LanguageFacts(measured=False, reason=f"no speech model: name one in benchmark.yaml or {SETTING}")
    try:
        loaded = load_model(chosen) if isinstance(chosen, str) else chosen
    except MediaError as error:
        return LanguageFacts(measured=False, reason=str(error))
    windows = []
    for group in speech_windows(segments):
        heard = np.concatenate([pcm[round(s.start * RATE) : round(s.end * RATE)] for s in group])
        language, p = loaded.detect(heard[: round(WINDOW_S * RATE)])
        windows.append(LanguageWindow(start=group[0].start, end=group[-1].end, language=language, p=round(p, 6)))
    return LanguageFacts(measured=True, engine=loaded.name, windows=tuple(windows))


def speech_windows(segments: tuple[Span, ...]) -> tuple[tuple[Span, ...], ...]:
    """Group segments into windows of at most 30 s of speech, cutting long ones; a last scrap under 1 s is left out
    unless it is all there is."""
    groups: list[list[Span]] = [[]]
    room = WINDOW_S
    for segment in segments:
        start = segment.start
        while segment.end - start > 1e-6:
            stop = min(segment.end, start + room)
            groups[-1].append(Span(start=round(start, 3), end=round(stop, 3)))
            room -= stop - start
            start = stop
            if room <= 1e-6:
                groups.append([])
                room = WINDOW_S
    if not groups[-1] or (len(groups) > 1 and sum(s.end - s.start for s in groups[-1]) < SHORTEST_S):
        groups.pop()
    return tuple(tuple(group) for group in groups)
