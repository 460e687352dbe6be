"""What an artifact was before, and which change moved it: to the file or the code at the bottom."""

from __future__ import annotations

import json
from dataclasses import asdict

from tests.graph.conftest import World
from vvb_assets.history import Cause, Histories, history_rows, told
from vvb_resources.store.history import HISTORY, past_versions, remember


def test_made_once_leaves_no_history(world: World) -> None:
    world.make_all()
    assert not list(world.root.rglob(HISTORY))
    assert Histories(world.workspace()).changes("scored", "a|x") == []


def test_an_edited_file_is_the_cause_of_every_change_behind_it(world: World) -> None:
    world.make_all()
    world.files["limits", None] = "second"
    world.make_all()
    (change,) = Histories(world.workspace()).changes("scored", "a|x")
    assert [(c.input, c.partition) for c in change.moved_by] == [("checked", "a|x")]
    assert [(c.input, c.before, c.after) for c in change.causes] == [("limits", "file:first", "file:second")]
    document = change.to_json()
    assert document["before"] != document["after"]
    assert document["moved_by"][0]["before"] == "checked(rollout(file:first),file:first)"
    assert document["moved_by"][0]["after"] == "checked(rollout(file:first),file:second)"


def test_two_changes_have_a_cause_each(world: World) -> None:
    world.make_all()
    world.files["limits", None] = "second"
    world.make_all()
    world.code["checked"] = "2"
    world.output["checked"] = "another verdict"
    world.make_all()
    first, second = Histories(world.workspace()).changes("scored", "a|x")
    assert [(c.input, c.before, c.after) for c in first.causes] == [("limits", "file:first", "file:second")]
    assert [(c.input, c.before, c.after) for c in second.causes] == [("code", "1", "2")]


def test_a_video_made_again_is_its_own_cause(world: World) -> None:
    world.make_all()
    world.files["spec", "x"] = "second"
    world.make_all(rerun_held=True)
    (change,) = Histories(world.workspace()).changes("checked", "a|x")
    assert [(c.input, c.partition) for c in change.causes] == [("spec", "x")]
    rows = history_rows(world.workspace(), world.workspace().store.load("checked", "a|x"))  # type: ignore[arg-type]
    assert rows[0]["because"] == "spec[x] file:first -> file:second"
    assert list(rows[0])[:3] == ["at", "moved", "because"], "what a person asks for comes first"


def test_a_file_says_which_of_its_fields_were_edited(world: World) -> None:
    store = world.workspace().store
    for content, title in (("first", "Night blue"), ("second", "Night blue throughout")):
        store.snapshot(f"file:{content}", {"checks": [{"id": "V01", "title": title}]})
        world.files["limits", None] = content
        world.make_all()
    edit = "limits file:first -> file:second (checks.V01.title: 'Night blue' -> 'Night blue throughout')"
    for asset, partition in (("limits", None), ("checked", "a|x")):
        manifest = store.load(asset, partition)
        assert manifest is not None
        (row,) = history_rows(world.workspace(), manifest)
        assert (row["because"], row["moved"]) == (edit, "nothing")
        assert row["at"] == manifest.made_at[:10] + " " + manifest.made_at[11:19]


def test_digests_leave_room_for_what_is_said() -> None:
    was, now = "0123456789abcdef" * 2, "fedcba9876543210" * 2
    assert told(Cause("rubric", "x", was, now, ("a: 1 -> 2",))) == "rubric[x] 01234567 -> fedcba98 (a: 1 -> 2)"
    assert told(Cause("code", None, "1, reader 1", None)) == "code 1, reader 1 -> nothing"


def test_a_crash_between_history_and_manifest_tells_no_version_twice(world: World) -> None:
    world.make_all()
    store = world.workspace().store
    folder, current = store.folder("checked", "a|x"), store.load("checked", "a|x")
    assert current is not None
    for _ in range(2):  # the line is written, then the process dies before the manifest is replaced; once more
        remember(folder, current, {"n": 1})
    lines = (folder / HISTORY).read_text().splitlines()
    assert [json.loads(line)["payload"] for line in lines] == [current.payload]
    assert len(past_versions(folder, current, {})) == 1
    world.files["limits", None] = "second"
    world.make_all()
    past = store.history("checked", "a|x")
    assert [p.data_version for p in past] == [current.data_version, asdict(past[-1])["data_version"]]
    assert len(past) == 2
