"""Routing: which judge of a panel is asked which checks and dimensions, and in what order."""

from __future__ import annotations

from dataclasses import dataclass

from vvb_resources.benchmark.models import Check, JudgeConfig, PanelConfig, Rubric
from vvb_resources.judges.types import AskedDimension


@dataclass(frozen=True)
class Routed:
    """A judge with what is routed to it: checks in the rubric's order, dimensions in the judge's."""

    judge: JudgeConfig
    checks: tuple[Check, ...]
    dims: tuple[AskedDimension, ...]


def route(panel: PanelConfig, rubric: Rubric) -> tuple[Routed, ...]:
    """The panel's judges in asking order, each with the rubric's checks of its modalities and its dimensions.

    The order is the file's, in which a judge that takes another's observations stands after it (the panel's model
    refuses any other). Since the panel routes each modality and each dimension to exactly one judge, every check and
    each of the five dimensions appears exactly once. A judge with nothing to decide for this rubric is not asked.
    """
    routed = (
        Routed(
            judge,
            tuple(check for check in rubric.checks if check.modality in judge.checks),
            tuple(AskedDimension(dim, rubric.quality[dim]) for dim in judge.dims),
        )
        for judge in panel.judges
    )
    return tuple(item for item in routed if item.checks or item.dims)
