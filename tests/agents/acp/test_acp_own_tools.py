"""Which calls of another agent's are calls of memtui's own tools, and so need no second question."""

from typing import Any

import pytest
from acp import schema

from memtui.agents.acp.permissions import is_own_tool
from memtui.agents.mcp import tools


def call(title: str, kind: Any, id: str = "1", **more: Any) -> schema.ToolCallUpdate:
    return schema.ToolCallUpdate(title=title, kind=kind, tool_call_id=id, **more)


NAMES = (tools.MEMORY, tools.SEARCH, tools.ACTIVITY, tools.HISTORY, tools.READ, tools.CONTEXT, tools.LINKS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("title", ["mcp__memtui__{}", "mcp.memtui.{}", "Tool: memtui/{}", "memtui_{}", "memtui: {}"])
def test_each_tool_is_known_by_the_titles_that_agents_give_it(name: str, title: str) -> None:
    assert is_own_tool(call(title.format(name), "other"))


@pytest.mark.parametrize("name", NAMES)
def test_each_tool_is_known_by_its_id_where_titles_are_made_of_arguments(name: str) -> None:
    id = f"mcp_memtui_{name}__mcp_memtui_{{}}_1700000000000_1"
    assert is_own_tool(call("{'path': '/memories'}", "other", id.format(name)))
    assert not is_own_tool(call("x", "other", id.format("other")))


def test_one_is_known_by_its_server_where_the_agent_calls_it_a_call_of_mcp() -> None:
    told = {"field_meta": {"is_mcp_tool_call": True}}
    assert is_own_tool(call("mcp.memtui.memory", "execute", raw_input={"server": "memtui", "tool": "memory"}, **told))
    assert not is_own_tool(call("mcp.memtui.memory", "execute", raw_input={"server": "other"}, **told))
    assert not is_own_tool(call("mcp.memtui.memory", "execute", raw_input={"server": "memtui"}))


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("memtui_memory; rm -rf ~", "other"),
        ("memtui_memory", "execute"),
        ("mcp__other__memory", "other"),
        ("memtui__memory_guide_and_more", "other"),
        ("memory", "other"),
    ],
)
def test_what_only_looks_like_one_is_asked_about(title: str, kind: str) -> None:
    assert not is_own_tool(call(title, kind))
