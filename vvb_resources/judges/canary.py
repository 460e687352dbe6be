"""Does a judge really hear: it is asked for a codeword that is spoken and shown nowhere.

Servers have dropped the sound of a video without a word; their judges then answer audio checks from the picture. A
judge that names a random codeword has heard it.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vvb_resources.benchmark.models import AudioPolicy, DurationRange, JudgeConfig
from vvb_resources.errors import JudgeError
from vvb_resources.judges.calls import CallDesk
from vvb_resources.judges.prompt import protocol_text
from vvb_resources.judges.providers.base import Services, provider_module
from vvb_resources.judges.reading import read_reply
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.service import effective
from vvb_resources.judges.types import AskedCheck, JudgeRequest
from vvb_resources.media.blinding import BlindedMedia, blind
from vvb_resources.media.spoken import spoken_clip
from vvb_resources.sandbox.tts import synthesize

WORDS = (
    "lantern",
    "pineapple",
    "volcano",
    "umbrella",
    "saxophone",
    "crocodile",
    "telescope",
    "butterfly",
    "helicopter",
)
CHECK = "C1"
SPEED = 130


@dataclass(frozen=True)
class Heard:
    """What came of the question: the word that was spoken, what the judge said, and whether that names it."""

    judge: str
    spoken: str
    said: str
    heard: bool
    usd: float | None


def canary(
    panel: str, judge: JudgeConfig, desk: CallDesk, replies: ReplyStore, services: Services, word: str | None = None
) -> Heard:
    """Ask `judge` once for the word spoken in a clip (`word`, else one at random). Costs one call.

    Raises JudgeError for a judge that does not hear or whose service fails, PausedError before a limit of money.
    """
    judge = effective(judge)
    module = provider_module(judge.provider)
    if not (judge.hears and module.PAID):
        raise JudgeError("does not listen", where=f"judge {judge.id}", remedy="ask a model judge with hears: true")
    word = word or random.choice(WORDS)
    provider = module.create(judge, services)
    try:
        with tempfile.TemporaryDirectory(prefix="vvb-canary-") as work:
            request = _request(judge, module.VERSION, _clip(word, Path(work)))
            raw = desk.ask(
                provider, module, request, panel, lambda raw: replies.put(request.key, request.key_parts, raw)
            )
    finally:
        provider.close()
    if not raw.usable:
        raise JudgeError(f"{raw.outcome}: {raw.fault}", where=f"judge {judge.id}", remedy="see docs/judges.md")
    reading = read_reply(module.reply_text(raw.body), (CHECK,), (), outcome=raw.outcome)
    said = reading.verdicts[0].reason if reading.verdicts else ""
    return Heard(judge.id, word, said, word in said.casefold(), raw.usd)


def _clip(word: str, folder: Path) -> BlindedMedia:
    pcm, rate = synthesize(f"The codeword is: {word}. I repeat: {word}.", "en", SPEED)
    spoken_clip(pcm, rate, folder / "clip.mp4")
    out = folder / "blinded"
    out.mkdir()
    return blind(folder / "clip.mp4", out)


def _request(judge: JudgeConfig, version: str, media: BlindedMedia) -> JudgeRequest:
    check = AskedCheck(
        CHECK,
        "A codeword is spoken",
        "A codeword is spoken; the reason names it.",
        "No codeword can be heard.",
        "Whole video",
        "Speak a codeword.",
        "audio",
        "core",
    )
    return JudgeRequest(
        judge=judge,
        prompt="Speak a codeword.",
        duration=DurationRange(min=1, max=30),
        audio=AudioPolicy(narration="required", music="not_used", effects="not_used", ambience="not_used"),
        checks=(check,),
        dims=(),
        media=media,
        provider_version=version,
        protocol=protocol_text(judge.sees, judge.hears, ()),
    )
