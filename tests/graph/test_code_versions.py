"""Code versions: a changed version constant re-makes its dependants and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exact.world import write_benchmark
from vvb_assets.l1 import make as l1
from vvb_assets.leaderboards import make as leaderboards
from vvb_assets.panels import make as panels
from vvb_assets.settings import Settings
from vvb_resources.judges.providers import instrument

PANELS = ("dense", "sparse", "split")


def of_panels(*parts: str) -> set[str]:
    return {f"{panel}/{part}" for panel in PANELS for part in parts}


@pytest.mark.parametrize(
    ("module", "constant", "moved"),
    [
        (panels, "PROMPT_VERSION", of_panels("judgment")),
        (panels, "READER_VERSION", of_panels("judgment", "l2_verdicts", "l3_scores")),
        (instrument, "VERSION", of_panels("judgment")),
        (l1, "FACTS_VERSION", {"l1_measurements"}),
        (
            leaderboards,
            "RESAMPLED",
            {"leaderboard", "uncertainty", "pairwise", "self_preference", "reranking"} | {"cost_correlation"},
        ),
    ],
)
def test_exactly_the_dependants_of_a_constant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, constant: str, moved: set[str]
) -> None:
    settings = Settings(write_benchmark(tmp_path / "benchmark", 1), None, tmp_path / "home")
    before = {key: node.code_version for key, node in settings.open().graph.nodes.items()}
    monkeypatch.setattr(module, constant, () if constant == "RESAMPLED" else "another")
    after = {key: node.code_version for key, node in settings.open().graph.nodes.items()}
    assert {key for key in before if before[key] != after[key]} == moved
