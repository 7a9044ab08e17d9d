"""Which calls of another agent's are calls of memtui's own tools, and so need no second question."""

import pytest

from memtui.agents.acp.permissions import is_own_tool
from memtui.agents.mcp import tools

NAMES = (tools.MEMORY, tools.SEARCH, tools.ACTIVITY, tools.HISTORY, tools.READ, tools.CONTEXT, tools.LINKS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("title", ["mcp__memtui__{}", "mcp.memtui.{}", "Tool: memtui/{}", "memtui_{}", "memtui: {}"])
def test_each_tool_is_known_by_the_titles_that_agents_give_it(name: str, title: str) -> None:
    assert is_own_tool(title.format(name), "other", "1")


@pytest.mark.parametrize("name", NAMES)
def test_each_tool_is_known_by_its_id_where_titles_are_made_of_arguments(name: str) -> None:
    assert is_own_tool("{'path': '/memories'}", "other", f"mcp_memtui_{name}__mcp_memtui_{name}_1700000000000_1")
    assert not is_own_tool("x", "other", f"mcp_memtui_{name}__mcp_memtui_other_1700000000000_1")


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
    assert not is_own_tool(title, kind, "1")
