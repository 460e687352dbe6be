"""The instrument judge: answers by measuring, through the same request, reply and reading as a model.

It sees the frames its sampling names and hears the sound if its configuration says so, and nothing else: a check
without a probe, or whose probe needs a sense it lacks, is unknown. It costs nothing and needs no network.
"""

from __future__ import annotations

import datetime as dt
import time
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.benchmark.probes import DwellProbe, TextProbe
from vvb_resources.errors import JudgeError
from vvb_resources.judges.instruments.finding import Decision, Finding
from vvb_resources.judges.instruments.frames_pass import FRAMES_VERSION
from vvb_resources.judges.instruments.measure import Perceived, measure, needs_sound
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.instruments.quality import QUALITY_VERSION, Measured, score_dimension
from vvb_resources.judges.instruments.sound_pass import SOUND_VERSION
from vvb_resources.judges.providers.base import Services
from vvb_resources.judges.types import AskedCheck, Channel, JudgeRequest, RawReply
from vvb_resources.media.frames import sample_times
from vvb_resources.store.digests import canonical_json

PROBES_VERSION = "1"
VERSION = f"probes {PROBES_VERSION}, frames {FRAMES_VERSION}, sound {SOUND_VERSION}, quality {QUALITY_VERSION}"
MEASURES = True
PAID = False
MODEL = "instruments"


def create(judge: JudgeConfig, services: Services) -> InstrumentProvider:
    """The instrument of one judge. Raises JudgeError for another model or for parameters, of which it has none."""
    if judge.model != MODEL:
        raise JudgeError(
            f"model {judge.model!r} is no instrument", where=f"judge {judge.id}", remedy=f"set model: {MODEL}"
        )
    if judge.parameters:
        raise JudgeError(
            f"unknown parameters {', '.join(sorted(judge.parameters))}",
            where=f"judge {judge.id}",
            remedy="instruments have none: remove them",
        )
    return InstrumentProvider(services.cache)


def reply_text(body: bytes) -> str:
    """An instrument writes the wire format itself: its body is the text."""
    return body.decode(errors="replace")


def media_tokens(judge: JudgeConfig, duration_s: float, width: int, height: int) -> int:
    """An instrument counts no tokens."""
    return 0


class InstrumentProvider:
    """Measures on the observations in `cache`."""

    def __init__(self, cache: ObservationCache) -> None:
        self._cache = cache

    def answer(self, request: JudgeRequest) -> RawReply:
        """Measure everything that was asked. The body has no time and no random value: same video, same bytes."""
        began = time.monotonic()
        perceived = self._perceive(request)
        findings = {check.id: _finding(check, perceived) for check in request.checks}
        body = {
            "checks": [_row(check, findings[check.id]) for check in request.checks],
            "scores": self._scores(request, perceived, findings),
        }
        return RawReply(
            key=request.key,
            provider="instrument",
            body=canonical_json(body),
            outcome="ok",
            usd=0.0,
            made_at=dt.datetime.now(dt.UTC).isoformat(timespec="microseconds"),
            seconds=round(time.monotonic() - began, 3),
        )

    def close(self) -> None:
        """Nothing was left anywhere."""

    def _perceive(self, request: JudgeRequest) -> Perceived:
        """Look and listen only as far as the judge may, and only if something that was asked needs it."""
        judge, media = request.judge, request.media
        probes = [check.probe for check in request.checks if check.probe]
        looks = any(dim != "AQ" for dim in request.dim_names) or any(not needs_sound(probe) for probe in probes)
        listens = "AQ" in request.dim_names or any(needs_sound(probe) for probe in probes)
        frames = sound = None
        if judge.sees != "nothing" and judge.sampling is not None:
            plan = judge.sampling
            times = sample_times(media.duration_s, plan.fps, plan.min_frames, plan.max_frames)
            frames = self._cache.frames(media, times, plan.max_side) if looks else ()
        if judge.hears and listens:
            sound = self._cache.sound(media)
        return Perceived(media.duration_s, frames, sound)

    @staticmethod
    def _scores(request: JudgeRequest, perceived: Perceived, findings: dict[str, Finding]) -> list[dict[str, Any]]:
        measured = Measured(
            duration_s=perceived.duration_s,
            frames=perceived.frames,
            sound=perceived.sound,
            text_findings=_text_findings(request.checks, findings),
            audio=request.audio,
        )
        rows = []
        for dim in request.dim_names:
            score = score_dimension(dim, measured)
            rows.append(
                {
                    "name": dim,
                    "score": score.score,
                    "reason": score.reason,
                    "strengths": score.strengths,
                    "defects": score.defects,
                }
            )
        return rows


def _finding(check: AskedCheck, perceived: Perceived) -> Finding:
    if check.probe is None:
        channel: Channel = "audio" if check.modality == "audio" else "visual"
        return Finding("unknown", None, None, channel, "no probe: an instrument cannot decide this check")
    return measure(check.probe, perceived)


def _text_findings(checks: tuple[AskedCheck, ...], findings: dict[str, Finding]) -> list[Decision]:
    return [findings[check.id].status for check in checks if isinstance(check.probe, TextProbe | DwellProbe)]


def _row(check: AskedCheck, finding: Finding) -> dict[str, Any]:
    return {
        "id": check.id,
        "status": finding.status,
        "start_s": None if finding.start_s is None else round(finding.start_s, 3),
        "end_s": None if finding.end_s is None else round(finding.end_s, 3),
        "channel": finding.channel,
        "reason": finding.reason,
    }
