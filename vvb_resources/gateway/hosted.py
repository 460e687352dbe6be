"""Tools that a model's service runs itself: a way to the network, and to models that make pictures, past every wall.

A service's web search reaches what the sandbox does not, and its image generation is forbidden by the benchmark. A
request that offers one is refused unless the system's file lists it under `hosted_tools`. Tools that the harness runs,
in the sandbox, are not looked at.
"""

from __future__ import annotations

import re
from typing import Any

from vvb_resources.benchmark.models import Wire

_ANTHROPIC = re.compile(r"(web_search|web_fetch|code_execution|tool_search|mcp_toolset|advisor)(?:_.*)?")
_OPENAI = {
    "web_search": "web_search",
    "web_search_preview": "web_search",
    "image_generation": "image_generation",
    "code_interpreter": "code_interpreter",
    "file_search": "file_search",
    "mcp": "mcp",
}
_GEMINI = {
    "googlesearch": "web_search",
    "googlesearchretrieval": "web_search",
    "enterprisewebsearch": "web_search",
    "googlemaps": "web_search",
    "urlcontext": "web_fetch",
    "codeexecution": "code_execution",
    "filesearch": "file_search",
}
HARMLESS = {"tool_search"}
"""Runs at the service, and reaches nothing but the request's own tools."""


def hosted_tools(wire: Wire, body: Any) -> set[str]:
    """Names of the hosted tools that a request offers, as `hosted_tools` of a system spells them."""
    if not isinstance(body, dict):
        return set()
    tools = _objects(body.get("tools"))
    if wire == "anthropic":
        found = {match[1] for tool in tools if (match := _ANTHROPIC.fullmatch(str(tool.get("type"))))}
        return (found | ({"mcp"} if body.get("mcp_servers") else set())) - HARMLESS
    if wire == "gemini":
        keys = {key.replace("_", "").lower() for tool in tools for key in tool}
        return {name for key, name in _GEMINI.items() if key in keys}
    if wire == "openai_chat":
        return {"web_search"} if body.get("web_search_options") is not None else set()
    for item in _objects(body.get("input")):  # newer clients put tools into the conversation
        tools += _objects(item.get("tools"))
    tools += [inner for tool in tools for inner in _objects(tool.get("tools"))]
    kinds = {re.sub(r"_\d{4}_\d{2}_\d{2}$", "", str(tool.get("type"))) for tool in tools}
    return {name for kind, name in _OPENAI.items() if kind in kinds}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
