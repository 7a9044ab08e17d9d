"""The server without pipes or sockets: its state while clients are there, and none after."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

import memtui
from memtui.agents.mcp import ServerOptions
from memtui.agents.mcp.calls import McpCallExecutor
from memtui.agents.mcp.resources import SubscriptionHub
from memtui.agents.mcp.server import MemoryServer
from memtui.cli import parsing
from memtui.cli.verbs import VERBS
from memtui.core.approvals import ApprovalPolicy, Unanswered
from memtui.engine import Engine

DOCS = Path(__file__).parents[3] / "memtui" / "docs"


class Parts:
    """A server over a memory in memory."""

    def __init__(self, memory: Engine) -> None:
        self.memory = memory
        self.calls = McpCallExecutor(memory, ApprovalPolicy.ALLOW, lambda *_: Unanswered(), 1)
        self.hub = SubscriptionHub()
        serving = ServerOptions(folder="/nowhere", state=None)
        self.server = MemoryServer(self.calls, self.hub, serving, one_client=False).build()


@pytest.fixture
def parts() -> Iterator[Parts]:
    with memtui.open_in_memory() as memory:
        parts = Parts(memory)
        yield parts
        parts.calls.close()


async def test_what_a_client_subscribed_to_goes_with_it(parts: Parts) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        async with Client(parts.server, mode="legacy") as client:
            await client.subscribe_resource("memory:///a.md")
            await client.subscribe_resource("memory:///b.md")
            assert len(parts.hub.mailboxes) == 1
    assert parts.hub.mailboxes == set()


async def test_who_stops_listening_is_forgotten(parts: Parts) -> None:
    async with Client(parts.server, mode="2026-07-28") as client:
        async with client.listen(resource_subscriptions=["memory:///a.md"]):
            assert len(parts.hub.mailboxes) == 1
        await client.list_tools()
        await client.list_tools()
    assert parts.hub.mailboxes == set()


async def test_who_listens_to_what_is_no_memory_is_told_so(parts: Parts) -> None:
    async with Client(parts.server, mode="2026-07-28") as client:
        for uris in (["file:///etc/passwd"], [f"memory:///{number}" for number in range(1_001)]):
            with pytest.raises(MCPError, match=r"percent-encoded|At most 1,000"):
                async with client.listen(resource_subscriptions=uris):
                    pass
    assert parts.hub.mailboxes == set()


async def test_a_memory_that_is_closed_and_a_bug_are_sentences(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Client(parts.server, mode="legacy") as client:
        with monkeypatch.context() as patched:
            patched.setattr(parts.memory, "execute", lambda *_, **__: 1 // 0)
            with pytest.raises(MCPError, match=r"because of a bug in memtui: ZeroDivisionError\.$"):
                await client.call_tool("memory", {"command": "view", "path": "/memories"})
        parts.memory.close()
        for tool, arguments in (("memory", {"command": "view", "path": "/memories"}), ("recent_activity", {})):
            with pytest.raises(MCPError, match="about to end"):
                await client.call_tool(tool, arguments)


def test_every_command_line_of_the_page_on_agents_can_be_parsed() -> None:
    text = (DOCS / "agents.md").read_text(encoding="utf-8")
    given = re.findall(r'"args": \[("mcp"[^\]]*)\]', text)
    lines = [re.findall(r'"([^"]*)"', words) for words in given]
    lines += [line.split() for line in re.findall(r"memtui (mcp [^#\n`;]*?)\s*(?:#.*)?[`\n]", text)]
    assert len(lines) >= 4
    for words in lines:
        assert parsing.parse_command_line(words, VERBS, "1").verb is VERBS["mcp"]
