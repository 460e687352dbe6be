"""A judgment: which judges were asked about one run, and which stored replies they gave."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from vvb_resources.benchmark.models import PanelConfig
from vvb_resources.errors import StoreError
from vvb_resources.judges.reading import READER_VERSION
from vvb_resources.judges.types import USABLE, Outcome
from vvb_resources.store.atomic import write_json
from vvb_resources.store.digests import digest_value


@dataclass(frozen=True)
class ReplyRef:
    """A stored reply: key, digest of its body, outcome, and its file relative to the reply store ("" for a failure)."""

    key: str
    digest: str
    outcome: Outcome
    file: str

    @property
    def usable(self) -> bool:
        """Is there anything to read."""
        return self.outcome in USABLE


@dataclass(frozen=True)
class JudgeRecord:
    """One judge's part: what was routed to it, its replies in asking order, and what is still missing.

    `calls` were made this time, `cached` replies were found in the store. `usage` (tokens by kind) and `usd` are of
    all its replies, whenever they were paid; `usd` is None if one of them has no known price. `outcome` is that of
    the last reply.
    """

    judge: str
    provider: str
    model: str
    checks: tuple[str, ...]
    dims: tuple[str, ...]
    replies: tuple[ReplyRef, ...]
    calls: int
    cached: int
    outcome: Outcome
    missing: tuple[str, ...]
    usage: Mapping[str, int] = field(default_factory=dict)
    usd: float | None = None

    @property
    def key(self) -> str:
        """Key of the first reply: the one for everything routed to the judge."""
        return self.replies[0].key

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Back from what `Judgment.to_json` writes."""
        fields = dict(value)
        for name in ("checks", "dims", "missing"):
            fields[name] = tuple(fields[name])
        fields["replies"] = tuple(ReplyRef(**ref) for ref in fields["replies"])
        return cls(**fields)


@dataclass(frozen=True)
class Judgment:
    """A panel's judgment of one run. `delivered` False: there was no video, and nobody was asked."""

    panel: str
    delivered: bool
    judges: tuple[JudgeRecord, ...]
    reader_version: str = READER_VERSION

    @property
    def complete(self) -> bool:
        """Did every judge answer everything that was routed to it. An undelivered run has nothing to answer."""
        return all(not record.missing for record in self.judges)

    @property
    def usd(self) -> float | None:
        """Cost of all replies in USD, None if one has no known price."""
        costs = [record.usd for record in self.judges]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def digest(self) -> str:
        """The data version: keys and bodies of the replies, not when or how often they were asked for."""
        replies = [[record.judge, [[r.key, r.digest, r.outcome] for r in record.replies]] for record in self.judges]
        return digest_value({"delivered": self.delivered, "judges": replies})

    def to_json(self) -> dict[str, Any]:
        """For the artifact, with `complete` for readers that know nothing of this class."""
        return {**asdict(self), "complete": self.complete}

    def save(self, path: Path) -> None:
        """Write the judgment durably."""
        write_json(path, self.to_json())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a saved judgment. Raises StoreError when it is absent or not one."""
        try:
            value = json.loads(path.read_text())
            judges = tuple(JudgeRecord.from_json(record) for record in value["judges"])
            return cls(value["panel"], value["delivered"], judges, value["reader_version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"unreadable judgment ({type(error).__name__})", where=str(path), remedy="make the judgment again"
            ) from error


def undelivered_judgment(panel: PanelConfig) -> Judgment:
    """The judgment of a run without a video: a result, for which no judge is asked."""
    return Judgment(panel.id, False, ())
