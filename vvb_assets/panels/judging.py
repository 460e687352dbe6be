"""Asking a panel about one run: routing, stored replies first, then calls; what is missing is asked for again alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from vvb_assets.panels.judgment import JudgeRecord, Judgment, ReplyRef, undelivered_judgment
from vvb_assets.panels.reading import Gathered, gather
from vvb_resources.benchmark.models import PanelConfig, Rubric, TaskSpec
from vvb_resources.errors import JudgeError
from vvb_resources.judges.calls import CallDesk
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.prompt import observations_text, protocol_text
from vvb_resources.judges.providers.base import Provider, ProviderModule, Services, provider_module
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.routing import Routed, route
from vvb_resources.judges.service import effective
from vvb_resources.judges.types import AskedCheck, JudgeRequest, RawReply
from vvb_resources.media.blinding import BlindedMedia

__all__ = ["Judgment", "judge_request", "judge_run", "undelivered_judgment"]

MAX_ASKS = 3
"""Calls of one judge for one run: the first, and at most two for what is missing from it."""
MAX_BLOCKED = 2
"""A refusal is asked about once more, then it is a judge error."""


def judge_run(
    panel: PanelConfig,
    rubric: Rubric,
    spec: TaskSpec,
    prompt: str,
    media: BlindedMedia,
    replies: ReplyStore,
    cache: ObservationCache,
    *,
    desk: CallDesk | None = None,
    sample_index: int = 0,
) -> Judgment:
    """Ask every judge of `panel` about one blinded video; a reply that is stored under the same key costs no call.

    `prompt`: the task's prompt as the agent had it. `desk` makes the paid calls (a panel of instruments needs none).
    `sample_index`: which repetition, to measure a judge's own noise.
    What a judge leaves out is asked for again alone, twice at most; what then is missing stays missing in the judgment
    (a judge error of its checks, never a smaller panel). Raises JudgeError on a fault that another run may not have
    (configuration, service down) and PausedError before a limit of money: such a run has no result yet.
    """
    records: list[JudgeRecord] = []
    handed: dict[str, str] = {}
    for item in route(panel, rubric):
        observations = handed.get(item.judge.observations_from or "")
        ask = Asking(item, panel.id, spec, prompt, media, replies, observations, sample_index, desk)
        record, gathered = ask.run(Services(cache, desk.uploads if desk else None))
        records.append(record)
        handed[item.judge.id] = observations_text(gathered.reading)
    return Judgment(panel.id, True, tuple(records))


def judge_request(
    item: Routed,
    spec: TaskSpec,
    prompt: str,
    media: BlindedMedia,
    *,
    observations: str | None = None,
    sample_index: int = 0,
    attempt: int = 0,
    only: Gathered | None = None,
) -> JudgeRequest:
    """The request for one judge, for all that is routed to it or only for what `only` says is missing."""
    judge = effective(item.judge)
    module = provider_module(judge.provider)
    checks = [check for check in item.checks if only is None or check.id in only.missing_checks]
    dims = [dim for dim in item.dims if only is None or dim.name in only.missing_dims]
    return JudgeRequest(
        judge=judge,
        prompt=prompt,
        duration=spec.delivery.duration,
        audio=spec.audio,
        checks=tuple(AskedCheck.of(check, probe=module.MEASURES) for check in checks),
        dims=tuple(dims),
        media=media,
        provider_version=module.VERSION,
        protocol=protocol_text(item.judge.sees, item.judge.hears, [dim.name for dim in dims]),
        observations=observations,
        sample_index=sample_index,
        attempt=attempt,
    )


@dataclass(frozen=True)
class Asking:
    """One judge asked about one run: a first call, then calls for what is missing."""

    item: Routed
    panel: str
    spec: TaskSpec
    prompt: str
    media: BlindedMedia
    replies: ReplyStore
    observations: str | None
    sample_index: int
    desk: CallDesk | None

    def request(self, attempt: int = 0, only: Gathered | None = None) -> JudgeRequest:
        """The request of the given attempt, for all that is routed to the judge or for what `only` lacks."""
        return judge_request(
            self.item,
            self.spec,
            self.prompt,
            self.media,
            observations=self.observations,
            sample_index=self.sample_index,
            attempt=attempt,
            only=only,
        )

    def stored(self) -> Gathered | None:
        """What the stored replies say, if they answer everything; None: a call is needed."""
        raws: list[RawReply] = []
        gathered: Gathered | None = None
        for attempt in range(MAX_ASKS):
            raw = self.replies.complete(self.request(attempt, gathered).key)
            if raw is None:
                return None
            raws.append(raw)
            gathered = gather([c.id for c in self.item.checks], [d.name for d in self.item.dims], raws)
            if gathered.complete:
                break
        return gathered

    def run(self, services: Services) -> tuple[JudgeRecord, Gathered]:
        """The judge's replies, and what they say together. Whatever it left with its service is taken back."""
        judge = effective(self.item.judge)
        module = provider_module(judge.provider)
        made: list[Provider] = []
        try:
            return self._asked(module, lambda: _first(made, lambda: module.create(judge, services)))
        finally:
            for provider in made:
                provider.close()

    def _asked(self, module: ProviderModule, provider: Callable[[], Provider]) -> tuple[JudgeRecord, Gathered]:
        check_ids = tuple(check.id for check in self.item.checks)
        dim_names = tuple(dim.name for dim in self.item.dims)
        refs: list[ReplyRef] = []
        raws: list[RawReply] = []
        calls = 0
        gathered: Gathered | None = None
        for attempt in range(MAX_ASKS):
            request = self.request(attempt, gathered)
            raw = self.replies.complete(request.key)
            if raw is None:
                calls += 1
                raw = self._call(module, provider(), request)
            elif self.desk is not None and module.PAID:
                self.desk.ledger.reconcile(request.key, raw.usd)
            _stop_on_fault(self.item, raw)
            raws.append(raw)
            file = self.replies.reference(raw.key) if raw.usable else ""
            refs.append(ReplyRef(raw.key, raw.digest, raw.outcome, file))
            gathered = gather(check_ids, dim_names, raws)
            if gathered.complete or [r.outcome for r in raws].count("blocked") >= MAX_BLOCKED:
                break
        assert gathered is not None
        return _record(self.item, check_ids, dim_names, refs, raws, calls, gathered), gathered

    def _call(self, module: ProviderModule, provider: Provider, request: JudgeRequest) -> RawReply:
        """On disk before anything reads it: a reply that was paid for is never lost to a fault of the reader."""

        def keep(raw: RawReply) -> RawReply:
            return self.replies.put(request.key, request.key_parts, raw)

        if not module.PAID:
            return keep(provider.answer(request))
        if self.desk is None:
            raise JudgeError("paid calls need a desk", where=f"judge {self.item.judge.id}", remedy="give judge_run one")
        return self.desk.ask(provider, module, request, self.panel, keep)


def _first(made: list[Provider], create: Callable[[], Provider]) -> Provider:
    """The provider made before, or one made now: a judgment that is stored needs no key and no SDK."""
    if not made:
        made.append(create())
    return made[0]


def _stop_on_fault(item: Routed, raw: RawReply) -> None:
    """A fault of the service or of the configuration is no result: nothing is judged, and another run may do better."""
    if raw.outcome in ("fatal", "retry", "reupload", "schema"):
        remedy = "mend the judge's configuration" if raw.outcome in ("fatal", "schema") else "run again later"
        raise JudgeError(
            f"{raw.outcome}: {raw.fault or 'no reason given'}", where=f"judge {item.judge.id}", remedy=remedy
        )


def _record(
    item: Routed,
    check_ids: tuple[str, ...],
    dim_names: tuple[str, ...],
    refs: list[ReplyRef],
    raws: list[RawReply],
    calls: int,
    gathered: Gathered,
) -> JudgeRecord:
    usage: Counter[str] = Counter()
    for raw in raws:
        usage.update(raw.usage)
    costs = [raw.usd for raw in raws]
    return JudgeRecord(
        judge=item.judge.id,
        provider=item.judge.provider,
        model=item.judge.model,
        checks=check_ids,
        dims=dim_names,
        replies=tuple(refs),
        calls=calls,
        cached=len(refs) - calls,
        outcome=gathered.outcome,
        missing=(*gathered.missing_checks, *gathered.missing_dims),
        usage=dict(usage),
        usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )
