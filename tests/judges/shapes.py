"""A small task, its rubric, and the starter panels, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from vvb_resources.benchmark.models import PanelConfig, Rubric, TaskSpec

PANELS = ("dense", "sparse", "split")
_FOLDER = Path(__file__).parents[2] / "task_data" / "starter" / "panels"


def panel_of(name: str) -> PanelConfig:
    """A panel of the starter benchmark."""
    return PanelConfig.model_validate(YAML(typ="safe").load((_FOLDER / f"{name}.yaml").read_text()))


def make_check(
    check: str, modality: str, probe: dict[str, Any] | None = None, criticality: str = "core"
) -> dict[str, Any]:
    """A check as in rubric.yaml."""
    return {
        "id": check,
        "goal": "G1",
        "title": f"Check {check}",
        "pass": "It is there.",
        "fail": "It is not.",
        "scope": "Whole video",
        "basis": "Show EMBER.",
        "criticality": criticality,
        "modality": modality,
        "probe": probe,
    }


def make_rubric() -> Rubric:
    """Four checks on the scheduled clip: V1 and A1 and X1 pass, V2 has no probe."""
    anchors = {"1": "bad", "3": "fair", "5": "good"}
    return Rubric.model_validate(
        {
            "goals": [{"id": "G1", "title": "The name is shown"}],
            "requirements": [{"id": "R1", "quote": "Show EMBER.", "checks": ["V1", "A1", "X1", "V2"]}],
            "checks": [
                make_check("V1", "visual", {"kind": "text", "all_of": ["EMBER"]}),
                make_check("A1", "audio", {"kind": "onset", "times": [1, 2.5, 4]}),
                make_check("X1", "audio_visual", {"kind": "onset", "times": [1]}, "detail"),
                make_check("V2", "visual"),
            ],
            "quality": dict.fromkeys(("VQ", "VA", "CL", "TM", "AQ"), anchors),
        }
    )


def make_spec(**audio: str) -> TaskSpec:
    """A task of 7 to 9 seconds with sound effects required, or the audio policy given."""
    uses = {"narration": "not_used", "music": "optional", "effects": "required", "ambience": "not_used"} | audio
    return TaskSpec.model_validate(
        {
            "id": "EMBER",
            "title": "Ember",
            "category": "C01",
            "subcategories": ["S01"],
            "language": "en",
            "kind": "core",
            "freedom": "Style is open.",
            "delivery": {"width": 480, "height": 272, "fps": 10, "duration": {"min": 7, "max": 9}},
            "audio": uses,
        }
    )
