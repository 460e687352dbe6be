"""Judging in batches: before a panel's judgments are made, what its judges are to be asked is asked in batches.

The replies are in the store then, and the judgments find them there; what a batch did not answer is called for one by
one, as without batches. A judge that is handed another's observations is asked in a later batch.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

from vvb_assets.graph import Workspace, split_run
from vvb_assets.panels.desk import call_desk, reply_store
from vvb_assets.panels.judging import Asking
from vvb_resources.benchmark.models import PanelConfig
from vvb_resources.judges.batches import Asked, BatchRunner
from vvb_resources.judges.calls import CallDesk, in_batches
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.prompt import observations_text
from vvb_resources.judges.providers.base import Services
from vvb_resources.judges.routing import route
from vvb_resources.judges.types import JudgeRequest
from vvb_resources.media.blinding import BlindedMedia

MAX_TRIES = 3
"""Batches that ask the same: after that it is called for by itself."""


def ask_in_batches(workspace: Workspace, panel: PanelConfig, partitions: Sequence[str]) -> None:
    """Ask, in batches, what the panel's judgments of these runs need and is not stored; batches left behind first.

    Only of judges that are to be asked so (`batch: true` in the panel's file, or `vvb run --batch`). Returns when every
    batch is done, which can take a day. Raises JudgeError for a judge without key, SDK or price.
    """
    if not any(in_batches(judge) for judge in panel.judges):
        return
    desk = call_desk(workspace)
    services = Services(ObservationCache(workspace.home.observations), desk.uploads)
    runner = BatchRunner(workspace.home.batches, desk, reply_store(workspace), services)
    runner.resume()
    tries: Counter[str] = Counter()
    while True:
        open_ = [asked for asked in _open(workspace, panel, partitions, desk) if tries[asked.request.key] < MAX_TRIES]
        if not open_:
            return
        asked = runner.ask(open_)
        if not asked:
            return  # a limit of money stands in the way: each judgment will say so
        tries.update(asked)


def _open(workspace: Workspace, panel: PanelConfig, partitions: Sequence[str], desk: CallDesk) -> Iterator[Asked]:
    """The next request of each judge about each run, where it can be made now and goes into a batch."""
    replies = reply_store(workspace)
    for partition in partitions:
        manifest = workspace.store.load("blinded_media", partition)
        if manifest is None or not manifest.summary.get("delivered"):
            continue
        task = workspace.benchmark.tasks[split_run(partition)[1]]
        media = BlindedMedia.load(workspace.store.payload(manifest))
        handed: dict[str, str] = {}
        for item in route(panel, task.rubric):
            source = item.judge.observations_from
            if source and source not in handed:
                continue  # its turn comes when the judge before it has answered
            asking = Asking(item, panel.id, task.spec, task.prompt, media, replies, handed.get(source or ""), 0, desk)
            found = asking.progress()
            if not isinstance(found, JudgeRequest):
                handed[item.judge.id] = observations_text(found.reading)
            elif in_batches(item.judge):
                yield Asked(dataclasses.replace(found, plain=desk.gates.of(found.judge).plain), panel.id)
