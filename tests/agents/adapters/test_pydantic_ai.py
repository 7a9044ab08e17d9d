"""The memory in an agent of Pydantic AI, against the real package and a scripted model."""

import importlib
from pathlib import Path
from typing import Any

import pytest

import memtui
from tests.agents.adapters import scenario
from tests.agents.model_server import ModelServer

pydantic_ai = pytest.importorskip("pydantic_ai", reason="needs Pydantic AI: pip install 'memtui[pydantic-ai]'")
function = importlib.import_module("pydantic_ai.models.function")
messages = importlib.import_module("pydantic_ai.messages")
adapter = importlib.import_module("memtui.agents.adapters.pydantic_ai")
pytestmark = pytest.mark.filterwarnings("default")  # the package's own are not ours to fix


async def test_the_native_tool_writes_is_refused_and_shows_pictures(model_server: ModelServer, tmp_path: Path) -> None:
    folder = scenario.make_folder(tmp_path / "memories")
    scenario.script(model_server)
    capability = adapter.MemoryCapability(folder, actor=scenario.ACTOR)
    agent = pydantic_ai.Agent(f"anthropic:{scenario.MODEL}", capabilities=[capability])
    assert (await agent.run("Remember that tea is green.")).output == "It is remembered."
    scenario.check(model_server, folder)


async def test_a_person_who_declines_is_heard_and_another_model_has_a_function_tool() -> None:
    returned: list[Any] = []

    def think(conversation: list[Any], info: Any) -> Any:
        (tool,) = info.function_tools
        assert set(tool.parameters_json_schema["properties"]) >= {"command", "path", "insert_text"}
        returned.extend(part for part in conversation[-1].parts if isinstance(part, messages.ToolReturnPart))
        if returned:
            return messages.ModelResponse([messages.TextPart("Well.")])
        create = {"command": "create", "path": "/memories/tea.md", "file_text": "green\n"}
        return messages.ModelResponse([messages.ToolCallPart("memory", create, tool_call_id="call-1")])

    with memtui.open_in_memory() as memory:
        capability = adapter.MemoryCapability(memory, approve=lambda _: False)
        await pydantic_ai.Agent(function.FunctionModel(think), capabilities=[capability]).run(
            "Remember that tea is green."
        )
        (event,) = memory.events()
    assert (event.is_error, event.call_id) == (True, "call-1")
    (part,) = returned
    assert part.outcome == "failed"
    assert "declined" in str(part.content)
