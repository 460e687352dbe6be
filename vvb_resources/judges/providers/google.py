"""Gemini through google-genai: the video is uploaded once for a judge's questions about it, and deleted after.

The upload is a stream, because a path would put its base name into a header. The service samples the video itself at
the rate it is told; `tokens_per_frame` is what it bills for each frame, and shows whether it did.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from functools import lru_cache
from typing import Any

from vvb_resources.benchmark.models import JudgeConfig
from vvb_resources.errors import JudgeError
from vvb_resources.judges.prompt import user_text
from vvb_resources.judges.providers.base import Services
from vvb_resources.judges.service import (
    Answered,
    Envelope,
    as_json,
    opened,
    raw_reply,
    schema_in_words,
    whole_number,
)
from vvb_resources.judges.showing import frame_rate
from vvb_resources.judges.types import JudgeRequest, Outcome, RawReply
from vvb_resources.judges.uploads import Upload, UploadList
from vvb_resources.judges.wire import wire_schema

VERSION = "google 1"
MEASURES = False
PAID = True

PARAMETERS = frozenset(
    {"temperature", "seed", "top_p", "thinking_level", "thinking_budget", "media_resolution", "service_tier"}
    | {"tokens_per_frame"}
)
FRAME_TOKENS = {"low": 70, "medium": 70, "high": 280}
SOUND_TOKENS_PER_S = 32
POLL_S = (0.05, 5.0)
NEUTRAL = "video"
DELETE_S = 30.0

_BLOCKED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "IMAGE_RECITATION"}
)


def create(judge: JudgeConfig, services: Services) -> GoogleProvider:
    """The provider of one judge. Raises JudgeError for unknown parameters, no key, no SDK, or a judge without video."""
    if judge.sees != "video":
        raise JudgeError(
            f"sees: {judge.sees} is not offered", where=f"judge {judge.id}", remedy="Gemini is given the video"
        )
    return GoogleProvider(judge, *opened(judge, PARAMETERS, "google-genai", "google.genai"), services.uploads)


def delete_upload(upload: Upload, key: str) -> None:
    """Delete an upload that another process has left with the service; one that is no longer there is no fault."""
    _delete(_client(key, upload.endpoint, DELETE_S), f"files/{upload.name}")


def _delete(client: Any, name: str) -> None:
    with contextlib.suppress(Exception):  # nothing of a result depends on it, and it expires by itself
        client.files.delete(name=name)


def media_tokens(judge: JudgeConfig, duration_s: float, width: int, height: int) -> int:
    """n frames x 70 (high resolution: 280) + 32 a second of sound."""
    assert judge.sampling is not None
    count = frame_rate(judge.sampling, duration_s) * duration_s
    return round(count * _frame_tokens(judge) + SOUND_TOKENS_PER_S * duration_s)


def _frame_tokens(judge: JudgeConfig) -> float:
    given = judge.parameters.get("tokens_per_frame")
    return float(given) if given else float(FRAME_TOKENS[str(judge.parameters.get("media_resolution", "low"))])


def reply_text(body: bytes) -> str:
    """The text parts of the first candidate, without its thoughts."""
    document = as_json(body)
    try:
        parts = document["candidates"][0]["content"]["parts"]
        return "".join(str(part["text"]) for part in parts if "text" in part and not part.get("thought"))
    except (TypeError, KeyError, IndexError, AttributeError):
        return ""


def read_envelope(body: bytes) -> Envelope:
    """Outcome and tokens of a 200: a candidate may be cut, blocked or absent without any error."""
    document = as_json(body)
    if not isinstance(document, dict):
        return Envelope("retry", {}, "a body that is no JSON")
    usage = _usage(document.get("usageMetadata") or {})
    candidates = document.get("candidates") or []
    finish = str(candidates[0].get("finishReason", "")) if candidates and isinstance(candidates[0], dict) else ""
    blocked = (document.get("promptFeedback") or {}).get("blockReason")
    outcome: Outcome = "ok"
    fault = None
    if blocked or finish in _BLOCKED:
        outcome, fault = "blocked", f"refused: {blocked or finish}"
    elif finish == "MAX_TOKENS":
        outcome, fault = "truncated", "cut at the limit of output tokens"
    elif not reply_text(body).strip():
        outcome, fault = "empty", f"no text ({finish or 'no candidate'})"
    return Envelope(outcome, usage, fault)


def _usage(counts: dict[str, Any]) -> dict[str, int]:
    if not counts:
        return {}
    cached = whole_number(counts.get("cachedContentTokenCount"))
    found = {
        "input": max(0, whole_number(counts.get("promptTokenCount")) - cached),
        "cached": cached,
        "output": whole_number(counts.get("candidatesTokenCount")),
        "thinking": whole_number(counts.get("thoughtsTokenCount")),
    }
    for detail in counts.get("promptTokensDetails") or []:
        if isinstance(detail, dict) and detail.get("modality") in ("VIDEO", "AUDIO"):
            name = f"prompt_{str(detail['modality']).lower()}"  # part of `input`, kept to be compared
            found[name] = found.get(name, 0) + whole_number(detail.get("tokenCount"))
    return found


@lru_cache(maxsize=16)
def _client(key: str, endpoint: str | None, timeout_s: float) -> Any:
    """One client a judge: making one costs tens of milliseconds, and its connections are shared by all threads."""
    from google import genai
    from google.genai.types import HttpOptions

    options = HttpOptions(base_url=endpoint, api_version="v1beta", timeout=round(timeout_s * 1000))
    return genai.Client(api_key=key, vertexai=False, http_options=options)


class GoogleProvider:
    """Asks one Gemini judge; holds the uploaded video between its calls."""

    def __init__(
        self, judge: JudgeConfig, parameters: dict[str, Any], key: str, uploads: UploadList | None = None
    ) -> None:
        self._judge, self._parameters, self._uploads = judge, parameters, uploads
        self._announced: str | None = None
        self._client = _client(key, judge.endpoint, judge.limits.timeout_s)
        self._file: Any = None

    def answer(self, request: JudgeRequest) -> RawReply:
        """Upload the video if it is not there, then ask once."""
        raw = raw_reply(request, "google", self._ask(request), read_envelope)
        if raw.outcome == "reupload":
            self.close()
        return self._with_frames_checked(request, raw)

    def close(self) -> None:
        """Delete the upload; a service that cannot be reached forgets it after 48 hours by itself."""
        file, self._file = self._file, None
        name, self._announced = self._announced, None
        if file is not None or name is not None:  # an upload that failed half-way may be there all the same
            _delete(self._client, file.name if file is not None else f"files/{name}")
        if name is not None and self._uploads is not None:
            self._uploads.forget(name)

    def _ask(self, request: JudgeRequest) -> Answered:
        import httpx2
        from google.genai import errors, types

        try:
            if self._file is None:
                self._upload(request)
            response = self._client.models.generate_content(
                model=self._judge.model,
                contents=[types.Content(role="user", parts=self._parts(request))],
                config=self._config(request),
            )
        except errors.APIError as error:
            return Answered(error.code, _error_body(error), _headers(error.response))
        except (httpx2.HTTPError, httpx2.StreamError, ConnectionError, TimeoutError) as error:
            return Answered(None, b"", {}, f"connection lost ({type(error).__name__})")
        except _NotReadyError as error:
            return Answered(None, b"", {}, str(error))
        sent = response.sdk_http_response
        return Answered(200, (sent.body or "").encode(), sent.headers or {})

    def _upload(self, request: JudgeRequest, batch: str = "") -> None:
        """Upload as a nameless stream and wait until the service has read it, at most `limits.upload_s`."""
        from google.genai import types

        name = self._uploads.announce(self._judge, batch) if self._uploads is not None else None
        self._announced = name
        try:
            with request.media.video.open("rb") as stream:
                self._file = self._client.files.upload(
                    file=stream, config=types.UploadFileConfig(mime_type="video/mp4", display_name=NEUTRAL, name=name)
                )
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._judge.limits.upload_s
        pause = POLL_S[0]
        while (state := str(self._file.state.name if self._file.state else "")) != "ACTIVE":
            if state == "FAILED" or time.monotonic() > deadline:
                raise _NotReadyError(f"the uploaded video is {state or 'in no state'}: uploaded again")
            time.sleep(pause)
            pause = min(POLL_S[1], pause * 1.5)
            self._file = self._client.files.get(name=self._file.name)

    def _parts(self, request: JudgeRequest) -> list[Any]:
        from google.genai import types

        assert self._judge.sampling is not None
        resolution = self._parameters.get("media_resolution")
        video = types.Part(
            file_data=types.FileData(file_uri=self._file.uri, mime_type="video/mp4"),
            video_metadata=types.VideoMetadata(fps=frame_rate(self._judge.sampling, request.media.duration_s)),
            media_resolution=f"MEDIA_RESOLUTION_{str(resolution).upper()}" if resolution else None,
        )
        text = user_text(request) + ("\n\n" + schema_in_words() if request.plain else "")
        return [video, types.Part(text=text)]

    def _config(self, request: JudgeRequest) -> Any:
        from google.genai import types

        given = {k: v for k, v in self._parameters.items() if k in ("temperature", "seed", "top_p", "service_tier")}
        thinking = {k: self._parameters[k] for k in ("thinking_level", "thinking_budget") if k in self._parameters}
        return types.GenerateContentConfig(
            system_instruction=request.protocol,
            max_output_tokens=request.max_output_tokens,
            response_mime_type="application/json",
            response_json_schema=None if request.plain else wire_schema(),
            thinking_config=types.ThinkingConfig(**thinking) if thinking else None,
            should_return_http_response=True,
            **given,
        )

    def _with_frames_checked(self, request: JudgeRequest, raw: RawReply) -> RawReply:
        """Refuse a reply whose bill shows that the rate was ignored: it is a judgment of another video plan.

        Only where the panel states `tokens_per_frame`, since services change what a frame costs.
        """
        billed, each = raw.usage.get("prompt_video"), self._parameters.get("tokens_per_frame")
        if not raw.usable or billed is None or not each:
            return raw
        assert self._judge.sampling is not None
        wanted = frame_rate(self._judge.sampling, request.media.duration_s) * request.media.duration_s * float(each)
        if billed >= wanted / 2:
            return raw
        fault = f"billed {billed} tokens of video, {wanted:.0f} expected: the frame rate was not applied"
        return dataclasses.replace(raw, outcome="fatal", fault=fault, stops_judge=True)


class _NotReadyError(Exception):
    """The uploaded file did not become usable."""


def _error_body(error: Any) -> bytes:
    details = error.details
    return details.encode() if isinstance(details, str) else json.dumps(details, ensure_ascii=False).encode()


def _headers(response: Any) -> dict[str, str]:
    return dict(getattr(response, "headers", None) or {})
