"""`vvb import` and what `vvb explain` then shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.rollouts.test_harbor_jobs import trial
from vvb_assets.commands.explain import command as explain
from vvb_assets.commands.import_ import command as import_
from vvb_resources.errors import VvbError

STARTER = str(Path(__file__).parents[2] / "task_data" / "starter")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VVB_HOME", str(tmp_path / "home"))


def test_a_harbor_job_is_imported_and_explained(tmp_path: Path) -> None:
    trial(tmp_path / "job", "one", task="starter/BEAT")
    trial(tmp_path / "job", "two", task="starter/NONE")
    arguments = [str(tmp_path / "job"), "--system", "vector", "--benchmark", STARTER, "--json"]
    done = CliRunner().invoke(import_, arguments)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["imported"] == {"BEAT": "video absent"}
    assert report["ignored"] == {"two": "no task of this benchmark: 'starter/NONE'"}
    shown = CliRunner().invoke(explain, ["vector", "BEAT", "--benchmark", STARTER, "--json"])
    assert shown.exit_code == 0, shown.output
    facts = json.loads(shown.stdout)["rollout"]
    assert facts["origin"] == f"harbor: {tmp_path / 'job' / 'one'}"
    assert (facts["kind"], facts["usd"], facts["history"]) == ("self", 0.25, [])


def test_a_folder_of_deliveries_is_imported_once(tmp_path: Path) -> None:
    (tmp_path / "videos" / "BEAT").mkdir(parents=True)
    (tmp_path / "videos" / "other").mkdir()
    arguments = [str(tmp_path / "videos"), "--system", "vector", "--benchmark", STARTER, "--json"]
    first = json.loads(CliRunner().invoke(import_, arguments).stdout)
    assert first == {"imported": {"BEAT": "video absent"}, "ignored": {"other": "no such task"}}
    again = json.loads(CliRunner().invoke(import_, arguments).stdout)
    assert again["imported"]["BEAT"].startswith("kept the rollout that is there")


def test_a_folder_without_a_delivery_says_why(tmp_path: Path) -> None:
    (tmp_path / "videos" / "other").mkdir(parents=True)
    done = CliRunner().invoke(import_, [str(tmp_path / "videos"), "--system", "vector", "--benchmark", STARTER])
    assert isinstance(done.exception, VvbError)
    assert str(done.exception).startswith(
        f"{tmp_path / 'videos'}: holds no delivery of this benchmark (other: no such task)"
    )
