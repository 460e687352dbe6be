"""Files left with a service: a killed process leaves none for longer than until the next run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.models import make_judge
from tests.standin.server import StandIn
from vvb_resources.judges.providers.base import delete_orphans
from vvb_resources.judges.uploads import KEPT_S, UploadList
from vvb_resources.media.blinding import BlindedMedia

REPOSITORY = Path(__file__).resolve().parents[2]
KILLED = """
import os, sys
from dataclasses import replace
from pathlib import Path
from tests.judges.models import make_desk, make_panel
from tests.judges.shapes import make_rubric, make_spec
from vvb_assets.panels.judging import judge_run
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.providers.google import GoogleProvider
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.judges.uploads import UploadList
from vvb_resources.media.blinding import BlindedMedia
root = Path(sys.argv[1])
GoogleProvider._wait_until_ready = lambda self: os.kill(os.getpid(), 9)
desk = replace(make_desk(root), uploads=UploadList(root / "uploads"))
judge_run(make_panel("google"), make_rubric(), make_spec(), "Show EMBER.", BlindedMedia.load(Path(sys.argv[2])),
          ReplyStore(root / "replies"), ObservationCache(root / "seen"), desk=desk)
"""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn(polls=0) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def test_an_upload_of_a_killed_process_is_deleted_by_the_next(
    service: StandIn, clip: BlindedMedia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(clip.folder)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    assert subprocess.run(command, env=environment, cwd=REPOSITORY, check=False, timeout=60).returncode == -9
    (name,) = service.files
    uploads = UploadList(tmp_path / "uploads")
    assert [f"files/{upload.name}" for upload in uploads.orphans()] == [name]
    key = os.environ["GEMINI_API_KEY"]
    monkeypatch.delenv("GEMINI_API_KEY")
    assert delete_orphans(uploads) == []  # without its key it stays on the list
    monkeypatch.setenv("GEMINI_API_KEY", key)
    (line,) = delete_orphans(uploads)
    assert "left with google" in line
    assert service.files == {}
    assert uploads.orphans() == []
    assert key not in "".join(path.read_text() for path in tmp_path.rglob("*.json"))


def test_what_is_in_use_is_left_alone(tmp_path: Path) -> None:
    uploads, judge = UploadList(tmp_path), make_judge("google", endpoint="http://127.0.0.1:9")
    mine, batched, old = uploads.announce(judge), uploads.announce(judge, "token"), uploads.announce(judge)
    for name, changes in ((batched, {"pid": 2**22 + 1}), (old, {"pid": 2**22 + 1, "at": time.time() - KEPT_S - 1})):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    (tmp_path / "foreign.json").write_text("not ours")
    assert uploads.orphans() == []  # this process lives, a batch needs the second, the service has dropped the third
    assert {file.stem for file in tmp_path.glob("*.json")} == {mine, batched}
    assert [upload.name for upload in uploads.of_batch("token")] == [batched]
    uploads.forget(mine)
    uploads.forget(mine)
    assert not (tmp_path / f"{mine}.json").exists()
