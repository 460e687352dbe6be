"""BVB's figures from a scene's answers and similarities, on 0-100: dual VQA (DV), latent similarity (LS), overall.

Source: the BVB benchmark's definitions. A failed reconstruction scores 0 on both axes, and its scene's questions that
were answered right on the source stay in the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from vvb_resources.errors import ResultsError


@dataclass(frozen=True)
class Scene:
    """One scene: questions answered right on the source, those of them right on the reconstruction too, and the cosines
    of layout and motion tokens in [-1, 1] (None where the reconstruction failed)."""

    source_correct: int
    retained: int
    layout: float | None
    motion: float | None


def dual_vqa(scenes: Sequence[Scene]) -> float | None:
    """DV: share of source-correct questions that survive the reconstruction, pooled over scenes; None without any.

    Raises ResultsError when a scene retains more questions than it had.
    """
    for number, scene in enumerate(scenes, start=1):
        if not 0 <= scene.retained <= scene.source_correct:
            raise ResultsError(
                f"retains {scene.retained} of {scene.source_correct} questions",
                where=f"scene {number}",
                remedy="recount",
            )
    asked = sum(scene.source_correct for scene in scenes)
    return 100 * sum(scene.retained for scene in scenes) / asked if asked else None


def latent_similarity(scenes: Sequence[Scene]) -> float | None:
    """LS: mean over scenes of (layout + motion) / 2, negative cosines and failed scenes as 0; None without a scene."""
    values = [
        0.0 if s.layout is None or s.motion is None else (max(0.0, s.layout) + max(0.0, s.motion)) / 2 for s in scenes
    ]
    return 100 * sum(values) / len(values) if values else None


def overall(dv: float, ls: float) -> float:
    """The power mean with exponent one half: ((sqrt(DV) + sqrt(LS)) / 2)^2, all on 0-100.

    Raises ResultsError for a value outside that range.
    """
    for name, value in (("DV", dv), ("LS", ls)):
        if not 0 <= value <= 100:
            raise ResultsError(f"{name} is {value:g}", where="BVB overall", remedy="give a value from 0 to 100")
    return ((sqrt(dv) + sqrt(ls)) / 2) ** 2
