"""A memory for an agent or a solver of Inspect: `react(tools=[memory("~/app/memories")])`."""

import base64
import os
from typing import Any

from anthropic.lib.tools import ToolError as SdkToolError
from inspect_ai.tool import ContentImage, ContentText, Tool, ToolDef, ToolError, ToolParams

from memtui.agents.adapters import load_definition, split_result
from memtui.agents.claude import AsyncApprove, AsyncMemoryTool
from memtui.core.events import Agent
from memtui.engine import Engine


def memory(
    memory: Engine | str | os.PathLike[str], *, actor: Agent | None = None, approve: AsyncApprove | None = None
) -> Tool:
    """The tool `memory`: Inspect gives a Claude its native one, every other model the same fields.

    A refusal is a tool error in the engine's words. Inspect tells a tool no call id. The arguments are those of
    `memtui.AsyncMemoryTool`.
    """
    tool = AsyncMemoryTool(memory, actor=actor, approve=approve)

    async def execute(**kwargs: Any) -> str | list[ContentText | ContentImage]:
        try:
            result = split_result(await tool.call(kwargs))
        except SdkToolError as error:
            raise ToolError(str(error)) from None
        if result.image is None:
            return result.text
        url = f"data:{result.media_type};base64,{base64.b64encode(result.image).decode('ascii')}"
        return [ContentText(text=result.text), ContentImage(image=url)]

    description, schema = load_definition()
    return ToolDef(execute, "memory", description, ToolParams(**schema), max_output=0).as_tool()
