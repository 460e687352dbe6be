"""BVB's figures: the published overall, and small cases by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vvb_assets.bvb.scores import Scene, dual_vqa, latent_similarity, overall
from vvb_resources.errors import ResultsError

PAPER = Path(__file__).parents[1] / "data" / "paper"


def test_the_published_overall_follows_from_the_published_axes() -> None:
    best = json.loads((PAPER / "bvb_published.json").read_text())
    golden = json.loads((PAPER / "golden_paper.json").read_text())
    entries = golden if isinstance(golden, list) else golden["entries"]
    entry = next(e for e in entries if e["name"] == "bvb.overall_sqrt_mean")
    found = overall(best["best_dv"], best["best_ls"])
    assert found == pytest.approx(entry["expected"], abs=entry["tolerance"])
    assert found == pytest.approx(best["overall"]["GPT-6-Astra-high"], abs=0.05)


def test_dual_vqa_pools_questions_and_keeps_those_of_failed_scenes() -> None:
    scenes = [Scene(10, 5, 1.0, 1.0), Scene(30, 9, 0.5, 0.5), Scene(10, 0, None, None)]
    assert dual_vqa(scenes) == pytest.approx(100 * 14 / 50)
    assert dual_vqa([Scene(1827, 981, 1.0, 1.0)]) == pytest.approx(53.69, abs=0.005)
    assert dual_vqa([]) is None


def test_latent_similarity_clips_negative_cosines_and_counts_failures_as_zero() -> None:
    scenes = [Scene(1, 1, 0.9, 0.7), Scene(1, 1, -0.4, 0.6), Scene(1, 0, None, None)]
    assert latent_similarity(scenes) == pytest.approx(100 * (0.8 + 0.3 + 0.0) / 3)
    assert latent_similarity([]) is None


def test_the_overall_lies_below_the_arithmetic_mean_unless_the_axes_agree() -> None:
    assert overall(64, 64) == pytest.approx(64)
    assert overall(0, 100) == pytest.approx(25)


@pytest.mark.parametrize(("dv", "ls"), [(-1, 50), (50, 100.5)])
def test_a_value_outside_the_scale_is_refused(dv: float, ls: float) -> None:
    with pytest.raises(ResultsError, match="0 to 100"):
        overall(dv, ls)


def test_more_retained_than_asked_is_refused() -> None:
    with pytest.raises(ResultsError, match="scene 2"):
        dual_vqa([Scene(2, 1, 1.0, 1.0), Scene(2, 3, 1.0, 1.0)])
