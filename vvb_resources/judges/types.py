"""The shapes of judging: what a judge is asked, what came back raw, and what was read from it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from vvb_resources.benchmark.models import Anchors, AudioPolicy, Check, DurationRange, JudgeConfig
from vvb_resources.benchmark.probes import Probe
from vvb_resources.judges.wire import WIRE_VERSION
from vvb_resources.media.blinding import BlindedMedia
from vvb_resources.store.digests import digest_bytes, digest_value

Status = Literal["pass", "fail", "unknown", "na", "judge_error"]
Channel = Literal["visual", "audio"]
Outcome = Literal["ok", "partial", "truncated", "empty", "blocked", "schema", "retry", "reupload", "fatal"]

USABLE: tuple[Outcome, ...] = ("ok", "truncated")
"""Outcomes whose body is worth reading and is never paid for twice: a cut reply still has its whole rows."""


@dataclass(frozen=True)
class AskedCheck:
    """A check as a judge is given it. `probe` is None for a provider that does not measure."""

    id: str
    title: str
    pass_: str
    fail: str
    scope: str
    basis: str
    modality: str
    criticality: str
    probe: Probe | None = None

    @classmethod
    def of(cls, check: Check, *, probe: bool) -> Self:
        """The part of a rubric's check that a judge is given; its probe only if `probe`."""
        return cls(
            check.id,
            check.title,
            check.pass_,
            check.fail,
            check.scope,
            check.basis,
            check.modality,
            check.criticality,
            check.probe if probe else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Canonical JSON of all that could change a verdict."""
        return {
            "id": self.id,
            "title": self.title,
            "pass": self.pass_,
            "fail": self.fail,
            "scope": self.scope,
            "basis": self.basis,
            "modality": self.modality,
            "criticality": self.criticality,
            "probe": self.probe.model_dump(mode="json") if self.probe else None,
        }


@dataclass(frozen=True)
class AskedDimension:
    """A quality dimension (VQ, VA, CL, TM, AQ) with the task's anchors of 1, 3 and 5."""

    name: str
    anchors: Anchors

    def to_json(self) -> dict[str, Any]:
        """Name and anchors."""
        return {"name": self.name, "anchors": self.anchors.model_dump(mode="json", by_alias=True)}


@dataclass(frozen=True)
class JudgeRequest:
    """One call of one judge on one blinded video. Holds no system id, no source, no notes.

    `observations`: the fenced text of a judge that was asked first. `sample_index`: which repetition of the same
    judgment (for a judge's own noise). `attempt`: 0 for the first call, then the calls that ask for what was missing.
    `provider_version`: version of the provider's own code (for an instrument: of what it measures and how).
    `plain`: ask for the schema in words, because the service refused it; how it is enforced is not part of the key.
    """

    judge: JudgeConfig
    prompt: str
    duration: DurationRange
    audio: AudioPolicy
    checks: tuple[AskedCheck, ...]
    dims: tuple[AskedDimension, ...]
    media: BlindedMedia
    provider_version: str
    protocol: str
    observations: str | None = None
    sample_index: int = 0
    attempt: int = 0
    plain: bool = False

    @property
    def check_ids(self) -> tuple[str, ...]:
        """Ids of the checks asked, in the rubric's order."""
        return tuple(check.id for check in self.checks)

    @property
    def dim_names(self) -> tuple[str, ...]:
        """Names of the dimensions asked."""
        return tuple(dim.name for dim in self.dims)

    @property
    def max_output_tokens(self) -> int:
        """The cap on the reply's tokens: doubled with each attempt, since a cut reply needs a higher one."""
        return self.judge.limits.max_output_tokens << self.attempt

    @property
    def key_parts(self) -> dict[str, Any]:
        """Everything that could change the reply, part by part; nothing that could not.

        Time-outs, retries, concurrency, prices and the reader's version are left out on purpose: changing one of them
        must not cost a call. A judge's id and its panel's are left out too: the same judge in two panels is asked once.
        """
        judge = self.judge
        sampling = judge.sampling.model_dump(mode="json") if judge.sampling else None
        return {
            "video": self.media.digest,
            "media_plan": {"sees": judge.sees, "hears": judge.hears, "sampling": sampling},
            "protocol": digest_bytes(self.protocol.encode()),
            "task": digest_value(
                {
                    "prompt": self.prompt,
                    "duration": self.duration.model_dump(mode="json"),
                    "audio": self.audio.model_dump(mode="json"),
                }
            ),
            "checks": digest_value([check.to_json() for check in self.checks]),
            "dims": digest_value([dim.to_json() for dim in self.dims]),
            "judge": {
                "provider": judge.provider,
                "provider_version": self.provider_version,
                "endpoint": judge.endpoint,
                "model": judge.model,
                "parameters": judge.parameters,
                "max_output_tokens": self.max_output_tokens,
            },
            "observations": digest_bytes(self.observations.encode()) if self.observations is not None else None,
            "wire": WIRE_VERSION,
            "sample_index": self.sample_index,
            "attempt": self.attempt,
        }

    @property
    def key(self) -> str:
        """Digest of the parts: the name under which the reply is stored."""
        return digest_value(self.key_parts)

    @staticmethod
    def key_for(parts: Mapping[str, Any], media: BlindedMedia) -> str:
        """The key of a request that has the `key_parts` given but for its video, which is `media`."""
        return digest_value({**parts, "video": media.digest})


@dataclass(frozen=True)
class RawReply:
    """What came over the wire, untouched. `outcome` is the provider's reading of its own envelope.

    `usage` is tokens by kind (empty for an instrument); `usd` is None when the price is unknown, never 0 for that.
    `made_at` is ISO 8601 in UTC, `seconds` the wall time of the call. `fault` says why, when the call did not succeed
    (or what is odd about one that did). `unbilled`: the service refused the call and bills nothing for it.
    `retry_after_s`: what the service said about when to ask again. `stops_judge`: no other call of this judge can
    succeed either (key, quota, unknown model).
    """

    key: str
    provider: str
    body: bytes
    outcome: Outcome
    usage: Mapping[str, int] = field(default_factory=dict)
    usd: float | None = None
    made_at: str = ""
    seconds: float = 0.0
    fault: str | None = None
    unbilled: bool = False
    retry_after_s: float | None = None
    stops_judge: bool = False

    @property
    def digest(self) -> str:
        """Digest of the body: with the key, the data version of a judgment."""
        return digest_bytes(self.body)

    @property
    def usable(self) -> bool:
        """Is there anything to read."""
        return self.outcome in USABLE

    def to_json(self) -> dict[str, Any]:
        """As stored: the body as text where it is UTF-8, else base64."""
        try:
            body: dict[str, str] = {"text": self.body.decode()}
        except UnicodeDecodeError:
            body = {"base64": base64.b64encode(self.body).decode()}
        return {
            "key": self.key,
            "provider": self.provider,
            "outcome": self.outcome,
            "body": body,
            "usage": dict(self.usage),
            "usd": self.usd,
            "made_at": self.made_at,
            "seconds": self.seconds,
            "fault": self.fault,
            "unbilled": self.unbilled,
            "retry_after_s": self.retry_after_s,
            "stops_judge": self.stops_judge,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Back from what is stored. Raises KeyError or ValueError on a foreign shape."""
        body = value["body"]
        data = body["text"].encode() if "text" in body else base64.b64decode(body["base64"])
        return cls(
            key=value["key"],
            provider=value["provider"],
            body=data,
            outcome=value["outcome"],
            usage=dict(value["usage"]),
            usd=value["usd"],
            made_at=value["made_at"],
            seconds=value["seconds"],
            fault=value["fault"],
            unbilled=bool(value.get("unbilled", False)),
            retry_after_s=value.get("retry_after_s"),
            stops_judge=bool(value.get("stops_judge", False)),
        )


@dataclass(frozen=True)
class Verdict:
    """A judge's answer to one check; seconds and channel of the evidence where it gave them."""

    check: str
    status: Status
    start_s: float | None
    end_s: float | None
    channel: Channel | None
    reason: str


@dataclass(frozen=True)
class Score:
    """A judge's score of one dimension, 1 to 5; None is "insufficient evidence", never a default."""

    dim: str
    score: int | None
    reason: str
    strengths: str = ""
    defects: str = ""


@dataclass(frozen=True)
class Reading:
    """What one reply says about what was asked: usable rows, what is missing, and what was wrong with it."""

    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    scores: tuple[Score, ...]
    missing_checks: tuple[str, ...]
    missing_dims: tuple[str, ...]
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Was everything that was asked answered."""
        return not (self.missing_checks or self.missing_dims)
