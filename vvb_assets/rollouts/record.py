"""What is recorded of a rollout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vvb_assets.rollouts.account import TrajectorySummary
from vvb_assets.rollouts.faults import EndKind
from vvb_assets.rollouts.history import Attempt
from vvb_resources.gateway.calls import GatewaySummary
from vvb_resources.harnesses.trajectory.types import Tokens
from vvb_resources.media.container import check_container
from vvb_resources.media.delivery import find_delivery
from vvb_resources.sandbox.base import Ended, Isolation, KeptVideo, Limit, PostMortem, Resources
from vvb_resources.sandbox.collect import Collected
from vvb_resources.store.digests import digest_value

VideoState = Literal["present", "absent", "truncated", "unreadable"]


class Record(BaseModel):
    """Strict and immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class VideoRecord(Record):
    """The light check of the MP4 at collection. Nothing is decoded: L1 decides whether the run is delivered.

    `absent`: no MP4 counts; `truncated`: cut, or never finished; `unreadable`: not an MP4 with pictures. `name` is
    relative to the delivery, `fault` says it for a person.
    """

    state: VideoState
    name: str | None
    fault: str | None
    bytes: int | None


class FileRecord(Record):
    """A file of the delivery: POSIX path relative to it, size, SHA-256 in hex."""

    path: str
    bytes: int = Field(ge=0)
    sha256: str


class LeftOutRecord(Record):
    """An entry of the delivery that was not kept, and why."""

    path: str
    why: str


class Usage(Record):
    """Tokens of a rollout. `prompt_tokens` includes cached and cache writes, `output_tokens` includes reasoning."""

    prompt_tokens: int
    cached_tokens: int
    cache_creation_tokens: int
    output_tokens: int
    reasoning_tokens: int

    @classmethod
    def of(cls, tokens: Tokens | None) -> Usage | None:
        """The record of counted tokens; None where nobody counted."""
        return cls(**{f"{kind}_tokens": count for kind, count in tokens.model_dump().items()}) if tokens else None


class Origin(Record):
    """Where an imported delivery came from, and what its maker said of the run; null where it said nothing."""

    kind: Literal["folder", "harbor"]
    path: str
    run: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    exception: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reported_usd: float | None = None


class RolloutRecord(Record):
    """`record.json` of a rollout. Times are Unix seconds and seconds; null is unknown, never zero.

    `attempts` counts this one and those that an infrastructure fault ended before it. `usd` is 0 for a system
    without a model and null when the price or the usage is unknown. An `imported` delivery was made elsewhere
    (`origin`): its isolation is unknown, and its times, end and cost are what its maker reported, if anything.
    `delivery_digest` is the digest of paths and contents of `files`. `run` names the folder that the agent worked
    in, `kept` the finished video that took the place of one cut at the deadline. `kind` is the row of the fault
    table (faults.py), `history` the attempts before this one that did not count. `harness_version` is the one that
    the system's file names.
    """

    version: Literal[1] = 1
    system: str
    task: str
    ended: Ended | None
    exit_code: int | None
    signal: int | None
    limit: Limit | None
    started_at: float | None
    seconds: float | None
    deadline_s: float | None
    cpu_s: float | None
    peak_rss_mb: float | None
    attempts: int = Field(ge=1)
    isolation: Isolation
    video: VideoRecord
    files: tuple[FileRecord, ...]
    left_out: tuple[LeftOutRecord, ...]
    delivery_digest: str
    usage: Usage | None
    usd: float | None
    imported: bool
    run: str | None = None
    resources: Resources | None = None
    post_mortem: PostMortem | None = None
    kept: KeptVideo | None = None
    kind: EndKind | None = None
    history: tuple[Attempt, ...] = ()
    trajectory: TrajectorySummary | None = None
    gateway: GatewaySummary | None = None
    origin: Origin | None = None
    harness_version: str | None = None


def video_record(delivery: Path) -> VideoRecord:
    """The state of the video in the collected folder `delivery`."""
    found = find_delivery(delivery)
    if found.video is None:
        return VideoRecord(state="absent", name=None, fault=found.fault, bytes=None)
    check = check_container(found.video)
    cut = check.layout is not None and check.layout.truncated
    state: VideoState
    if check.fault == "missing":
        state = "absent"
    elif check.fault in ("empty", "no_moov", "no_media") or (check.ok and cut):
        state = "truncated"
    else:
        state = "present" if check.ok else "unreadable"
    fault = "the file ends before its last box does" if check.ok and cut else None if check.ok else check.message
    return VideoRecord(state=state, name=found.video.name, fault=fault, bytes=check.size_bytes)


def file_records(collected: Collected) -> tuple[tuple[FileRecord, ...], tuple[LeftOutRecord, ...], str]:
    """(files, what was left out, digest of the delivery) of a collected folder."""
    files = tuple(FileRecord(path=file.path, bytes=file.bytes, sha256=file.sha256) for file in collected.files)
    left = tuple(LeftOutRecord(path=entry.path, why=entry.why) for entry in collected.left_out)
    return files, left, digest_value({file.path: file.sha256 for file in files})
