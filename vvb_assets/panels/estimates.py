"""What a plan's judging would cost, before any call: calls, tokens and USD by panel, judge and system.

A judge whose stored replies already answer everything costs nothing. The estimate counts one call a judge; what it
leaves out and faults that pass cost more, which is what the limits of a run are for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vvb_assets.graph import Workspace, split_run
from vvb_assets.panels.desk import call_desk, paid_judges, reply_store
from vvb_assets.panels.judging import Asking
from vvb_assets.plan import Plan, Stale, make_plan
from vvb_resources.benchmark.models import JudgeConfig, TaskSpec
from vvb_resources.errors import JudgeError
from vvb_resources.judges.calls import Money, in_batches, request_tokens
from vvb_resources.judges.pricing import cost_usd, expected_usd, worst_usd
from vvb_resources.judges.prompt import observations_text
from vvb_resources.judges.providers.base import provider_module
from vvb_resources.judges.routing import Routed, route
from vvb_resources.judges.service import effective
from vvb_resources.judges.types import JudgeRequest
from vvb_resources.media.blinding import BlindedMedia

OBSERVATION_BYTES = 6000
"""Room for observations that are not there yet: about forty rows of one or two sentences."""


@dataclass(frozen=True)
class CallEstimate:
    """Calls of one judge for one system. USD is None while the price is unknown; `usd_most` is the sum of the worst
    cases, of which each is set aside before its call."""

    panel: str
    judge: str
    model: str
    system: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    usd_most: float | None

    def to_json(self) -> dict[str, Any]:
        """A row of the plan's `judging`."""
        return dataclasses.asdict(self)


def with_estimates(workspace: Workspace, plan: Plan) -> Plan:
    """The plan with the calls, tokens and USD of each judgment, and their sums by panel, judge and system."""
    pending = set(plan.of("blinded_media"))
    estimator = Estimator(workspace)
    rows: list[CallEstimate] = []
    stale: list[Stale] = []
    for item in plan.stale:
        if not item.calls or item.partition is None:
            stale.append(item)
            continue
        found = estimator.of_run(item.asset.split("/")[0], item.partition, item.partition in pending)
        rows += found
        usd = [row.usd for row in found]
        stale.append(
            dataclasses.replace(
                item,
                calls=sum(row.calls for row in found),
                usd=None if None in usd else sum(cost for cost in usd if cost is not None),
                input_tokens=sum(row.input_tokens for row in found),
                output_tokens=sum(row.output_tokens for row in found),
            )
        )
    return dataclasses.replace(plan, stale=stale, judging=[row.to_json() for row in summed(rows)])


def refuse_unpriced(workspace: Workspace, panels: Collection[str] = (), *, rerun_held: bool = False) -> None:
    """Raise JudgeError if a run would ask a model without a known price that was not allowed by name.

    `panels`: only these (all, where none are named). A judge whose stored replies answer everything is not asked.
    """
    money = call_desk(workspace).money
    chosen = [p for p in workspace.benchmark.panels.values() if not panels or p.id in panels]
    judges = [judge for panel in chosen for judge in paid_judges(panel)]
    if all(_affordable(money, judge) for judge in judges):
        return
    plan = with_estimates(workspace, make_plan(workspace, rerun_held=rerun_held))  # costs seconds: only when in doubt
    asked = {(row["panel"], row["judge"]) for row in plan.judging if row["calls"]}
    refused = [j for p in chosen for j in paid_judges(p) if (p.id, j.id) in asked and not _affordable(money, j)]
    if refused:
        models = list(dict.fromkeys(judge.model for judge in refused))
        raise JudgeError(
            f"no price is known of {', '.join(models)}, so no limit could hold",
            where="prices/",
            remedy="enter it there, or run with " + " ".join(f"--allow-unpriced {model}" for model in models),
        )


def _affordable(money: Money, judge: JudgeConfig) -> bool:
    return cost_usd(money.price_of(judge), {}) is not None or judge.model in money.unpriced


class Estimator:
    """Estimates of one plan. What does not depend on the run is worked out once: a plan may hold ten thousand calls."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.money = call_desk(workspace).money
        self.replies = reply_store(workspace)
        self._unmade: dict[tuple[str, str], list[CallEstimate]] = {}
        self._calls: dict[Any, CallEstimate] = {}
        self._parts: dict[Any, dict[str, Any]] = {}
        self._routed: dict[tuple[str, str], tuple[Routed, ...]] = {}
        self._media: dict[str, BlindedMedia | None] = {}

    def of_run(self, panel_id: str, partition: str, video_pending: bool) -> list[CallEstimate]:
        """Estimates of the panel's judges for one run; of one whose replies are stored, a row without calls."""
        system, task_id = split_run(partition)
        if partition not in self._media:
            self._media[partition] = _media(self.workspace, partition)
        media = None if video_pending else self._media[partition]
        if media is not None:
            return self._estimates(panel_id, task_id, system, media)
        key = (panel_id, task_id)  # without a video, all systems' are alike
        if key not in self._unmade:
            self._unmade[key] = self._estimates(panel_id, task_id, system, None)
        return [dataclasses.replace(row, system=system) for row in self._unmade[key]]

    def _estimates(self, panel_id: str, task_id: str, system: str, media: BlindedMedia | None) -> list[CallEstimate]:
        task, panel = self.workspace.benchmark.tasks[task_id], self.workspace.benchmark.panels[panel_id]
        handed: dict[str, str | None] = {}
        rows = []
        if (panel_id, task_id) not in self._routed:
            self._routed[panel_id, task_id] = route(panel, task.rubric)
        for item in self._routed[panel_id, task_id]:
            source = item.judge.observations_from
            observations = handed.get(source) if source else None
            ask = Asking(
                item,
                panel.id,
                task.spec,
                task.prompt,
                media or expected_media(task.spec),
                self.replies,
                "x" * OBSERVATION_BYTES if source and observations is None else observations,
                0,
                None,
            )
            known = media is not None and not (source and observations is None)
            stored = ask.stored() if known and self._asked(ask, task_id) else None
            handed[item.judge.id] = observations_text(stored.reading) if stored else None
            if stored is not None:
                rows.append(CallEstimate(panel.id, item.judge.id, item.judge.model, system, 0, 0, 0, 0.0, 0.0))
            else:
                rows.append(dataclasses.replace(self._call(ask, task_id), system=system))
        return rows

    def _asked(self, ask: Asking, task_id: str) -> bool:
        """Is there any reply to the first request: mostly not, and a request takes long to put together."""
        key = (ask.panel, ask.item.judge.id, task_id, ask.observations)
        if key not in self._parts:
            self._parts[key] = ask.request().key_parts
        return self.replies.asked(JudgeRequest.key_for(self._parts[key], ask.media))

    def _call(self, ask: Asking, task_id: str) -> CallEstimate:
        """One call; the same for every video of one length and size."""
        media, told = ask.media, len((ask.observations or "").encode())
        key = (ask.panel, ask.item.judge.id, task_id, media.duration_s, media.width, media.height, told)
        if key not in self._calls:
            self._calls[key] = _estimate(ask, self.money)
        return self._calls[key]


def _estimate(ask: Asking, money: Money) -> CallEstimate:
    judge = effective(ask.item.judge)
    module = provider_module(judge.provider)
    if not module.PAID:
        return CallEstimate(ask.panel, judge.id, judge.model, "", 1, 0, 0, 0.0, 0.0)
    tokens, price = request_tokens(module, ask.request()), money.price_of(judge, batch=in_batches(judge))
    usd, most = expected_usd(price, tokens), worst_usd(price, tokens)
    return CallEstimate(ask.panel, judge.id, judge.model, "", 1, tokens.input, tokens.output, usd, most)


def expected_media(spec: TaskSpec) -> BlindedMedia:
    """A video as the task asks for it, at its longest, for an estimate before there is one."""
    delivery = spec.delivery
    sound = any(use != "not_used" for use in spec.audio.model_dump(exclude={"check"}).values())
    return BlindedMedia(Path(), Path(), "", delivery.duration.max, delivery.width, delivery.height, delivery.fps, sound)


def _media(workspace: Workspace, partition: str) -> BlindedMedia | None:
    manifest = workspace.store.load("blinded_media", partition)
    if manifest is None or not manifest.summary.get("delivered"):
        return None
    return BlindedMedia.load(workspace.store.payload(manifest))


def summed(rows: Iterable[CallEstimate]) -> list[CallEstimate]:
    """Sums over tasks, in the order of first appearance; an unknown price makes the sum unknown."""
    sums: dict[tuple[str, str, str, str], CallEstimate] = {}
    for row in rows:
        key = (row.panel, row.judge, row.model, row.system)
        before = sums.get(key)
        sums[key] = row if before is None else _added(before, row)
    return list(sums.values())


def _added(a: CallEstimate, b: CallEstimate) -> CallEstimate:
    def add(x: float | None, y: float | None) -> float | None:
        return None if x is None or y is None else x + y

    return dataclasses.replace(
        a,
        calls=a.calls + b.calls,
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
        usd=add(a.usd, b.usd),
        usd_most=add(a.usd_most, b.usd_most),
    )
