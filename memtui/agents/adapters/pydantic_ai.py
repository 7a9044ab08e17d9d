"""A memory for an agent of Pydantic AI: `Agent(..., capabilities=[MemoryCapability("~/app/memories")])`."""

import os
from collections.abc import Sequence
from typing import Any

from anthropic.lib.tools import ToolError
from pydantic_ai import BinaryContent, MemoryTool, RunContext, Tool, ToolFailed
from pydantic_ai.capabilities import Capability

from memtui.agents.adapters import load_definition, split_result
from memtui.agents.claude import AsyncApprove, AsyncMemoryTool
from memtui.core.events import Agent
from memtui.engine import Engine


class MemoryCapability(Capability[Any]):
    """The tool `memory`: Anthropic's native one where the model has it, else a function tool of the same fields.

    A refusal is a failed tool result in the engine's words; it does not count as a retry. Calls of one response run
    in order. The arguments are those of `memtui.AsyncMemoryTool`.
    """

    def __init__(
        self,
        memory: Engine | str | os.PathLike[str],
        *,
        actor: Agent | None = None,
        approve: AsyncApprove | None = None,
    ) -> None:
        tool = AsyncMemoryTool(memory, actor=actor, approve=approve)

        async def execute(context: RunContext[Any], **given: Any) -> str | list[str | BinaryContent]:
            try:
                result = split_result(await tool.call(given, call_id=context.tool_call_id))
            except ToolError as error:
                raise ToolFailed(str(error)) from None
            if result.image is None:
                return result.text
            return [result.text, BinaryContent(result.image, media_type=result.media_type)]

        description, schema = load_definition()
        super().__init__(
            tools=[Tool.from_schema(execute, "memory", description, schema, takes_ctx=True, sequential=True)]
        )

    def get_native_tools(self) -> Sequence[MemoryTool]:
        """Anthropic's tool, which stands for the function tool where the model knows it."""
        return [MemoryTool(optional=True)]
