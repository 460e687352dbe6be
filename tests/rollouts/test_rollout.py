"""A rollout from start to record, with scripted agents of every kind."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from tests.rollouts.conftest import FILM, make_config, make_system
from vvb_assets.rollouts.faults import END_RULES
from vvb_assets.rollouts.record import RolloutRecord
from vvb_assets.rollouts.rollout import release_rollout, run_rollout
from vvb_resources.benchmark.loader import Task
from vvb_resources.benchmark.models import SandboxPolicy
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import Isolation, SandboxOutcome, SandboxPlace, SandboxRequest, SandboxView, WallsError
from vvb_resources.sandbox.environment import INSTRUCTION
from vvb_resources.sandbox.local import LocalSandbox
from vvb_resources.store.digests import digest_value


def rollout(
    tmp_path: Path, task: Task, code: str, *, seconds: float = 30, sandbox: object = None, **system: object
) -> tuple[RolloutRecord, Path]:
    root, out = tmp_path / "benchmark", tmp_path / "out"
    out.mkdir()
    config = make_config(deadline_s=seconds, file_mb=64)
    made = make_system(root, FILM + code, **system)
    record = run_rollout(root, config, made, task, out, tmp_path / "state", sandbox=sandbox)  # type: ignore[arg-type]
    return record, out


GOOD = """
import pathlib, sys
film("delivery/ball.mp4", "-movflags", "+faststart")
pathlib.Path("delivery/project").mkdir()
pathlib.Path("delivery/project/main.py").write_text("source")
pathlib.Path("delivery/notes.md").write_text("Checked: it plays.")
print(sys.argv[1])
print(open("prompt.txt").read() + open("inputs/data/table.csv").read())
"""


def test_good_agent(tmp_path: Path, task: Task) -> None:
    record, out = rollout(tmp_path, task, GOOD)
    assert (out / "logs/stderr.txt").read_text() == ""
    assert (record.ended, record.exit_code, record.attempts, record.imported) == ("self", 0, 1, False)
    assert (record.video.state, record.video.name, record.video.fault) == ("present", "ball.mp4", None)
    assert [file.path for file in record.files] == ["ball.mp4", "notes.md", "project/main.py"]
    by_hand = {
        name: hashlib.sha256((out / "delivery" / name).read_bytes()).hexdigest()
        for name in ("ball.mp4", "notes.md", "project/main.py")
    }
    assert {file.path: file.sha256 for file in record.files} == by_hand
    assert record.delivery_digest == digest_value(by_hand)
    assert record.video.bytes == (out / "delivery/ball.mp4").stat().st_size
    assert RolloutRecord.model_validate_json((out / "record.json").read_text()) == record
    assert (out / "logs/stdout.txt").read_text() == f"{INSTRUCTION}\nShow a ball.\na,b\n1,2\n\n"
    assert sorted(p.name for p in (out / "brief").iterdir()) == [
        "ENVIRONMENT.md",
        "instruction.txt",
        "prompt.txt",
        "spec.json",
    ]
    assert [path.name for path in (tmp_path / "state").iterdir()] == [record.run], "kept until the rollout is safe"
    release_rollout(record, tmp_path / "state")
    assert list((tmp_path / "state").iterdir()) == []
    assert record.usd == 0.0
    assert record.usage is None


def test_delivery_cannot_be_changed_afterwards(tmp_path: Path, task: Task) -> None:
    _, out = rollout(tmp_path, task, GOOD)
    writable = [path for path in (out / "delivery").rglob("*") if path.lstat().st_mode & 0o222]
    assert writable == []
    assert (out / "delivery").stat().st_mode & 0o222 == 0


def test_model_without_price_has_no_known_cost(tmp_path: Path, task: Task) -> None:
    record, _ = rollout(tmp_path, task, "pass", model="some-model")
    assert record.usd is None


@pytest.mark.parametrize(
    ("code", "state", "fault"),
    [
        ("pass", "absent", "no MP4 at the top of the delivery"),
        ("open('delivery/a.mp4', 'wb')", "truncated", "the file has 0 bytes"),
        # moov at the end is lost with the last byte of mdat
        (
            "film('tmp/a.mp4'); d = open('tmp/a.mp4', 'rb').read()\n"
            "open('delivery/a.mp4', 'wb').write(d[:d.index(b'moov') - 100])",
            "truncated",
            "no whole moov box: the file was cut or never finished",
        ),
        # moov in front, the media cut
        (
            "film('tmp/a.mp4', '-movflags', '+faststart'); d = open('tmp/a.mp4', 'rb').read()\n"
            "open('delivery/a.mp4', 'wb').write(d[:-500])",
            "truncated",
            "the file ends before its last box does",
        ),
        ("open('delivery/a.mp4', 'w').write('<html>' * 99)", "unreadable", "no ftyp box: not an MP4"),
    ],
)
def test_video_that_is_none(tmp_path: Path, task: Task, code: str, state: str, fault: str) -> None:
    record, out = rollout(tmp_path, task, code)
    assert (out / "logs/stderr.txt").read_text() == ""
    assert record.ended == "self"
    assert (record.video.state, record.video.fault) == (state, fault)


def test_deadline_keeps_what_was_finished(tmp_path: Path, task: Task) -> None:
    code = "film('delivery/first.mp4')\nwhile True: open('tmp/second.mp4', 'ab').write(bytes(1000))"
    record, _ = rollout(tmp_path, task, code, seconds=3)
    assert (record.ended, record.deadline_s) == ("timed_out", 3)
    assert (record.video.state, record.video.name) == ("present", "first.mp4")


def test_agents_own_fault_is_a_result(tmp_path: Path, task: Task) -> None:
    record, out = rollout(tmp_path, task, "film('delivery/a.mp4'); raise RuntimeError('it broke')")
    assert (record.ended, record.exit_code, record.attempts) == ("error", 1, 1)
    assert record.video.state == "present"
    assert (out / "logs/stderr.txt").read_text().endswith("RuntimeError: it broke\n")


def test_odd_entries_are_recorded(tmp_path: Path, task: Task) -> None:
    record, out = rollout(
        tmp_path, task, "import os\nos.symlink('/etc/hostname', 'delivery/video.mp4'); os.mkfifo('delivery/pipe')"
    )
    assert {(entry.path, entry.why) for entry in record.left_out} == {("video.mp4", "symbolic link"), ("pipe", "FIFO")}
    assert record.video.state == "absent"
    assert list((out / "delivery").iterdir()) == []


def test_harness_log_is_kept_unless_it_leads_outside(tmp_path: Path, task: Task) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "log.jsonl").write_text("secret")
    code = "import os; os.makedirs('home/x'); open('home/x/log.jsonl', 'w').write('{}')"
    _, out = rollout(tmp_path, task, code, log="home/x/log.jsonl")
    assert (out / "logs/harness/log.jsonl").read_text() == "{}"
    code = f"import os; os.symlink({str(secret)!r}, 'home/x')"
    (tmp_path / "two").mkdir()
    system = make_system(tmp_path / "two", code, log="home/x/log.jsonl")
    run_rollout(
        tmp_path / "two", make_config(deadline_s=20), system, task, tmp_path / "two", tmp_path / "state", sandbox=None
    )
    assert list((tmp_path / "two/logs/harness").iterdir()) == []
    assert (secret / "log.jsonl").read_text() == "secret"


def test_named_key_is_passed_and_a_missing_one_refused(
    tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKETCH_KEY", "k-1")
    monkeypatch.setenv("OTHER_KEY", "k-2")
    code = "import os; print(os.environ['SKETCH_KEY'], os.environ.get('OTHER_KEY'), os.environ['TONE'])"
    _, out = rollout(tmp_path, task, code, keys=["SKETCH_KEY"], env={"TONE": "calm"})
    assert (out / "logs/stdout.txt").read_text() == "k-1 None calm\n"
    monkeypatch.delenv("SKETCH_KEY")
    other = make_system(tmp_path / "other", "pass", keys=["SKETCH_KEY"])
    with pytest.raises(SandboxError, match="system sketch: needs SKETCH_KEY"):
        run_rollout(tmp_path / "other", make_config(), other, task, tmp_path / "other", tmp_path / "state")


class Flaky:
    """A sandbox whose walls break the first `faults` times."""

    outlives = False

    def __init__(self, faults: int) -> None:
        self.faults, self.inner = faults, LocalSandbox()

    def prepare(self, place: SandboxPlace) -> None:
        self.inner.prepare(place)

    def resume(self, place: SandboxPlace) -> SandboxOutcome | None:
        return self.inner.resume(place)

    def view(self, place: SandboxPlace) -> SandboxView:
        return self.inner.view(place)

    def isolation(self, policy: SandboxPolicy) -> Isolation:
        return self.inner.isolation(policy)

    def run(self, request: SandboxRequest) -> SandboxOutcome:
        self.faults -= 1
        if self.faults >= 0:
            raise WallsError("the walls broke", where=str(request.place.root))
        return self.inner.run(request)


def test_infrastructure_fault_is_run_again_and_its_folder_kept(tmp_path: Path, task: Task) -> None:
    record, _ = rollout(tmp_path, task, "film('delivery/a.mp4')", sandbox=Flaky(1))
    assert (record.attempts, record.ended, record.video.state) == (2, "self", "present")
    release_rollout(record, tmp_path / "state")
    (kept,) = (tmp_path / "state").iterdir()
    assert kept.name.startswith("sketch--BALL--")
    assert (kept / "work/prompt.txt").read_text() == "Show a ball.\n"


def test_infrastructure_fault_that_stays_is_no_result(tmp_path: Path, task: Task) -> None:
    with pytest.raises(WallsError, match="the walls broke"):
        rollout(tmp_path, task, "pass", sandbox=Flaky(9))
    assert not (tmp_path / "out/record.json").exists()


def test_each_end_is_run_again_or_counts() -> None:
    assert {kind: (rule.retry, rule.counts) for kind, rule in END_RULES.items()} == {
        "self": (False, True),
        "timed_out": (False, True),
        "error": (False, True),
        "limit": (False, True),
        "spend": (False, True),
        "infrastructure": (True, False),
        "interrupted": (True, False),
        "model_service": (True, False),
        "model_key": (False, False),
    }


def test_sandbox_kind_that_is_not_here(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    system = make_system(tmp_path, "pass")
    with pytest.raises(SandboxError, match=r"sandbox\.kind: docker: no Docker engine answers .* DOCKER_HOST"):
        run_rollout(tmp_path, make_config(kind="docker"), system, task, tmp_path, tmp_path / "state")


def test_told_deadline_is_the_enforced_one(tmp_path: Path, task: Task) -> None:
    before = time.time()
    record, out = rollout(tmp_path, task, "import os; print(os.environ['VVB_DEADLINE'])", seconds=50)
    text = (out / "brief/ENVIRONMENT.md").read_text()
    told = int(text.split("Deadline (Unix time): ")[1].split("\n")[0])
    assert (out / "logs/stdout.txt").read_text() == f"{told}\n"
    assert before + 49 <= told <= (record.started_at or 0) + 50
    assert json.loads((out / "record.json").read_text())["deadline_s"] == 50
    assert os.listdir(out / "delivery") == []


def test_the_benchmarks_speech_is_the_agents(tmp_path: Path, task: Task) -> None:
    code = "import os; print(os.environ['VVB_TTS_COMMAND'])"
    (tmp_path / "out").mkdir()
    config = make_config(deadline_s=20, tts=["say", "{out}"])
    run_rollout(tmp_path, config, make_system(tmp_path, code), task, tmp_path / "out", tmp_path / "state")
    assert json.loads((tmp_path / "out/logs/stdout.txt").read_text()) == ["say", "{out}"]


def test_the_number_of_files_is_the_policys(tmp_path: Path, task: Task) -> None:
    code = "for n in range(5): open(f'delivery/{n}.txt', 'w').write('x')"
    (tmp_path / "out").mkdir()
    config = make_config(deadline_s=20, files=3)
    record = run_rollout(tmp_path, config, make_system(tmp_path, code), task, tmp_path / "out", tmp_path / "state")
    assert [file.path for file in record.files] == ["0.txt", "1.txt", "2.txt"]
    assert [entry.why for entry in record.left_out] == ["more than 3 files"]
