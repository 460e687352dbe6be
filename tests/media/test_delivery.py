"""Which file of a delivery is the video, and what lies beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vvb_resources.media.delivery import find_delivery


def fill(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_mp4", ".mp4").replace("_md", ".md").replace("_csv", ".csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_whole_delivery(tmp_path: Path) -> None:
    found = find_delivery(fill(tmp_path, final_mp4="x", project__src__main="x", timing_csv="", notes_md="# n"))
    assert found.video == tmp_path / "final.mp4"
    assert (found.fault, found.project) == (None, True)
    assert (found.timing, found.notes) == (tmp_path / "timing.csv", tmp_path / "notes.md")


def test_a_file_alone_has_no_say_about_the_project(tmp_path: Path) -> None:
    fill(tmp_path, a_mp4="x", project__main="x")
    found = find_delivery(tmp_path / "a.mp4")
    assert (found.video, found.project) == (tmp_path / "a.mp4", None)


@pytest.mark.parametrize(
    ("notes", "chosen"),
    [
        ("---\nvideo: b.mp4\n---\ntext", "b.mp4"),
        ("---\nvideo: video.mp4\n---\n", "video.mp4"),
        ("---\nvideo: ../out.mp4\n---\n", "video.mp4"),
        ("---\nvideo: [b.mp4\n---\n", "video.mp4"),
        ("video: b.mp4\n", "video.mp4"),
    ],
)
def test_of_several_the_notes_choose_then_the_name(notes: str, chosen: str, tmp_path: Path) -> None:
    fill(tmp_path, a_mp4="x", b_mp4="x", video_mp4="x", notes_md=notes)
    assert find_delivery(tmp_path).video == tmp_path / chosen


def test_several_without_a_choice_are_a_fault(tmp_path: Path) -> None:
    found = find_delivery(fill(tmp_path, a_mp4="x", b_mp4="x"))
    assert found.video is None
    assert "2 MP4s" in str(found.fault)


def test_none_at_the_top_is_a_fault(tmp_path: Path) -> None:
    found = find_delivery(fill(tmp_path, project__a_mp4="x"))
    assert (found.video, found.fault) == (None, "no MP4 at the top of the delivery")
    assert find_delivery(tmp_path / "absent").fault == "there is no such file or folder"


def test_links_are_no_videos_and_no_projects(tmp_path: Path) -> None:
    outside = fill(tmp_path / "outside", a_mp4="x", source="x")
    folder = tmp_path / "delivery"
    folder.mkdir()
    (folder / "a.mp4").symlink_to(outside / "a.mp4")
    (folder / "project").symlink_to(outside)
    found = find_delivery(folder)
    assert found.video is None
    assert "not a regular file" in str(found.fault)
    assert found.project is False


def test_a_project_of_empty_files_is_none(tmp_path: Path) -> None:
    assert find_delivery(fill(tmp_path, a_mp4="x", project__main="")).project is False
    assert find_delivery(fill(tmp_path, project__sub__more="x")).project is True
