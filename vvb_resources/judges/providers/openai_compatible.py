"""Any server of OpenAI's chat format (vLLM, SGLang, Ollama, llama.cpp, Qwen-Omni): video, frames or sound alone.

Such servers may drop the sound of a video silently, so the sound goes as an `input_audio` of its own (`sound:
separate`); `vvb canary` shows whether an endpoint really hears. What a server does not speak can be turned off:
`structured: json_object | none`, `sound: in_video | data_url`.
"""

from __future__ import annotations

import base64
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.errors import JudgeError
from vvb_resources.judges.openai_wire import (
    chat_envelope,
    chat_schema,
    chat_text,
    client_of,
    image_tokens,
    user_request,
)
from vvb_resources.judges.prompt import user_text
from vvb_resources.judges.providers.base import Services
from vvb_resources.judges.service import Envelope, called, opened, raw_reply, schema_in_words
from vvb_resources.judges.showing import (
    SHOWING_VERSION,
    data_url,
    frame_count,
    frame_label,
    frames,
    proxy,
    shown_size,
    sound,
)
from vvb_resources.judges.types import JudgeRequest, RawReply

VERSION = f"openai_compatible 1, {SHOWING_VERSION}"
MEASURES = False
PAID = True

PARAMETERS = frozenset(
    {"temperature", "seed", "top_p", "stream", "modalities", "structured", "sound", "sound_rate", "extra"}
    | {"tokens_per_frame", "sound_tokens_per_s"}
)
STRUCTURED = ("json_schema", "json_object", "none")
SOUND = ("separate", "data_url", "in_video")
SOUND_TOKENS_PER_S = 25


def create(judge: JudgeConfig, services: Services) -> CompatibleProvider:
    """The provider of one judge. Raises JudgeError for unknown parameters, no endpoint, no key or no SDK."""
    parameters = judge.parameters
    for name, allowed in (("structured", STRUCTURED), ("sound", SOUND)):
        if parameters.get(name, allowed[0]) not in allowed:
            raise JudgeError(
                f"{name}: {parameters[name]}", where=f"judge {judge.id}", remedy=f"use one of {', '.join(allowed)}"
            )
    if not judge.endpoint:
        raise JudgeError("no endpoint", where=f"judge {judge.id}", remedy="set endpoint: http://host:port/v1")
    if parameters.get("sound") == "in_video" and judge.sees != "video":
        raise JudgeError("sound: in_video without a video", where=f"judge {judge.id}", remedy="set sees: video")
    parameters, key = opened(judge, PARAMETERS, "openai", "openai", key_needed=False)
    return CompatibleProvider(judge, parameters, services, key)


def media_tokens(judge: JudgeConfig, duration_s: float, width: int, height: int) -> int:
    """Frames (video or images) at 28-pixel patches in pairs unless `tokens_per_frame` says otherwise, and sound."""
    total = 0.0
    if judge.sampling is not None and judge.sees != "nothing":
        each = judge.parameters.get("tokens_per_frame") or image_tokens(*shown_size(judge.sampling, width, height))
        total += frame_count(judge.sampling, duration_s) * float(each)
    if judge.hears:
        total += duration_s * float(judge.parameters.get("sound_tokens_per_s", SOUND_TOKENS_PER_S))
    return round(total)


def reply_text(body: bytes) -> str:
    """The text of the first choice, whole or streamed."""
    return chat_text(body)


def read_envelope(body: bytes) -> Envelope:
    """Outcome and tokens of a reply with status 200."""
    return chat_envelope(body)


class CompatibleProvider:
    """Asks one judge; keeps the media of its video between calls."""

    def __init__(self, judge: JudgeConfig, parameters: dict[str, Any], services: Services, key: str) -> None:
        self._judge, self._parameters, self._root = judge, parameters, services.cache.root
        self._client = client_of(key, judge.endpoint, judge.limits.timeout_s)
        self._media: list[dict[str, Any]] | None = None

    def answer(self, request: JudgeRequest) -> RawReply:
        """Ask once."""
        import openai

        return raw_reply(request, "openai_compatible", called(openai, lambda: self._call(request)), read_envelope)

    def close(self) -> None:
        """Nothing is left with the service."""
        self._media = None

    def _call(self, request: JudgeRequest) -> bytes:
        if self._media is None:
            self._media = self._content(request)
        structured = "none" if request.plain else self._parameters.get("structured", "json_schema")
        text = user_text(request) + ("" if structured == "json_schema" else "\n\n" + schema_in_words())
        options: dict[str, Any] = {k: self._parameters[k] for k in _DIRECT if k in self._parameters}
        if structured == "json_schema":
            options["response_format"] = chat_schema()
        elif structured == "json_object":
            options["response_format"] = {"type": "json_object"}
        arguments = {
            "model": self._judge.model,
            "messages": user_request(request, [*self._media, {"type": "text", "text": text}]),
            "max_tokens": request.max_output_tokens,
            "extra_body": self._parameters.get("extra"),
            **options,
        }
        if not self._parameters.get("stream"):
            response = self._client.chat.completions.with_raw_response.create(**arguments)
            return bytes(response.http_response.content)
        with self._client.chat.completions.with_streaming_response.create(
            stream=True, stream_options={"include_usage": True}, **arguments
        ) as streamed:
            return bytes(streamed.read())

    def _content(self, request: JudgeRequest) -> list[dict[str, Any]]:
        """Video or frames, then the sound; a judge that sees nothing is given the sound alone."""
        judge, media = self._judge, request.media
        way = self._parameters.get("sound", "separate")
        content: list[dict[str, Any]] = []
        if judge.sees == "video":
            file = proxy(self._root, judge, media, with_sound=judge.hears and way == "in_video")
            content.append({"type": "video_url", "video_url": {"url": data_url(file.read_bytes(), "video/mp4")}})
        for second, data in frames(judge, media) if judge.sees == "frames" else []:
            content.append({"type": "text", "text": frame_label(second)})
            content.append({"type": "image_url", "image_url": {"url": data_url(data, "image/jpeg")}})
        if judge.hears and way != "in_video":
            heard = sound(media, int(self._parameters.get("sound_rate", 16_000)))
            if heard:
                data64 = data_url(heard, "") if way == "data_url" else base64.b64encode(heard).decode()
                content.append({"type": "input_audio", "input_audio": {"data": data64, "format": "wav"}})
            else:
                content.append({"type": "text", "text": "The video has no sound."})
        return content


_DIRECT = ("temperature", "seed", "top_p", "modalities")
