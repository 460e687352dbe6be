"""The vendors' own programs from npm, in the local sandbox, through the gateway to the scripted model, to a video."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.standin.scripted import ScriptedModel
from vvb_assets.rollouts.account import agreement
from vvb_assets.rollouts.model_access import key_name
from vvb_assets.rollouts.rollout import run_rollout
from vvb_resources.benchmark.loader import load_benchmark
from vvb_resources.benchmark.models import Price, SandboxPolicy, SystemConfig
from vvb_resources.harnesses.base import get_harness
from vvb_resources.sandbox.toolchain import AGENT_TOOLS

pytestmark = pytest.mark.xdist_group("real_programs")

STARTER = Path(__file__).parents[2] / "task_data" / "starter"
PRICE = Price(input=1.0, cached=0.1, cache_write=1.25, output=10.0)
# package with version, model, what follows the service's base URL, tokens billed (tests/standin/scripted.py)
PROGRAMS = {
    "claude_code": ("@anthropic-ai/claude-code@2.1.197", "claude-sonnet-5-5", "", (6280, 3000, 3200, 120)),
    "codex": ("@openai/codex@0.171.0", "gpt-5.6-sol", "/v1", (8400, 4000, 0, 180)),
    "gemini_cli": ("@google/gemini-cli@0.61.0", "gemini-3.1-pro-preview", "", (10000, 4500, 0, 180)),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs: VVB_TEST_AGENTS, where they were installed before, or a fresh one."""
    given = os.environ.get("VVB_TEST_AGENTS")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("agents")
    if shutil.which("npm") is None:
        pytest.skip("no npm: the vendors' programs cannot be installed")
    packages = [package for package, *_ in PROGRAMS.values()]
    command = ["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", f"--prefix={folder}", *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("no npm: its registry does not answer in time")
    if done.returncode != 0:
        pytest.skip(f"no npm: {(done.stderr.strip().splitlines() or ['install failed'])[-1]}")
    return folder


@pytest.mark.parametrize("harness", PROGRAMS)
def test_a_real_program_delivers_and_both_accounts_agree(
    harness: str, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, model, suffix, billed = PROGRAMS[harness]
    monkeypatch.setenv(AGENT_TOOLS, str(programs))
    benchmark, out = load_benchmark(STARTER), tmp_path / "out"
    out.mkdir()
    policy = SandboxPolicy(network="gateway", deadline_s=120, memory_mb=8192, usd=5.0)
    config = benchmark.config.model_copy(update={"sandbox": policy})
    with ScriptedModel() as service:
        system = SystemConfig(id="real", name="R", lab="L", harness=harness, model=model, endpoint=service.url + suffix)
        wire = get_harness(harness).wire(system)
        assert wire is not None
        monkeypatch.setenv(key_name(system, wire), "key-that-stays-outside")
        record = run_rollout(
            benchmark.root, config, system, benchmark.tasks["BOUNCE"], out, tmp_path / "state", prices={model: PRICE}
        )
    errors = (out / "logs" / "stderr.txt").read_text()[-2000:]
    assert (record.kind, record.exit_code, record.attempts) == ("self", 0, 1), errors
    assert (record.video.state, record.video.name) == ("present", "video.mp4")
    assert agreement(record.trajectory, record.gateway)[0]
    assert record.trajectory is not None
    assert (record.trajectory.complete, record.trajectory.answers, record.trajectory.tool_calls) == (True, 2, 1)
    usage = record.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_tokens, usage.cache_creation_tokens, usage.output_tokens) == billed
    prompt, cached, written, output = billed
    by_hand = ((prompt - cached - written) * 1 + cached * 0.1 + written * 1.25 + output * 10) / 1e6
    assert record.usd == pytest.approx(by_hand, rel=1e-12)
    holding = [p for p in out.rglob("*") if p.is_file() and b"key-that-stays-outside" in p.read_bytes()]
    assert holding == []
