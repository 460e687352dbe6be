"""Facts of generated clips: each expected value is that of the source the clip was drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.media.clips import SILENCE, delivery, make_clip, remux, set_matrix
from vvb_resources.errors import MediaError
from vvb_resources.media.apart import probe_apart
from vvb_resources.media.container import check_container
from vvb_resources.media.delivery import find_delivery
from vvb_resources.media.facts import SCHEMA, MediaFacts, Span, schema_text
from vvb_resources.media.measure import measure
from vvb_resources.media.messages import levels, size_changes
from vvb_resources.media.outputs import Outputs
from vvb_resources.media.preview import SHEET_BYTES
from vvb_resources.media.probe import probe


def facts_of(video: Path, tmp_path: Path) -> MediaFacts:
    return measure(find_delivery(video), tmp_path)


def test_a_whole_delivery(clip: Path, tmp_path: Path) -> None:
    facts = measure(find_delivery(delivery(tmp_path / "d", clip)), tmp_path)
    assert facts.delivery.model_dump() == {
        "video": "video.mp4",
        "fault": None,
        "project": True,
        "timing": True,
        "notes": True,
    }
    assert facts.decode.ok
    assert facts.timing is not None
    assert (facts.timing.frames, facts.timing.constant, facts.timing.fps) == (30, True, "30/1")
    assert (facts.timing.start, facts.timing.end) == ("0/1", "1/1")
    assert facts.video is not None
    assert (facts.video.codec, facts.video.pix_fmt) == ("h264", "yuv420p")
    assert (facts.video.width, facts.video.height, facts.video.sar) == (64, 48, "1/1")
    assert facts.sound is not None
    assert facts.sound.peak_dbfs == pytest.approx(-11, abs=2)  # -12 before AAC
    assert facts.duration_s == pytest.approx(1.0, abs=0.03)
    assert facts.speech is not None
    assert (facts.speech.measured, facts.speech.share) == (True, 0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_facts_survive_their_file_and_are_repeatable(clip: Path, tmp_path: Path) -> None:
    facts = facts_of(clip, tmp_path)
    path = tmp_path / "facts.json"
    path.write_text(facts.model_dump_json())
    assert MediaFacts.read(path) == facts == facts_of(clip, tmp_path)
    path.write_text(facts.model_copy(update={"version": 0}).model_dump_json())
    with pytest.raises(MediaError, match="version 0"):
        MediaFacts.read(path)


def test_the_schema_file_is_current() -> None:
    assert SCHEMA.read_text() == schema_text(), "run python -m vvb_resources.media.facts"


def test_peaks_are_per_channel_and_before_resampling(tmp_path: Path) -> None:
    # 105/32768 and 102/32768 are -49.885 and -50.137 dBFS; antiphase would mix down to silence.
    wave = "sin(2*PI*11025*t)"
    source = f"aevalsrc='105/32768*{wave}|-105/32768*{wave}':s=44100:d={{seconds}}"
    clip = make_clip(tmp_path / "a.mp4", sound=source, audio_codec=("-c:a", "alac"))
    sound = facts_of(clip, tmp_path).sound
    assert sound is not None
    assert sound.peaks_dbfs == pytest.approx((-49.885, -49.885), abs=0.001)
    assert (sound.channels, sound.rate, sound.silent) == (2, 44_100, False)


def test_digital_silence_has_no_level(tmp_path: Path) -> None:
    sound = facts_of(make_clip(tmp_path / "a.mp4", sound=SILENCE, seconds="2"), tmp_path).sound
    assert sound is not None
    assert (sound.silent, sound.peak_dbfs, sound.peaks_dbfs, sound.loudness_lufs) == (True, None, (None, None), None)
    assert sound.silence == (Span(start=0.0, end=2.0),)


def test_silence_in_the_middle(tmp_path: Path) -> None:
    source = "aevalsrc='0.5*sin(2*PI*440*t)*(lt(t,1)+gt(t,2))':s=48000:d={seconds}"
    clip = make_clip(tmp_path / "a.mp4", sound=source, seconds="3", audio_codec=("-c:a", "alac"))
    sound = facts_of(clip, tmp_path).sound
    assert sound is not None
    (span,) = sound.silence
    assert (span.start, span.end) == pytest.approx((1.0, 2.0), abs=0.01)


def test_turned_and_stretched(clip: Path, tmp_path: Path) -> None:
    turned = facts_of(set_matrix(clip, tmp_path / "turned.mp4", (0, 1, -1, 0)), tmp_path).video
    assert turned is not None
    assert (turned.coded_width, turned.coded_height, turned.width, turned.height) == (64, 48, 48, 64)
    wide = make_clip(tmp_path / "w.mp4", picture="testsrc2=size={size}:rate={rate}:duration={seconds},setsar=2")
    stretched = facts_of(wide, tmp_path).video
    assert stretched is not None
    assert (stretched.sar, stretched.width, stretched.height) == ("2/1", 128, 48)


def test_edit_lists_are_obeyed(tmp_path: Path) -> None:
    source = make_clip(tmp_path / "s.mp4", seconds="3", sound=None, extra=["-g", "90"])
    cut = remux(source, tmp_path / "cut.mp4", before=["-ss", "1"])
    facts = facts_of(cut, tmp_path)
    assert facts.video is not None
    assert facts.timing is not None
    assert (facts.video.header_frames, facts.timing.frames, facts.timing.end) == (90, 60, "2/1")


def test_a_cut_file_is_undecodable_whatever_its_header_says(tmp_path: Path) -> None:
    whole = make_clip(tmp_path / "w.mp4", seconds="2", extra=["-movflags", "+faststart"]).read_bytes()
    path = tmp_path / "cut.mp4"
    for share in (0.6, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * share)])
        facts = facts_of(path, tmp_path)
        assert facts.container.sound, share
        assert not facts.decode.ok, share
        assert "the file ends before its last box does" in facts.decode.errors


def test_damage_in_the_middle_is_found(tmp_path: Path) -> None:
    data = bytearray(make_clip(tmp_path / "w.mp4", seconds="2", sound=None, size="320x240").read_bytes())
    start = data.index(b"mdat") + 4
    middle = start + (data.index(b"moov") - start) // 2
    data[middle : middle + 400] = b"\xff" * 400
    path = tmp_path / "damaged.mp4"
    path.write_bytes(data)
    assert check_container(path).ok
    assert not facts_of(path, tmp_path).decode.ok


def test_messages_hold_no_addresses_and_no_paths(tmp_path: Path) -> None:
    whole = make_clip(tmp_path / "w.mp4", seconds="2", extra=["-movflags", "+faststart"]).read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(whole[: len(whole) * 7 // 10])
    text = " ".join(facts_of(path, tmp_path).decode.errors)
    assert "0x7" not in text
    assert str(tmp_path) not in text


def test_no_picture_stream(tmp_path: Path) -> None:
    facts = facts_of(make_clip(tmp_path / "a.mp4", picture=None), tmp_path)
    assert (facts.container.sound, facts.container.fault, facts.decode.ok, facts.timing) == (
        True,
        "no_video",
        False,
        None,
    )


def test_a_missing_delivery_is_a_fact(tmp_path: Path) -> None:
    facts = facts_of(tmp_path / "absent", tmp_path)
    assert (facts.digest, facts.container.fault, facts.decode.ok) == (None, "missing", False)


def test_a_decode_that_takes_too_long_is_no_success(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "long.mp4", size="640x480", seconds="20", sound=None)
    facts = measure(find_delivery(clip), tmp_path, deadline_s=0.02)
    assert (facts.decode.ok, facts.decode.timed_out) == (False, True)


def test_previews_are_small_pictures(clip: Path, tmp_path: Path) -> None:
    measure(find_delivery(clip), tmp_path, outputs=Outputs(tmp_path, sheet=True))
    assert (tmp_path / "contact.jpg").read_bytes()[:3] == b"\xff\xd8\xff"
    assert (tmp_path / "waveform.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    noise = make_clip(
        tmp_path / "n.mp4",
        picture="color=gray:size={size}:rate={rate}:duration={seconds},noise=alls=100",
        size="640x360",
    )
    measure(find_delivery(noise), tmp_path, outputs=Outputs(tmp_path, sheet=True))
    assert 10_000 < (tmp_path / "contact.jpg").stat().st_size <= SHEET_BYTES


def test_a_header_that_asks_for_too_much_costs_a_child_only(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="took too long"):
        probe_apart(clip, tmp_path, deadline_s=0.001)
    assert probe_apart(clip, tmp_path) == probe(clip)
    audio = make_clip(tmp_path / "a.mp4", picture=None)
    assert probe_apart(audio, tmp_path) == probe(audio)
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(MediaError, match="cannot be opened as an MP4"):
        probe_apart(tmp_path / "text.mp4", tmp_path)


def test_sizes_in_mid_stream_are_facts(tmp_path: Path) -> None:
    log = (
        "[vf#0:0 @ 0x5] [info] Reconfiguring filter graph because video parameters changed to "
        "yuv420p(tv, bt709), 96x64, unspecified alpha\n"
        "[vf#0:0 @ 0x5] [info] Reconfiguring filter graph because video parameters changed to "
        "yuv420p(unknown, unknown), 64x48, unspecified alpha\n"
    )
    assert size_changes(log) == ((96, 64), (64, 48))
    assert size_changes("[info] nothing\n") == ()


def test_a_sound_in_two_stretches_is_measured_as_a_whole() -> None:
    def stretch(address: str, peaks: list[float], rms: float, samples: int) -> str:
        lines = [f"Channel: {place}\nPeak level dB: {peak}" for place, peak in enumerate(peaks, 1)]
        text = "\n".join([*lines, "Overall", f"Peak level dB: {max(peaks)}", f"RMS level dB: {rms}"])
        text += f"\nNumber of samples: {samples}"
        return "".join(f"[Parsed_astats_0 @ {address}] [info] {line}\n" for line in text.split("\n"))

    found = levels(stretch("0x1", [-20.0], -30.0, 1000) + stretch("0x2", [-26.0, -12.0], -20.0, 3000))
    assert found is not None
    assert (found.peaks, found.peak, found.samples) == ((-20.0, -12.0), -12.0, 4000)
    # Power: (1000 * 10^-3 + 3000 * 10^-2) / 4000 = 0.00775, which is -21.107 dB.
    assert found.rms == pytest.approx(-21.107, abs=0.001)
