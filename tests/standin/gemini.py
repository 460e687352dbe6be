"""Gemini's wire format: resumable upload, file states and expiry, generateContent."""

from __future__ import annotations

import re
import time
import uuid
from typing import TYPE_CHECKING, Any

from tests.standin.answers import text_tokens
from tests.standin.shapes import Fault, Reply, Request, cut_text, only, require, strict_schema

if TYPE_CHECKING:
    from tests.standin.server import StandIn

VERSIONS = r"v1(?:beta)?"
FRAME_TOKENS, SOUND_TOKENS = 70, 32
_STATUS = {429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED"}
_CONFIG = {
    "responseMimeType",
    "responseJsonSchema",
    "maxOutputTokens",
    "temperature",
    "seed",
    "topP",
    "thinkingConfig",
    "mediaResolution",
}


def error(status: int, message: str) -> dict[str, Any]:
    """An error as the service writes it."""
    return {"error": {"code": status, "message": message, "status": _STATUS.get(status, "INTERNAL"), "details": []}}


def route(request: Request) -> str:
    """Which of the service's calls this is."""
    path = request.path
    if path.startswith("/__up/"):
        return "gemini.chunk"
    if path.startswith("/upload/"):
        return "gemini.upload"
    if path.endswith(":generateContent"):
        return "gemini.generate"
    return {"GET": "gemini.file", "DELETE": "gemini.delete"}.get(request.method, "gemini.other")


def respond(server: StandIn, request: Request, fault: Fault) -> Reply:
    """Answer a call. Raises Refused."""
    require(request.headers.get("x-goog-api-key") or request.path.startswith("/__up/"), "API key not valid", 401)
    match route(request):
        case "gemini.upload":
            return _start(server, request)
        case "gemini.chunk":
            return _chunk(server, request, fault)
        case "gemini.file" | "gemini.delete":
            return _file(server, request)
        case "gemini.generate":
            return _generate(server, request, fault)
    raise AssertionError(f"the stand-in has no {request.method} {request.path}")


def _start(server: StandIn, request: Request) -> Reply:
    headers = request.headers
    require(headers.get("x-goog-upload-protocol") == "resumable", "not a resumable upload")
    require(headers.get("x-goog-upload-command") == "start", "not a start")
    require(headers.get("x-goog-upload-header-content-type") == "video/mp4", "unsupported MIME type")
    upload = uuid.uuid4().hex
    size = int(headers["x-goog-upload-header-content-length"])
    with server.lock:
        server.uploads[upload] = {"size": size, "data": b"", "file": request.json.get("file", {})}
    return Reply({}, 200, {"x-goog-upload-url": f"{server.url}/gemini/__up/{upload}", "x-goog-upload-status": "active"})


def _chunk(server: StandIn, request: Request, fault: Fault) -> Reply:
    upload = server.uploads[request.path.rsplit("/", 1)[1]]
    require(int(request.headers["x-goog-upload-offset"]) == len(upload["data"]), "bad offset")
    upload["data"] += request.raw
    if "finalize" not in request.headers["x-goog-upload-command"]:
        return Reply({}, 200, {"x-goog-upload-status": "active"})
    require(len(upload["data"]) == upload["size"], "size differs from what was announced")
    name = upload["file"].get("name") or f"files/{uuid.uuid4().hex[:12]}"
    require(re.fullmatch(r"files/[a-z0-9][a-z0-9-]{0,39}", name), f"invalid file name {name}")
    require(name not in server.files, f"{name} already exists", 409)
    file = {
        "name": name,
        "displayName": upload["file"].get("displayName"),
        "mimeType": "video/mp4",
        "sizeBytes": str(upload["size"]),
        "uri": f"{server.url}/gemini/v1beta/{name}",
        "state": "PROCESSING",
        "_stuck": fault.kind == "stuck",
        "_polls": 0,
        "_expires": time.monotonic() + 48 * 3600,
    }
    with server.lock:
        server.files[name] = file
    return Reply({"file": _public(file)}, 200, {"x-goog-upload-status": "final"})


def _file(server: StandIn, request: Request) -> Reply:
    found = re.fullmatch(rf"/{VERSIONS}/(files/[\w-]+)", request.path)
    require(found and found[1] in server.files, "file not found", 404)
    assert found is not None
    with server.lock:
        if request.method == "DELETE":
            del server.files[found[1]]
            return Reply({})
        file = server.files[found[1]]
        file["_polls"] += 1
        if not file["_stuck"] and file["_polls"] > server.polls:
            file["state"] = "ACTIVE"
        return Reply(_public(file))


def _generate(server: StandIn, request: Request, fault: Fault) -> Reply:
    body = request.json
    require(re.match(rf"/{VERSIONS}/models/[\w.-]+:generateContent", request.path), "unknown model", 404)
    only(body, {"contents", "systemInstruction", "generationConfig", "serviceTier"}, "request")
    config = body.get("generationConfig", {})
    only(config, _CONFIG, "generation_config")
    require(isinstance(config.get("maxOutputTokens"), int), "maxOutputTokens is not set: the stand-in insists")
    if "responseJsonSchema" in config:
        require(config.get("responseMimeType") == "application/json", "a schema needs responseMimeType")
        strict_schema(config["responseJsonSchema"])
    parts = [part for content in body["contents"] for part in content["parts"]]
    video = sum(_video_tokens(server, part) for part in parts if "fileData" in part)
    sound = sum(round(SOUND_TOKENS * server.video_s) for part in parts if "fileData" in part)
    prompt = "".join(part.get("text", "") for part in parts)
    system = "".join(part.get("text", "") for part in (body.get("systemInstruction") or {}).get("parts", []))
    text, cut = cut_text(server.reply(prompt), fault)
    tokens = text_tokens(prompt + system) + video + sound
    counts = {
        "promptTokenCount": tokens,
        "candidatesTokenCount": text_tokens(text),
        "thoughtsTokenCount": 64,
        "totalTokenCount": tokens + text_tokens(text) + 64,
        "promptTokensDetails": [
            {"modality": "VIDEO", "tokenCount": video},
            {"modality": "AUDIO", "tokenCount": sound},
        ],
    }
    candidate = {
        "content": {"role": "model", "parts": [{"text": text}]},
        "finishReason": "MAX_TOKENS" if cut else "STOP",
    }
    answer = {
        "candidates": [candidate],
        "modelVersion": "stand-in",
        "responseId": uuid.uuid4().hex,
        "usageMetadata": counts,
    }
    usage = {"input": tokens, "output": text_tokens(text) + 64}
    return Reply(answer, paid=True, usage=usage, text=prompt)


def _video_tokens(server: StandIn, part: dict[str, Any]) -> int:
    """Tokens of a video part; refuses a file that is gone, expired or not ready, and a rate out of range."""
    only(part, {"fileData", "videoMetadata", "mediaResolution"}, "part")
    data = part["fileData"]
    uri = data.get("fileUri") or data.get("file_uri")
    file = server.files.get("files/" + str(uri).rsplit("/", 1)[1])
    require(
        file is not None and time.monotonic() < file["_expires"],
        f"You do not have permission to access the File {uri} or it may not exist.",
        403,
    )
    assert file is not None
    require(file["state"] == "ACTIVE", f"The File {uri} is not in an ACTIVE state and usage is not allowed.")
    fps = (part.get("videoMetadata") or {}).get("fps", 1)
    require(0 < fps <= 24, "fps must be in (0, 24]")
    return round(fps * server.video_s) * FRAME_TOKENS


def _public(file: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in file.items() if not key.startswith("_") and value is not None}
