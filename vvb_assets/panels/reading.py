"""Reading a judgment: a pure view of its stored replies as two tables, verdicts and scores.

Every check of the rubric and each of the five dimensions has its row, whoever failed: what a judge did not answer is a
`judge_error` with the reason, and no panel ever gets smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from vvb_assets.panels.judgment import JudgeRecord, Judgment
from vvb_resources.benchmark.models import DIMENSIONS, Rubric
from vvb_resources.errors import StoreError
from vvb_resources.judges.providers.base import provider_module
from vvb_resources.judges.reading import read_reply
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.types import Outcome, RawReply, Reading, Score, Verdict

VERDICT_SCHEMA: dict[str, Any] = {
    "check": pl.String,
    "core": pl.Boolean,
    "modality": pl.String,
    "judge": pl.String,
    "verdict": pl.String,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "channel": pl.String,
    "reason": pl.String,
    "reply_key": pl.String,
}
SCORE_SCHEMA: dict[str, Any] = {
    "dim": pl.String,
    "judge": pl.String,
    "score": pl.Int8,
    "reason": pl.String,
    "strengths": pl.String,
    "defects": pl.String,
    "reply_key": pl.String,
}


@dataclass(frozen=True)
class Gathered:
    """What several replies of one judge say together: the first usable answer to each id counts."""

    verdicts: dict[str, tuple[Verdict, str]]
    scores: dict[str, tuple[Score, str]]
    missing_checks: tuple[str, ...]
    missing_dims: tuple[str, ...]
    outcome: Outcome
    problems: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Was everything answered."""
        return not (self.missing_checks or self.missing_dims)

    @property
    def reading(self) -> Reading:
        """The same as one reading, for the judge that is handed these observations."""
        return Reading(
            self.outcome,
            tuple(verdict for verdict, _ in self.verdicts.values()),
            tuple(score for score, _ in self.scores.values()),
            self.missing_checks,
            self.missing_dims,
            self.problems,
        )


def gather(check_ids: Sequence[str], dim_names: Sequence[str], raws: Sequence[RawReply]) -> Gathered:
    """Read the replies of one judge in asking order, each against what was still missing when it was asked for.

    `check_ids`, `dim_names`: what was routed to the judge; no reply can touch anything else.
    """
    verdicts: dict[str, tuple[Verdict, str]] = {}
    scores: dict[str, tuple[Score, str]] = {}
    missing_checks, missing_dims = tuple(check_ids), tuple(dim_names)
    outcome: Outcome = "empty"
    problems: list[str] = []
    for raw in raws:
        text = provider_module(raw.provider).reply_text(raw.body) if raw.usable else ""
        reading = read_reply(text, missing_checks, missing_dims, outcome=raw.outcome)
        verdicts |= {verdict.check: (verdict, raw.key) for verdict in reading.verdicts}
        scores |= {score.dim: (score, raw.key) for score in reading.scores}
        missing_checks, missing_dims = reading.missing_checks, reading.missing_dims
        outcome = reading.outcome
        problems += reading.problems
    return Gathered(verdicts, scores, missing_checks, missing_dims, outcome, tuple(problems))


def read_judgment(judgment: Judgment, rubric: Rubric, replies: ReplyStore) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Verdicts (a row for each check of `rubric`) and scores (a row for each of the five dimensions) of one judgment.

    Seconds are from the video's start. A run without a video has neither: both tables are empty, with their columns.
    Raises StoreError when a reply that the judgment names is gone.
    """
    if not judgment.delivered:
        return pl.DataFrame(schema=VERDICT_SCHEMA), pl.DataFrame(schema=SCORE_SCHEMA)
    said = {record.judge: gather(record.checks, record.dims, _raws(record, replies)) for record in judgment.judges}
    asked_check = {check: record for record in judgment.judges for check in record.checks}
    asked_dim = {dim: record for record in judgment.judges for dim in record.dims}
    verdicts = [
        {"check": check.id, "core": check.core, "modality": check.modality}
        | _verdict_row(check.id, asked_check.get(check.id), said)
        for check in rubric.checks
    ]
    scores = [{"dim": dim} | _score_row(dim, asked_dim.get(dim), said) for dim in DIMENSIONS]
    return pl.DataFrame(verdicts, schema=VERDICT_SCHEMA), pl.DataFrame(scores, schema=SCORE_SCHEMA)


def _raws(record: JudgeRecord, replies: ReplyStore) -> list[RawReply]:
    """The judge's replies as they were; a failure has no body to read and stands for itself."""
    raws = []
    for ref in record.replies:
        if not ref.usable:
            raws.append(RawReply(ref.key, record.provider, b"", ref.outcome))
            continue
        raw = replies.complete(ref.key)
        if raw is None or raw.digest != ref.digest:
            raise StoreError(
                f"the reply of judge {record.judge} is {'gone' if raw is None else 'another'}",
                where=str(replies.folder(ref.key)),
                remedy="make the judgment again",
            )
        raws.append(raw)
    return raws


def _verdict_row(check: str, record: JudgeRecord | None, said: dict[str, Gathered]) -> dict[str, Any]:
    if record is not None and check in said[record.judge].verdicts:
        verdict, key = said[record.judge].verdicts[check]
        return {
            "judge": record.judge,
            "verdict": verdict.status,
            "start_s": verdict.start_s,
            "end_s": verdict.end_s,
            "channel": verdict.channel,
            "reason": verdict.reason,
            "reply_key": key,
        }
    return {"verdict": "judge_error", "start_s": None, "end_s": None, "channel": None} | _unanswered(record, said)


def _score_row(dim: str, record: JudgeRecord | None, said: dict[str, Gathered]) -> dict[str, Any]:
    if record is not None and dim in said[record.judge].scores:
        score, key = said[record.judge].scores[dim]
        return {
            "judge": record.judge,
            "score": score.score,
            "reason": score.reason,
            "strengths": score.strengths,
            "defects": score.defects,
            "reply_key": key,
        }
    return {"score": None, "strengths": "", "defects": ""} | _unanswered(record, said)


def _unanswered(record: JudgeRecord | None, said: dict[str, Gathered]) -> dict[str, Any]:
    """Who should have answered, and why there is no answer."""
    if record is None:
        return {"judge": None, "reason": "judge error: routed to no judge of this judgment", "reply_key": None}
    gathered = said[record.judge]
    detail = f" ({'; '.join(gathered.problems[:3])})" if gathered.problems else ""
    why = f"judge error: not answered in {len(record.replies)} replies, the last one {gathered.outcome}{detail}"
    return {"judge": record.judge, "reason": why, "reply_key": record.replies[-1].key if record.replies else None}
