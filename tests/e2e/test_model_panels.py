"""The paper's three panels on the starter benchmark, asked of a stand-in through `vvb run`: what went over the wire."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.models import (
    ROUTE,
    TRACES,
    Asked,
    model_of,
    names,
    paper_panels,
    prompt,
    rubric,
    texts,
    videos_sent,
)
from tests.e2e.platform import copy_of_starter
from tests.standin.answers import asked, score_of, status_of
from tests.standin.server import StandIn

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("models")]

TASKS, SYSTEM = ("BEAT", "ORBIT"), "vector"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder: Path = tmp_path_factory.mktemp("models")
    benchmark = copy_of_starter(folder, TASKS, (SYSTEM,))
    panels = paper_panels(folder)
    with StandIn(video_s=12.0) as service:
        platform = Asked(benchmark, folder / "home", service, panels)
        plan = platform.json("run", "--dry-run")
        assert service.log == []
        report = platform.json("run")
        assert report["failed"] == {}
        assert report["paused"] == {}
        (folder / "plan.json").write_text(json.dumps(plan))
        yield platform


def test_every_judge_is_asked_once_a_video_and_the_dry_run_said_so(platform: Asked) -> None:
    paid = platform.service.paid()
    assert Counter(model_of(call) for call in paid) == dict.fromkeys(ROUTE, len(TASKS))
    plan = json.loads((platform.benchmark.parent / "plan.json").read_text())
    rows = {(row["panel"], row["model"], row["system"]): row for row in plan["judging"]}
    assert set(rows) == {(panel, model, SYSTEM) for model, panel in ROUTE.items()}
    assert all(row["calls"] == len(TASKS) for row in rows.values())
    assert plan["totals"]["calls"] == len(paid) == 8
    assert plan["totals"]["usd"] == pytest.approx(sum(row["usd"] for row in rows.values()), abs=1e-5)
    assert all(row["input_tokens"] > 1000 and 0 < row["usd"] < row["usd_most"] for row in rows.values())


def test_l2_and_l3_of_all_panels_are_in_the_leaderboard(platform: Asked) -> None:
    (row,) = platform.json("leaderboard")["systems"]
    assert row["complete"] is True
    dims = ("VQ", "VA", "CL", "TM", "AQ")
    expected = sum(score_of(dim) for dim in dims) / 5
    assert row["overall_nv0"] == pytest.approx(expected, abs=0.005)  # one video a task, all panels alike


def test_routing_on_the_wire(platform: Asked) -> None:
    """No audio or audio_visual check, and no AQ, to a judge that cannot hear; none visual to the one that listens."""
    modality = {task: {check["id"]: check["modality"] for check in rubric(platform, task)["checks"]} for task in TASKS}
    seen: Counter[tuple[str, str]] = Counter()
    for call in platform.service.paid():
        checks, dims = asked(call.text)
        (task,) = [t for t, known in modality.items() if set(checks) <= set(known) and names(call, platform, t)]
        kinds = {modality[task][check] for check in checks}
        model = model_of(call)
        seen[model, task] += 1
        if model == "gpt-5.6-sol":
            assert kinds == {"visual"}
            assert dims == ["VQ", "VA", "CL", "TM"]
            assert "input_audio" not in json.dumps(call.json)
            assert "<observations>" in call.text  # the listener was asked first
        elif model == "qwen3.8-omni-flash":
            assert kinds <= {"audio", "audio_visual"}
            assert dims == ["AQ"]
            assert "<observations>" not in call.text
        else:
            assert set(checks) == set(modality[task])
            assert len(dims) == 5
    assert set(seen.values()) == {1}
    models = [model_of(call) for call in platform.service.paid()]
    assert models.index("qwen3.8-omni-flash") < models.index("gpt-5.6-sol")


def test_one_upload_a_video_and_judge_and_none_left(platform: Asked) -> None:
    starts = platform.service.calls("gemini.upload")
    assert len(starts) == 2 * len(TASKS)  # J1 and J2
    shown = [call.json["file"].get("displayName") or call.json["file"].get("display_name") for call in starts]
    assert set(shown) == {"video"}
    assert not any("filename" in name or "file-name" in name for call in starts for name in call.headers)
    assert platform.service.files == {}


def test_blinding_on_the_wire(platform: Asked) -> None:
    """No system, no path, no name of the machine's folders, no trace of an encoder, in any header, text or media."""
    secret = (SYSTEM, str(platform.home), str(platform.benchmark), "Lavf", "Lavc", "x264")
    for call in platform.service.log:
        words = [call.path, *call.headers.values(), *texts(call.json)]
        for name in secret:
            pattern = re.compile(rf"\b{re.escape(name)}\b")
            # The word "vector" may stand in a task's own prompt; nowhere else.
            prompts = "".join(prompt(platform, t) for t in TASKS)
            assert name in prompts or not any(pattern.search(word) for word in words), (name, call.route)
    videos = videos_sent(platform.service)
    assert len(videos) >= 4 + 2
    for data in videos:
        for trace in (*TRACES, SYSTEM.encode()):
            assert trace not in data


def test_sampling_on_the_wire(platform: Asked) -> None:
    for call in platform.service.calls("gemini.generate"):
        (metadata,) = [part["videoMetadata"] for part in call.json["contents"][0]["parts"] if "videoMetadata" in part]
        assert metadata == {"fps": 4}
    for call in platform.service.calls("openai.responses"):
        parts = call.json["input"][0]["content"]
        images = [part for part in parts if part["type"] == "input_image"]
        assert 24 <= len(images) <= 300
        assert parts[0]["text"] == "t = 0.000 s"


def test_what_it_cost(platform: Asked) -> None:
    """Tokens that the stand-in billed, times the prices of the list, is what the tables say."""
    usd = 0.0
    prices = {"gemini-4-argon": (2, 12), "gemini-3.8-flash": (0.5, 3), "qwen3.8-omni-flash": (1, 4)}
    prices["gpt-5.6-sol"] = (2, 10)
    for call in platform.service.paid():
        price = prices[model_of(call)]
        usd += (call.usage["input"] * price[0] + call.usage["output"] * price[1]) / 1e6
    told = sum(
        manifest["summary"]["usd"]
        for name, manifest in platform.manifests().items()
        if name.split("/")[1] == "judgment"
    )
    assert told == pytest.approx(usd, rel=1e-9)
    table = platform.json("judges", "cost")
    assert {(row["panel"], row["judge"], row["system"], row["runs"]) for row in table} == {
        (panel, judge, SYSTEM, len(TASKS))
        for panel, judge in (("J1", "argon"), ("J2", "flash"), ("J3", "omni"), ("J3", "sol"))
    }
    assert sum(row["usd"] for row in table) == pytest.approx(usd, rel=1e-9)


def test_explain_leads_from_a_check_to_what_the_judge_wrote(platform: Asked) -> None:
    check = next(c for c in rubric(platform, "ORBIT")["checks"] if c["modality"] == "visual")
    told = platform.json("explain", SYSTEM, "ORBIT", check["id"])["panels"]
    models = {panel: told[panel]["reply"]["model"] for panel in told}
    assert models == {"J1": "gemini-4-argon", "J2": "gemini-3.8-flash", "J3": "gpt-5.6-sol"}
    for answer in told.values():
        assert answer["reply"]["said"]["status"] == answer["verdict"] == status_of(check["id"])
        assert Path(answer["reply"]["file"]).is_file()


def test_noise_asks_again_and_leaves_the_scores_alone(platform: Asked) -> None:
    before = len(platform.service.paid())
    (row,) = platform.json("judges", "noise", "--panel", "J2", "--task", "ORBIT", "--samples", "3")
    assert len(platform.service.paid()) == before + 2  # sample 0 is the judgment itself
    assert (row["judge"], row["videos"], row["samples"]) == ("flash", 1, 3)
    assert (row["same_verdict_pct"], row["score_sd"]) == (100.0, 0.0)  # the stand-in never wavers


def test_staleness(platform: Asked) -> None:
    service = platform.service
    before = len(service.paid())

    # One judge's model in one panel: that panel only.
    file = platform.panels / "J1.yaml"
    file.write_text(file.read_text().replace("model: gemini-4-argon", "model: gemini-3.8-flash-b"))
    file.write_text(file.read_text().replace("price: gemini-4-argon", "price: gemini-3.8-flash"))
    assert platform.json("run")["failed"] == {}
    new = service.paid()[before:]
    assert Counter(model_of(call) for call in new) == {"gemini-3.8-flash-b": len(TASKS)}
    before += len(new)

    # One check's text: that task only, and only the judges it is routed to.
    rubric_file = platform.benchmark / "tasks" / "ORBIT" / "rubric.yaml"
    text = rubric_file.read_text()
    assert text.count('title: "Night blue"') == 1  # a visual check
    rubric_file.write_text(text.replace('title: "Night blue"', 'title: "Night blue throughout"'))
    assert platform.json("run")["failed"] == {}
    new = service.paid()[before:]
    assert Counter(model_of(call) for call in new) == dict.fromkeys(
        ("gemini-3.8-flash-b", "gemini-3.8-flash", "gpt-5.6-sol"), 1
    )
    assert all(names(call, platform, "ORBIT") for call in new)
    before += len(new)

    # The reader: everything is read again, nothing is asked.
    code = "import sys; import vvb_resources.judges.reading as r; r.READER_VERSION = 'next'; "
    code += "from vvb_assets.cli import main; sys.argv[0] = 'vvb'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "--json"],
        env=platform.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made = json.loads(done.stdout)["made"]
    assert {name: made.get(name) for name in ("panel_J1", "panel_J2", "panel_J3")} == dict.fromkeys(
        ("panel_J1", "panel_J2", "panel_J3"), len(TASKS)
    )
    assert len(service.paid()) == before


def test_a_limit_pauses_and_the_next_run_goes_on(platform: Asked) -> None:
    """A limit under one call's worst case: nothing is asked, nothing has failed, and the rest goes on later."""
    file = platform.panels / "J2.yaml"
    file.write_text(file.read_text().replace("model: gemini-3.8-flash", "model: gemini-3.8-flash-c"))
    before = len(platform.service.paid())
    report = platform.json("run", "--usd-run", "0.001", expect=1)
    assert len(platform.service.paid()) == before
    assert set(report["paused"]) == {f"panel_J2[{SYSTEM}|{task}]" for task in TASKS}
    assert report["failed"] == {}
    assert "the limit of this run is $0.00" in next(iter(report["paused"].values()))
    assert platform.json("run", "--usd-run", "5")["paused"] == {}
    assert len(platform.service.paid()) == before + len(TASKS)


def test_an_unknown_price_is_refused_with_the_remedy(platform: Asked) -> None:
    file = platform.panels / "J2.yaml"
    text = file.read_text()
    file.write_text(
        text.replace("model: gemini-3.8-flash-c", "model: gemini-9").replace(
            "price: gemini-3.8-flash", "price: gemini-9"
        )
    )
    before = len(platform.service.log)
    assert platform.json("run", "--dry-run")["totals"]["usd"] is None
    done = subprocess.run(
        platform.command("run"), env=platform.environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()  # at the start, once, and not for each partition
    assert "no price is known of gemini-9" in line
    assert "--allow-unpriced gemini-9" in line
    assert len(platform.service.log) == before
