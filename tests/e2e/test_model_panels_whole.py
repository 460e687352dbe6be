"""The whole starter, every video of every system, judged by the paper's three panels; then one judge in batches.

The rollouts, checks and blinded videos are those of the session's starter run: only the judging is new.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.models import TRACES, Asked, model_of, names, paper_panels, rubric, texts, videos_sent
from tests.e2e.platform import Platform, copy_of_starter
from tests.standin.answers import asked, score_of
from tests.standin.server import StandIn

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("starter")]

SYSTEMS = ("late", "raster", "vector")
VIDEOS = 22  # eight tasks by three systems; the late one misses two
MODELS = ("gemini-4-argon", "gemini-3.8-flash", "qwen3.8-omni-flash", "gpt-5.6-sol")


@pytest.fixture(scope="module")
def judged(starter: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder: Path = tmp_path_factory.mktemp("whole")
    benchmark = copy_of_starter(folder)
    shutil.copytree(starter.home, folder / "home", symlinks=True)
    with StandIn(video_s=12.0) as service:
        platform = Asked(benchmark, folder / "home", service, paper_panels(folder))
        report = platform.json("run")
        assert (report["failed"], report["paused"]) == ({}, {})
        assert not {"rollout", "l1_measurements", "blinded_media"} & set(report["made"])
        yield platform


def test_every_video_is_judged_once_by_every_judge(judged: Asked) -> None:
    assert Counter(model_of(call) for call in judged.service.paid()) == dict.fromkeys(MODELS, VIDEOS)
    assert len(judged.service.calls("gemini.upload")) == 2 * VIDEOS  # one a video and judge
    assert judged.service.files == {}
    assert not list((judged.home / "uploads").glob("*.json"))


def test_the_leaderboard_has_l2_and_l3_of_all_panels(judged: Asked) -> None:
    board = {row["system"]: row for row in judged.json("leaderboard")["systems"]}
    expected = sum(score_of(dim) for dim in ("VQ", "VA", "CL", "TM", "AQ")) / 5
    for system in SYSTEMS:
        assert board[system]["complete"] is True
        assert board[system]["panels"] == "J1, J2, J3"
        assert board[system]["overall_deliv"] == pytest.approx(expected)
        assert board[system]["l2_pass_deliv_pct"] is not None
    assert board["late"]["overall_nv0"] == pytest.approx(expected * 6 / 8)


def test_routing_of_every_call(judged: Asked) -> None:
    """No audio or audio_visual check, and no AQ, to the judge that cannot hear; nothing visual to the one that does."""
    tasks = sorted(path.name for path in (judged.benchmark / "tasks").iterdir())
    modality = {task: {check["id"]: check["modality"] for check in rubric(judged, task)["checks"]} for task in tasks}
    allowed = {"gpt-5.6-sol": {"visual"}, "qwen3.8-omni-flash": {"audio", "audio_visual"}}
    dims_of = {"gpt-5.6-sol": ["VQ", "VA", "CL", "TM"], "qwen3.8-omni-flash": ["AQ"]}
    seen: Counter[str] = Counter()
    for call in judged.service.paid():
        checks, dims = asked(call.text)
        (task,) = [t for t in tasks if names(call, judged, t)]
        seen[task] += 1
        wanted = allowed.get(model_of(call), {"visual", "audio", "audio_visual"})
        assert checks == [check for check, kind in modality[task].items() if kind in wanted]
        assert dims == dims_of.get(model_of(call), ["VQ", "VA", "CL", "TM", "AQ"])
        if model_of(call) == "gpt-5.6-sol":
            assert "input_audio" not in json.dumps(call.json)
            assert "<observations>" in call.text
    assert sum(seen.values()) == VIDEOS * len(MODELS)
    assert set(seen) == set(tasks)


def test_nothing_on_the_wire_tells_whose_video_it_is(judged: Asked) -> None:
    """No system, path or encoder in a header, a text or a video. A word of a task's own text is no trace."""
    own = "".join(p.read_text() for p in (judged.benchmark / "tasks").glob("*/*") if p.suffix in (".md", ".yaml"))
    secret = [*SYSTEMS, str(judged.home), str(judged.benchmark), "Lavf", "Lavc", "x264"]
    patterns = [re.compile(rf"\b{re.escape(name)}\b") for name in secret if not re.search(rf"\b{name}\b", own)]
    assert len(patterns) >= 6
    for call in judged.service.log:
        words = [call.path, *call.headers.values(), *texts(call.json)]
        assert not any(pattern.search(word) for pattern in patterns for word in words), call.route
    videos = videos_sent(judged.service)
    assert len(videos) == 3 * VIDEOS
    for data in videos:
        assert not any(trace in data for trace in TRACES)


def test_the_cost_of_judging_is_a_table_of_the_graph(judged: Asked) -> None:
    rows: list[dict[str, Any]] = judged.json("leaderboard", "--table", "judging_costs")["rows"]
    assert {(row["panel"], row["judge"], row["system"]) for row in rows} == {
        (panel, judge, system)
        for panel, judge in (("J1", "argon"), ("J2", "flash"), ("J3", "omni"), ("J3", "sol"))
        for system in SYSTEMS
    }
    prices = dict(zip(MODELS, ((2, 12), (0.5, 3), (1, 4), (2, 10)), strict=True))
    billed = 0.0
    for call in judged.service.paid():
        p_in, p_out = prices[model_of(call)]
        billed += (call.usage["input"] * p_in + call.usage["output"] * p_out) / 1e6
    assert sum(row["usd"] for row in rows) == pytest.approx(billed)
    assert rows == judged.json("judges", "cost")


def test_the_same_judge_in_batches_at_half_price(judged: Asked) -> None:
    """A changed model of one panel: its videos go in one batch, nothing is called for, and the bill is half."""
    file = judged.panels / "J1.yaml"
    file.write_text(file.read_text().replace("model: gemini-4-argon", "model: gemini-4-argon-b"))
    before = len(judged.service.paid())
    plan = judged.json("run", "--batch", "--dry-run")
    assert judged.json("run", "--batch")["failed"] == {}
    new = judged.service.paid()[before:]
    assert Counter(call.route for call in new) == {"gemini.batched": VIDEOS}
    billed = sum(call.usage["input"] * 2 + call.usage["output"] * 12 for call in new) / 1e6
    rows = [row for row in judged.json("judges", "cost") if row["panel"] == "J1"]
    assert sum(row["usd"] for row in rows) == pytest.approx(billed / 2)
    dear = judged.json("run", "--dry-run")
    assert (plan["totals"]["calls"], dear["totals"]["calls"]) == (VIDEOS, 0)
    assert judged.service.files == judged.service.batch_files == {}
    for folder in ("batches", "uploads"):
        assert not list((judged.home / folder).glob("*.json"))
