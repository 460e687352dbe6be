"""What judging needs of a workspace: the store of replies, and the desk where paid calls are made."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from vvb_assets.graph import Workspace
from vvb_resources.benchmark.models import JudgeConfig, PanelConfig
from vvb_resources.judges.calls import CallDesk, Money
from vvb_resources.judges.ledger import Ledger
from vvb_resources.judges.providers.base import provider_module, provider_names
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.uploads import UploadList


def reply_store(workspace: Workspace) -> ReplyStore:
    """The store of raw replies, shared by all benchmarks of this home."""
    return ReplyStore(workspace.home.replies)


def call_desk(workspace: Workspace) -> CallDesk:
    """Where paid calls are made: this benchmark's prices and limits, and the ledger of the whole data home."""
    budgets = workspace.benchmark.config.budgets
    money = Money.of(workspace.benchmark.prices, budgets.usd_run, budgets.usd_benchmark)
    uploads = UploadList(workspace.home.uploads)
    return CallDesk(_ledger(workspace.home.ledger), workspace.benchmark.config.name, money, uploads=uploads)


@lru_cache(maxsize=4)
def _ledger(path: Path) -> Ledger:
    """One ledger a process, so that its threads share a connection."""
    return Ledger(path)


def paid_judges(panel: PanelConfig) -> list[JudgeConfig]:
    """Judges of the panel whose calls cost money. One whose provider is not installed is told when it is asked."""
    known = provider_names()
    return [judge for judge in panel.judges if judge.provider in known and provider_module(judge.provider).PAID]
