"""ffmpeg's arguments for the one decode, drawn up as a graph with ffmpeg-python.

Only the graph is drawn with it; its own runner is not used, because it deadlocks on messages that nobody drains.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ffmpeg

from vvb_resources.media.outputs import FRAMES, PROXY, OutputPlan
from vvb_resources.media.stills import HEIGHT, WIDTH
from vvb_resources.media.tools import MAX_PIXELS, THREADS, input_url

SPEECH_RATE = 16_000
SILENCE_DBFS = -50
SILENCE_S = 0.5

BARE = {"map_metadata": "-1", "map_chapters": "-1", "flags:v": "+bitexact", "fflags": "+bitexact"}
TURNS = {90: "cclock", -90: "clock"}  # counter-clockwise degrees


@dataclass(frozen=True)
class WorkFiles:
    """Files of a decode: time stamps of pictures and of sound, speech PCM, the contact sheet's raw pictures."""

    stamps: Path
    sound_stamps: Path
    pcm: Path
    sheet: Path


def decode_args(video: Path, *, channels: int, layout: str, files: WorkFiles, plan: OutputPlan | None) -> list[str]:
    """Arguments (without the program) that decode the first picture and, with `channels`, the first sound stream once.

    Grey 160x90 frames go to standard output, levels to the messages, the rest to `files` and the folder of `plan`.
    `layout` names the sound's channel layout, so that a change in mid-stream does not shift the PCM's channels.
    """
    source = ffmpeg.input(
        input_url(video),
        f="mov",
        max_pixels=MAX_PIXELS,
        protocol_whitelist="file,pipe",
        threads=THREADS,
        noautorotate=None,
    )
    wants = plan is not None and (plan.frames or plan.proxy or plan.sheet)
    branches = source["V:0"].split() if wants else None
    grey = (branches[0] if branches else source["V:0"]).filter("scale", WIDTH, HEIGHT, flags="area")
    outputs = [
        ffmpeg.output(
            grey.filter("format", "gray"),
            "pipe:1",
            f="rawvideo",
            fps_mode="passthrough",
            **{"stats_enc_pre:v": str(files.stamps), "stats_enc_pre_fmt:v": "{ptsi} {tbi}"},
        )
    ]
    speech, proxy_sound = _sound(source, channels, plan)
    if speech is not None:
        outputs.append(_speech(speech, layout, files))
    if branches and plan is not None:
        outputs += _pictures(branches, plan, files, proxy_sound)
    # copyts: the file's own clock; ffmpeg would start it at the first packet, wherever the presentation starts.
    return ["-v", "level+info", "-copyts", *ffmpeg.get_args(ffmpeg.merge_outputs(*outputs))]


def _sound(source: Any, channels: int, plan: OutputPlan | None) -> tuple[Any | None, Any | None]:
    """The measured sound, twice when a proxy wants it too."""
    if not channels:
        return None, None
    measured = (
        source["a:0"]
        .filter(
            "astats",
            metadata=0,
            measure_perchannel="Peak_level",
            measure_overall="Peak_level+RMS_level+Number_of_samples",
        )
        .filter("silencedetect", n=f"{SILENCE_DBFS}dB", d=SILENCE_S)
        .filter("ebur128", framelog="quiet")
    )
    if plan is None or plan.proxy is None:
        return measured, None
    both = measured.asplit()
    return both[0], both[1]


def _speech(sound: Any, layout: str, files: WorkFiles) -> Any:
    kept = {"channel_layouts": layout} if layout else {}
    resampled = sound.filter("aresample", SPEECH_RATE).filter("aformat", sample_fmts="s16", **kept)
    stamps = {"stats_enc_pre:a": str(files.sound_stamps), "stats_enc_pre_fmt:a": "{ptsi} {tbi} {sn} {samp}"}
    return ffmpeg.output(resampled, input_url(files.pcm), f="s16le", **stamps)


def _pictures(branches: Any, plan: OutputPlan, files: WorkFiles, sound: Any | None) -> list[Any]:
    outputs: list[Any] = []
    if plan.sheet:
        small = _shown(_sampled(branches[1], plan.sheet.rate), plan.sheet_size, plan.rotation)
        outputs.append(
            ffmpeg.output(
                small.filter("format", "rgb24"), input_url(files.sheet), f="rawvideo", **{"frames:v": plan.sheet.most}
            )
        )
    if plan.frames:
        (plan.folder / FRAMES).mkdir(exist_ok=True)
        pattern = f"{plan.folder / FRAMES}".replace("%", "%%") + "/%05d.jpg"
        outputs.append(
            ffmpeg.output(
                _shown(_sampled(branches[2], plan.frames.rate), plan.frames_size, plan.rotation),
                f"file:{pattern}",
                f="image2",
                vcodec="mjpeg",
                start_number=0,
                **{"q:v": 3, "frames:v": plan.frames.most, **BARE},
            )
        )
    if plan.proxy:
        shown = _shown(_sampled(branches[3], plan.proxy.rate), plan.proxy_size, plan.rotation)
        streams = [shown.filter("format", "yuv420p")] + ([sound] if sound is not None else [])
        audio = {"acodec": "aac", "b:a": "96k", "ac": 2, "ar": 48_000, "flags:a": "+bitexact"} if sound else {}
        outputs.append(
            ffmpeg.output(
                *streams,
                input_url(plan.folder / PROXY),
                f="mp4",
                vcodec="libx264",
                preset="veryfast",
                crf=28,
                movflags="+faststart",
                **{"metadata:s:v:0": "encoder= "},
                **{"bsf:v": "filter_units=remove_types=6", "frames:v": plan.proxy.most, **BARE, **audio},
            )
        )
    return outputs


def _sampled(picture: Any, rate: Any) -> Any:
    """The picture on screen at k/rate: with `round=up` a frame counts from the first such instant at or after it."""
    return picture.filter("fps", fps=f"{rate.numerator}/{rate.denominator}", round="up", start_time=0)


def _shown(picture: Any, size: tuple[int, int], rotation: int) -> Any:
    """Scaled to `size` as displayed, then square pixels; turned first when the header says so."""
    if rotation == 180:
        picture = picture.filter("hflip").filter("vflip")
    elif rotation in TURNS:
        picture = picture.filter("transpose", TURNS[rotation])
    return picture.filter("scale", size[0], size[1], flags="area").filter("setsar", 1)
