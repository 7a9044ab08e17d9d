"""A memory for an agent of LangChain: `create_agent(..., middleware=[MemoryMiddleware("~/app/memories")])`."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

from anthropic.lib.tools import ToolError
from langchain.agents.middleware import AgentMiddleware
from langchain.messages import ToolMessage
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.tools import StructuredTool

from memtui.agents.adapters import load_definition
from memtui.agents.claude import Approve, MemoryTool
from memtui.core.events import Agent
from memtui.engine import Engine


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """The tool `memory`: Anthropic's native one for `ChatAnthropic`, else a tool of the same fields.

    The model's input reaches the engine as it came. A refusal is a tool message with the status `error`. The arguments
    are those of `memtui.MemoryTool`.
    """

    def __init__(
        self,
        memory: Engine | str | os.PathLike[str],
        *,
        actor: Agent | None = None,
        approve: Approve | None = None,
    ) -> None:
        super().__init__()
        self._memory = MemoryTool(memory, actor=actor, approve=approve)
        description, schema = load_definition()
        native = {"provider_tool_definition": self._memory.to_dict()}
        tool = StructuredTool(name="memory", description=description, args_schema=schema, extras=native)
        self.tools = [tool]

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Execute a call of `memory`; every other one is the handler's."""
        call = request.tool_call
        if call["name"] != "memory":
            return handler(request)
        content: Any
        try:
            content, status = self._memory.call(call["args"], call_id=call["id"]), "success"
        except ToolError as error:
            content, status = error.content, "error"
        return ToolMessage(content, tool_call_id=call["id"], name="memory", status=status)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """The same for `ainvoke`, in a thread: the event loop is not held up."""
        if request.tool_call["name"] != "memory":
            return await handler(request)
        return await asyncio.to_thread(self.wrap_tool_call, request, handler)
