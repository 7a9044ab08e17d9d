"""The memory tool for other agent frameworks, each in a module that imports its framework.

The frameworks are extras of the package: nothing else of memtui imports these modules.
"""

import base64
import tomllib
from importlib import resources
from typing import Any, NamedTuple, cast

from anthropic.lib.tools import BetaFunctionToolResultType


class ToolDefinition(NamedTuple):
    """What a model without the native memory tool is told: the description and the JSON schema of the input."""

    description: str
    schema: dict[str, Any]


def load_definition() -> ToolDefinition:
    """The definition that `memtui mcp` gives its clients."""
    text = resources.files("memtui.agents.mcp").joinpath("tools.toml").read_text(encoding="utf-8")
    tool = next(entry for entry in tomllib.loads(text)["tools"] if entry["name"] == "memory")
    schema = {"type": "object", "properties": tool["properties"], "required": tool["required"]}
    return ToolDefinition(tool["description"], schema)


class ToolResult(NamedTuple):
    """A result of the memory tool: its text, and an image where one was viewed."""

    text: str
    image: bytes | None = None
    media_type: str = ""


def split_result(result: BetaFunctionToolResultType) -> ToolResult:
    """The parts of a result that is in the SDK's form."""
    if isinstance(result, str):
        return ToolResult(result)
    text, image = cast("list[dict[str, Any]]", list(result))
    source = image["source"]
    return ToolResult(text["text"], base64.b64decode(source["data"]), source["media_type"])
