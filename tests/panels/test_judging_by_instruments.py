"""The three starter panels on the scheduled clip, from request to tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judges.shapes import PANELS, make_rubric, make_spec, panel_of
from vvb_assets.panels.judging import judge_run, undelivered_judgment
from vvb_assets.panels.judgment import Judgment
from vvb_assets.panels.reading import SCORE_SCHEMA, VERDICT_SCHEMA, read_judgment
from vvb_resources.errors import JudgeError, StoreError
from vvb_resources.judges.instruments.observations import ObservationCache
from vvb_resources.judges.reply_store import ReplyStore
from vvb_resources.media.blinding import BlindedMedia


def judged(name: str, clip: BlindedMedia, store: ReplyStore, cache: ObservationCache) -> Judgment:
    return judge_run(panel_of(name), make_rubric(), make_spec(), "Show EMBER.", clip, store, cache)


@pytest.mark.parametrize("name", PANELS)
def test_verdicts_are_those_of_the_schedule(
    name: str, clip: BlindedMedia, cache: ObservationCache, tmp_path: Path
) -> None:
    store = ReplyStore(tmp_path)
    judgment = judged(name, clip, store, cache)
    assert judgment.complete
    verdicts, scores = read_judgment(judgment, make_rubric(), store)
    assert dict(verdicts.select("check", "verdict").iter_rows()) == {
        "V1": "pass",
        "A1": "pass",
        "X1": "pass",
        "V2": "unknown",
    }
    assert dict(verdicts.select("check", "core").iter_rows()) == {"V1": True, "A1": True, "X1": False, "V2": True}
    assert dict(verdicts.select("check", "channel").iter_rows())["A1"] == "audio"
    assert scores.get_column("dim").to_list() == ["VQ", "VA", "CL", "TM", "AQ"]
    assert scores.get_column("score").null_count() == 0
    assert scores.get_column("score").is_between(1, 5).all()
    judges = {"ears", "eyes"} if name == "split" else {name}
    assert set(verdicts.get_column("judge")) == judges == set(scores.get_column("judge"))
    assert verdicts.schema == VERDICT_SCHEMA
    assert scores.schema == SCORE_SCHEMA
    keys = {ref.key for record in judgment.judges for ref in record.replies}
    assert set(verdicts.get_column("reply_key")) | set(scores.get_column("reply_key")) == keys


def test_a_stored_reply_is_not_asked_for_again(clip: BlindedMedia, cache: ObservationCache, tmp_path: Path) -> None:
    store = ReplyStore(tmp_path)
    first, second = judged("split", clip, store, cache), judged("split", clip, ReplyStore(tmp_path), cache)
    assert [(record.calls, record.cached) for record in first.judges] == [(1, 0), (1, 0)]
    assert [(record.calls, record.cached) for record in second.judges] == [(0, 1), (0, 1)]
    assert first.digest == second.digest  # the data version knows nothing of how often was asked


def test_measuring_again_gives_the_same_bytes(clip: BlindedMedia, tmp_path: Path) -> None:
    digests = {
        judged("dense", clip, ReplyStore(tmp_path / n), ObservationCache(tmp_path / f"{n}-seen")).digest for n in "ab"
    }
    assert len(digests) == 1


def test_the_order_of_panels_changes_nothing(clip: BlindedMedia, cache: ObservationCache, tmp_path: Path) -> None:
    fresh = ObservationCache(tmp_path / "seen")
    sparse_first = judged("sparse", clip, ReplyStore(tmp_path / "a"), fresh)
    dense_after = judged("dense", clip, ReplyStore(tmp_path / "a"), fresh)
    assert sparse_first.digest == judged("sparse", clip, ReplyStore(tmp_path / "b"), cache).digest
    assert dense_after.digest == judged("dense", clip, ReplyStore(tmp_path / "b"), cache).digest


def test_the_cache_serves_other_processes(clip: BlindedMedia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged("dense", clip, ReplyStore(tmp_path / "a"), ObservationCache(tmp_path / "seen"))

    def never(*_: object) -> None:
        raise AssertionError("the video was observed again")

    monkeypatch.setattr("vvb_resources.judges.instruments.observations.pass_frames", never)
    monkeypatch.setattr("vvb_resources.judges.instruments.observations.pass_sound", never)
    for name in PANELS:  # their instants are among those of the dense panel
        assert judged(name, clip, ReplyStore(tmp_path / "b"), ObservationCache(tmp_path / "seen")).complete


def test_save_and_load(clip: BlindedMedia, cache: ObservationCache, tmp_path: Path) -> None:
    judgment = judged("split", clip, ReplyStore(tmp_path), cache)
    judgment.save(tmp_path / "judgment.json")
    loaded = Judgment.load(tmp_path / "judgment.json")
    assert loaded == judgment
    assert loaded.digest == judgment.digest
    with pytest.raises(StoreError, match="unreadable judgment"):
        Judgment.load(tmp_path / "absent.json")


def test_a_run_without_a_video_is_a_result_without_rows(tmp_path: Path) -> None:
    judgment = undelivered_judgment(panel_of("split"))
    verdicts, scores = read_judgment(judgment, make_rubric(), ReplyStore(tmp_path))
    assert (verdicts.height, scores.height, judgment.complete, judgment.usd) == (0, 0, True, 0)
    assert verdicts.schema == VERDICT_SCHEMA


def test_a_lost_reply_is_named(clip: BlindedMedia, cache: ObservationCache, tmp_path: Path) -> None:
    judgment = judged("dense", clip, ReplyStore(tmp_path), cache)
    with pytest.raises(StoreError, match="the reply of judge dense is gone"):
        read_judgment(judgment, make_rubric(), ReplyStore(tmp_path / "empty"))


def test_a_model_that_is_no_instrument_is_refused(clip: BlindedMedia, cache: ObservationCache, tmp_path: Path) -> None:
    panel = panel_of("dense")
    other = panel.model_copy(update={"judges": (panel.judges[0].model_copy(update={"model": "oracle"}),)})
    with pytest.raises(JudgeError, match="set model: instruments"):
        judge_run(other, make_rubric(), make_spec(), "Show EMBER.", clip, ReplyStore(tmp_path), cache)
