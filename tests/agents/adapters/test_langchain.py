"""The memory in an agent of LangChain, against the real packages and a scripted model."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from tests.agents.adapters import scenario
from tests.agents.model_server import ModelServer

_REASON = "needs LangChain: pip install 'memtui[langchain]'"
agents = pytest.importorskip("langchain.agents", reason=_REASON)
langchain_anthropic = pytest.importorskip("langchain_anthropic", reason=_REASON)
function_calling = importlib.import_module("langchain_core.utils.function_calling")
adapter = importlib.import_module("memtui.agents.adapters.langchain")
pytestmark = pytest.mark.filterwarnings("default")  # the packages' own are not ours to fix

_ASKED = {"messages": [{"role": "user", "content": "Remember that tea is green."}]}


def _create_agent(folder: Path, **options: Any) -> Any:
    model = langchain_anthropic.ChatAnthropic(model=scenario.MODEL)
    middleware = adapter.MemoryMiddleware(folder, actor=scenario.ACTOR, **options)
    return agents.create_agent(model, middleware=[middleware])


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_native_tool_writes_is_refused_and_shows_pictures(
    model_server: ModelServer, tmp_path: Path, is_async: bool
) -> None:
    folder = scenario.make_folder(tmp_path / "memories")
    scenario.script(model_server)
    agent = _create_agent(folder)
    done = await agent.ainvoke(_ASKED) if is_async else agent.invoke(_ASKED)
    assert done["messages"][-1].text == "It is remembered."
    scenario.check(model_server, folder)


def test_the_tool_of_another_model_has_the_fields_of_the_api(tmp_path: Path) -> None:
    folder = scenario.make_folder(tmp_path / "memories")
    (tool,) = adapter.MemoryMiddleware(folder).tools
    told = function_calling.convert_to_openai_tool(tool)["function"]
    assert told["name"] == "memory"
    assert set(told["parameters"]["properties"]) >= {"command", "path", "insert_text"}
