"""Deliveries made elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from vvb_assets.rollouts.importing import import_delivery
from vvb_assets.rollouts.record import RolloutRecord
from vvb_resources.errors import SandboxError
from vvb_resources.store.digests import digest_value

# SHA-256 of "abc", FIPS 180-4 example.
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_import_copies_and_records(tmp_path: Path) -> None:
    source, out = tmp_path / "BALL", tmp_path / "out"
    source.mkdir()
    out.mkdir()
    (source / "notes.md").write_text("abc")
    (source / "link.mp4").symlink_to("/etc/hostname")
    record = import_delivery(source, "mine", "BALL", out)
    assert (record.system, record.task, record.imported) == ("mine", "BALL", True)
    assert (record.ended, record.seconds, record.usd) == (None, None, None)
    assert [(file.path, file.sha256) for file in record.files] == [("notes.md", ABC)]
    assert record.delivery_digest == digest_value({"notes.md": ABC})
    assert record.video.state == "absent"
    assert [entry.path for entry in record.left_out] == ["link.mp4"]
    assert (source / "notes.md").read_text() == "abc"
    assert RolloutRecord.model_validate_json((out / "record.json").read_text()) == record


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for source in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(SandboxError, match="is not a folder"):
            import_delivery(source, "mine", "BALL", tmp_path)


def test_import_into_itself_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(SandboxError, match="copied into itself"):
        import_delivery(tmp_path, "mine", "BALL", out)
