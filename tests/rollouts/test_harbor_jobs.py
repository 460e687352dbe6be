"""Job folders of the Harbor runner. The result documents have the shape of its `TrialResult` (document version 1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vvb_assets.rollouts.harbor import find_trials, is_job
from vvb_assets.rollouts.importing import import_trial
from vvb_assets.rollouts.make import made_of
from vvb_assets.rollouts.record import RolloutRecord

TASKS = ("BALL", "BRIDGE")


def trial(job: Path, name: str, task: str = "videos/BALL", minute: int = 0, **fields: Any) -> Path:
    """A trial of the job; `fields` are put into its result."""
    folder = job / name
    (folder / "artifacts" / "work" / "delivery").mkdir(parents=True)
    (folder / "agent").mkdir()
    (folder / "agent" / "claude-code.txt").write_text("log")
    (folder / "artifacts" / "work" / "delivery" / "notes.md").write_text(name)
    result: dict[str, Any] = {
        "schema_version": 1,
        "id": "8e5a7b1c-0d9f-4a55-9c1e-2f6b8a3d4e5f",
        "task_name": task,
        "trial_name": name,
        "trial_uri": f"file:///jobs/{name}",
        "task_id": {"path": f"tasks/{task}"},
        "task_checksum": "0" * 64,
        "config": {"task": {"path": f"tasks/{task}"}},
        "agent_info": {"name": "claude-code", "version": "2.1.0", "model_info": {"name": "m1", "provider": "p"}},
        "agent_result": {"n_input_tokens": 900, "n_cache_tokens": 400, "n_output_tokens": 70, "cost_usd": 0.25},
        "exception_info": None,
        "agent_execution": {
            "started_at": f"2026-01-01T00:{minute:02d}:00",
            "finished_at": f"2026-01-01T00:{minute:02d}:30+00:00",
        },
        **fields,
    }
    (folder / "result.json").write_text(json.dumps(result))
    return folder


def failed(kind: str) -> dict[str, Any]:
    return {
        "exception_type": kind,
        "exception_message": "x",
        "exception_traceback": "x",
        "occurred_at": "2026-01-01T00:00:00",
    }


def test_a_trial_becomes_a_rollout_with_its_provenance(tmp_path: Path) -> None:
    job, out = tmp_path / "job", tmp_path / "out"
    out.mkdir()
    trial(job, "ball__abc")
    assert is_job(job)
    (found,), left = find_trials(job, TASKS)
    assert left == {}
    record = import_trial(found, "mine", out)
    assert (record.task, record.system, record.imported, record.ended) == ("BALL", "mine", True, "self")
    assert (record.started_at, record.seconds, record.usd) == (1767225600.0, 30.0, 0.25)
    assert [file.path for file in record.files] == ["notes.md"]
    origin = record.origin
    assert origin is not None
    assert (origin.kind, origin.run, origin.agent, origin.agent_version) == (
        "harbor",
        "ball__abc",
        "claude-code",
        "2.1.0",
    )
    assert (origin.prompt_tokens, origin.cached_tokens, origin.output_tokens) == (900, 400, 70)
    assert origin.path == str(job / "ball__abc")
    assert (out / "logs/harness/claude-code.txt").read_text() == "log"
    assert RolloutRecord.model_validate_json((out / "record.json").read_text()) == record
    assert made_of(record).checks["ended_by_itself"]["description"] == "imported; ended: self after 30.0 s"


def test_one_scored_run_a_task_and_a_reason_for_every_other(tmp_path: Path) -> None:
    """Harbor's own errors are told from the agent's by the exception's type; the earliest run that counts is scored."""
    trial(tmp_path, "a", minute=1, exception_info=failed("EnvironmentStartTimeoutError"))
    trial(tmp_path, "b", minute=3, exception_info=failed("AgentTimeoutError"))
    trial(tmp_path, "c", minute=2)
    trial(tmp_path, "d", task="videos/OTHER")
    trial(tmp_path, "e", task="BRIDGE", schema_version=2)
    (trial(tmp_path, "f", task="BRIDGE") / "result.json").write_text("{")
    (tmp_path / "g").mkdir()
    found, left = find_trials(tmp_path, TASKS)
    assert [(one.task, one.folder.name, one.ended) for one in found] == [("BALL", "c", "self")]
    assert left == {
        "a": "ended by EnvironmentStartTimeoutError, which is not known to be the agent's fault",
        "b": "a later trial of BALL: c is the scored run",
        "d": "no task of this benchmark: 'videos/OTHER'",
        "e": "result.json has version 2; version 1 is known",
        "f": "result.json cannot be read",
        "g": "no trial: it has no result.json",
    }


def test_the_delivery_is_found_or_it_is_not_guessed(tmp_path: Path) -> None:
    named = trial(tmp_path, "a", task="BALL")
    (found,), _ = find_trials(tmp_path, TASKS)
    assert found.delivery == named / "artifacts/work/delivery"
    (named / "artifacts/other/delivery").mkdir(parents=True)
    _, left = find_trials(tmp_path, TASKS)
    assert left["a"] == "several folders named delivery: artifacts/other/delivery, artifacts/work/delivery"
    plain = trial(tmp_path, "b", task="BRIDGE")
    (plain / "artifacts/work/delivery").rename(plain / "artifacts/work/out")
    (found,), _ = find_trials(tmp_path, TASKS)
    assert found.delivery == plain / "artifacts"
    (plain / "artifacts/logs/artifacts").mkdir(parents=True)
    (found,), _ = find_trials(tmp_path, TASKS)
    assert found.delivery == plain / "artifacts/logs/artifacts"


@pytest.mark.parametrize("junk", [None, 5, "x", [], {"cost_usd": True, "n_input_tokens": -1}])
def test_figures_that_are_none_are_unknown(tmp_path: Path, junk: Any) -> None:
    trial(tmp_path, "a", agent_result=junk, agent_execution=junk, agent_info=junk)
    (found,), _ = find_trials(tmp_path, TASKS)
    assert (found.started_at, found.seconds) == (None, None)
    assert (found.origin.reported_usd, found.origin.prompt_tokens, found.origin.agent) == (None, None, None)
