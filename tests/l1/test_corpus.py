"""Two files of each hard kind, made here, and the verdicts that their making implies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.l1.kinds import KINDS
from tests.l1.test_report import spec
from tests.media.clips import delivery
from vvb_assets.l1.report import l1_report
from vvb_resources.benchmark.models import L1Limits

TASK = spec(64, 48, 2, 60)
LIMITS = L1Limits(black_s=0.5, frozen_s=1.0)
SPOKEN = {"narration_coverage", "narration_language"}  # no file here speaks


@pytest.mark.parametrize("variant", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_kind(kind: str, variant: int, tmp_path: Path) -> None:
    build, parameters = KINDS[kind]
    path, expected = build(tmp_path, parameters[variant])
    checks = l1_report(path, TASK, LIMITS, tmp_path)["checks"]
    # `?`: what is left of a damaged file is judged by what decodes, which is for the decoder to say.
    wanted = {name: expected.get(name, "pass") for name in checks if name not in SPOKEN} | {"source_project": "na"}
    found = {name: checks[name]["verdict"] for name in wanted if wanted[name] != "?"}
    assert found == {name: verdict for name, verdict in wanted.items() if verdict != "?"}, checks


def test_every_kind_has_two_files() -> None:
    assert all(len(parameters) == 2 and parameters[0] != parameters[1] for _, parameters in KINDS.values())
    assert len(KINDS) >= 45


def test_a_delivery_around_each_name_is_judged_like_the_file(tmp_path: Path) -> None:
    build, parameters = KINDS["reference"]
    path, _ = build(tmp_path, parameters[0])
    report = l1_report(delivery(tmp_path / "d", path), TASK, LIMITS, tmp_path)
    assert (report["delivered"], report["checks"]["source_project"]["verdict"]) == (True, "pass")
